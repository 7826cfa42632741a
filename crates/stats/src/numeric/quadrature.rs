//! Integrals, adaptively.

/// Nodes and weights of the 15-point Kronrod rule on 0..1 of a symmetric panel, and of the 7-point Gauss rule inside it
/// (Piessens et al. 1983, QUADPACK).
const NODES: [f64; 8] = [
    0.991_455_371_120_812_6,
    0.949_107_912_342_758_5,
    0.864_864_423_359_769_1,
    0.741_531_185_599_394_4,
    0.586_087_235_467_691_1,
    0.405_845_151_377_397_2,
    0.207_784_955_007_898_47,
    0.0,
];
const KRONROD: [f64; 8] = [
    0.022_935_322_010_529_224,
    0.063_092_092_629_978_55,
    0.104_790_010_322_250_18,
    0.140_653_259_715_525_92,
    0.169_004_726_639_267_9,
    0.190_350_578_064_785_4,
    0.204_432_940_075_298_9,
    0.209_482_141_084_727_83,
];
const GAUSS: [f64; 4] = [
    0.129_484_966_168_869_7,
    0.279_705_391_489_276_64,
    0.381_830_050_505_118_9,
    0.417_959_183_673_469_4,
];

/// How often a panel may be halved.
const MAX_DEPTH: u32 = 40;
/// How many panels may be added to the pieces that are given.
const MAX_PANELS: usize = 400;

/// The integral of a smooth function over a finite range, by adaptive Gauss–Kronrod panels. The absolute error is held below
/// `tolerance`. Split the range beforehand where the function has a narrow peak, so that no panel misses it.
pub(crate) fn integrate(
    low: f64,
    high: f64,
    tolerance: f64,
    mut function: impl FnMut(f64) -> f64,
) -> f64 {
    let mut total = 0.0;
    let mut open = vec![(low, high, tolerance, 0)];
    while let Some((low, high, tolerance, depth)) = open.pop() {
        let (value, error) = panel(low, high, &mut function);
        if error <= tolerance || depth >= MAX_DEPTH {
            total += value;
            continue;
        }
        let middle = f64::midpoint(low, high);
        open.push((low, middle, tolerance / 2.0, depth + 1));
        open.push((middle, high, tolerance / 2.0, depth + 1));
    }
    total
}

/// The integral of a function over the pieces between ascending edges. The piece with the largest error is halved until the absolute
/// error is below `tolerance` or `MAX_PANELS` were added, so that rounding in the function cannot keep it busy. Put edges
/// where the function has narrow features.
pub(crate) fn integrate_pieces(
    edges: &[f64],
    tolerance: f64,
    mut function: impl FnMut(f64) -> f64,
) -> f64 {
    let ranges = edges.windows(2).filter(|edge| edge[0] < edge[1]);
    let mut panels: Vec<Panel> =
        ranges.map(|edge| Panel::over(edge[0], edge[1], &mut function)).collect();
    let most = panels.len() + MAX_PANELS;
    while panels.len() < most {
        let error: f64 = panels.iter().map(|panel| panel.error).sum();
        let worst = panels.iter_mut().max_by(|one, other| one.error.total_cmp(&other.error));
        let Some(worst) = worst.filter(|_| error > tolerance) else { break };
        let (low, high) = (worst.low, worst.high);
        let middle = f64::midpoint(low, high);
        *worst = Panel::over(low, middle, &mut function);
        panels.push(Panel::over(middle, high, &mut function));
    }
    panels.iter().map(|panel| panel.value).sum()
}

/// A range with its integral and QUADPACK's estimate of the error.
struct Panel {
    low: f64,
    high: f64,
    value: f64,
    error: f64,
}

impl Panel {
    fn over(low: f64, high: f64, function: &mut impl FnMut(f64) -> f64) -> Self {
        let points = panel_nodes(low, high).map(|(point, weight)| (function(point), weight));
        let value: f64 = points.iter().map(|(at, weight)| at * weight).sum();
        let mut gauss = 0.0;
        for (index, (at, _)) in points.iter().enumerate().filter(|(index, _)| index % 2 == 1) {
            gauss += GAUSS[index.min(14 - index) / 2] * at;
        }
        let mean = value / (high - low);
        let spread: f64 = points.iter().map(|(at, weight)| (at - mean).abs() * weight).sum();
        let apart = (value - gauss * (high - low) / 2.0).abs();
        let error =
            if spread > 0.0 { spread * (200.0 * apart / spread).powf(1.5).min(1.0) } else { apart };
        Self { low, high, value, error }
    }
}

/// The points of the 15-point Kronrod rule on a range, in ascending order, with their weights.
pub(crate) fn panel_nodes(low: f64, high: f64) -> [(f64, f64); 15] {
    let (center, half) = (f64::midpoint(low, high), (high - low) / 2.0);
    let mut nodes = [(center, KRONROD[7] * half); 15];
    for (index, (node, weight)) in NODES.iter().zip(KRONROD).enumerate() {
        nodes[index] = (center - half * node, weight * half);
        nodes[14 - index] = (center + half * node, weight * half);
    }
    nodes
}

/// The Kronrod value of one panel, and how far the Gauss value is from it.
fn panel(low: f64, high: f64, function: &mut impl FnMut(f64) -> f64) -> (f64, f64) {
    let (center, half) = (f64::midpoint(low, high), (high - low) / 2.0);
    let mut kronrod = 0.0;
    let mut gauss = 0.0;
    for (index, (node, weight)) in NODES.iter().zip(KRONROD).enumerate() {
        let value = if *node == 0.0 {
            function(center)
        } else {
            function(center - half * node) + function(center + half * node)
        };
        kronrod += weight * value;
        if index % 2 == 1 {
            gauss += GAUSS[index / 2] * value;
        }
    }
    (kronrod * half, (kronrod - gauss).abs() * half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_integrals() {
        let bell = integrate(-9.0, 9.0, 1e-14, |x| (-0.5 * x * x).exp());
        assert!((bell - (2.0 * std::f64::consts::PI).sqrt()).abs() < 1e-13, "{bell}");
        let pieces = integrate_pieces(&[-9.0, 0.3, 9.0], 1e-14, |x| (-0.5 * x * x).exp());
        assert!((pieces - bell).abs() < 1e-13, "{pieces}");
        let step = integrate_pieces(&[0.0, 1.0], 1e-12, |x| f64::from(u8::from(x > 0.3)));
        assert!((step - 0.7).abs() < 1e-9, "{step}");
        let root = integrate(0.0, 1.0, 1e-12, f64::sqrt);
        assert!((root - 2.0 / 3.0).abs() < 1e-11, "{root}");
    }
}
