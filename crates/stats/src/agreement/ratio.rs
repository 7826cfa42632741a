//! Distances of the ratio level, and their sum over all pairs without going through each.

use crate::Undefined;

/// Up to this many distinct values every pair is visited.
const DIRECT: usize = 256;

/// Nodes in each box. In the logarithm of the values, δ² is tanh²((x − y)/2), whose nearest poles are π away. A box is at
/// most 1 wide, so that interpolation through `NODES` Chebyshev nodes is exact up to about 12.6^−14 < 10⁻¹⁵.
const NODES: usize = 14;

/// The squared distance ((c − k)/(c + k))² over a list of values that are not negative.
pub(super) struct RatioPairs {
    numbers: Vec<f64>,
    boxes: Option<Boxes>,
}

/// A division of the logarithms into boxes of equal width.
struct Boxes {
    /// The least positive value.
    least: f64,
    width: f64,
    count: usize,
}

impl RatioPairs {
    /// Takes ascending numbers; undefined if one is negative, since a ratio scale has nothing below its zero.
    pub(super) fn new(numbers: &[f64]) -> Result<Self, Undefined> {
        if let Some(&value) = numbers.first().filter(|number| **number < 0.0) {
            let what = "a value of a ratio scale";
            return Err(Undefined::OutOfRange { what, value, allowed: "zero or positive" });
        }
        let positive = numbers.iter().find(|number| **number > 0.0).copied();
        let boxes =
            positive.zip(numbers.last()).filter(|_| numbers.len() > DIRECT).map(|(least, most)| {
                let range = logarithm_of_ratio(*most, least);
                let count = range.ceil().max(1.0);
                Boxes { least, width: range / count, count: count as usize }
            });
        Ok(Self { numbers: numbers.to_vec(), boxes })
    }

    pub(super) fn squared_distance(&self, a: usize, b: usize) -> f64 {
        squared_distance(self.numbers[a], self.numbers[b])
    }

    /// Σ δ² over all ordered pairs of values, given as runs of (place, count).
    pub(super) fn pair_sum(&self, runs: impl Iterator<Item = (usize, f64)> + Clone) -> f64 {
        match &self.boxes {
            Some(boxes) if runs.clone().nth(DIRECT).is_some() => self.by_boxes(boxes, runs),
            _ => self.direct(runs),
        }
    }

    fn direct(&self, runs: impl Iterator<Item = (usize, f64)> + Clone) -> f64 {
        let mut sum = 0.0;
        let mut rest = runs;
        while let Some((place, count)) = rest.next() {
            let value = self.numbers[place];
            let others = rest.clone();
            let part = |(other, number): (usize, f64)| {
                number * squared_distance(value, self.numbers[other])
            };
            sum += count * others.map(part).sum::<f64>();
        }
        2.0 * sum
    }

    /// Spreads the counts over the Chebyshev nodes of their box, then visits the pairs of nodes: each value costs `NODES`
    /// steps instead of as many as there are values (anterpolation, as in fast multipole methods; Dutt and Rokhlin 1993).
    fn by_boxes(&self, boxes: &Boxes, runs: impl Iterator<Item = (usize, f64)>) -> f64 {
        let nodes: [f64; NODES] = std::array::from_fn(|node| {
            ((2 * node + 1) as f64 * std::f64::consts::PI / (2 * NODES) as f64).cos()
        });
        // Barycentric weights of Chebyshev nodes of the first kind (Berrut and Trefethen 2004).
        let weights: [f64; NODES] = std::array::from_fn(|node| {
            let sign = if node % 2 == 0 { 1.0 } else { -1.0 };
            sign * ((2 * node + 1) as f64 * std::f64::consts::PI / (2 * NODES) as f64).sin()
        });
        let mut masses = vec![[0.0; NODES]; boxes.count];
        let (mut zeros, mut positive) = (0.0, 0.0);
        for (place, count) in runs {
            let value = self.numbers[place];
            if value == 0.0 {
                zeros += count;
                continue;
            }
            positive += count;
            let offset = logarithm_of_ratio(value, boxes.least) / boxes.width;
            let index = (offset as usize).min(boxes.count - 1);
            let at = 2.0 * (offset - index as f64) - 1.0;
            let mass = &mut masses[index];
            if let Some(node) = nodes.iter().position(|node| *node == at) {
                mass[node] += count;
                continue;
            }
            let terms: [f64; NODES] =
                std::array::from_fn(|node| weights[node] / (at - nodes[node]));
            let scale = count / terms.iter().sum::<f64>();
            for (mass, term) in mass.iter_mut().zip(terms) {
                *mass += scale * term;
            }
        }
        let place = |index: usize, node: usize| index as f64 + (nodes[node] + 1.0) / 2.0;
        let mut sum = 0.0;
        for (index, first) in masses.iter().enumerate() {
            for (other, second) in masses.iter().enumerate().skip(index) {
                let both = if other == index { 1.0 } else { 2.0 };
                for (node, mass) in first.iter().enumerate() {
                    for (partner, other_mass) in second.iter().enumerate() {
                        let apart = (place(other, partner) - place(index, node)) * boxes.width;
                        sum += both * mass * other_mass * (apart / 2.0).tanh().powi(2);
                    }
                }
            }
        }
        // A zero and a positive value are 1 apart.
        sum + 2.0 * zeros * positive
    }
}

/// ln(value / least), without losing the digits in which values close to each other differ.
fn logarithm_of_ratio(value: f64, least: f64) -> f64 {
    let excess = (value - least) / least;
    if excess < 1.0 { excess.ln_1p() } else { value.ln() - least.ln() }
}

fn squared_distance(a: f64, b: f64) -> f64 {
    let sum = a + b;
    if sum == 0.0 { 0.0 } else { ((a - b) / sum).powi(2) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn check(numbers: &[f64]) {
        let pairs = RatioPairs::new(numbers).unwrap();
        let runs = (0..numbers.len()).map(|place| (place, 1.0 + (place % 7) as f64));
        let (boxed, direct) = (pairs.pair_sum(runs.clone()), pairs.direct(runs));
        assert!((boxed / direct - 1.0).abs() < 1e-12, "{boxed} {direct}");
    }

    #[test]
    fn boxes_give_the_sum_over_all_pairs() {
        check(&(1..=2_000).map(|value| f64::from(value) * 0.37).collect::<Vec<_>>());
        check(&(0..=2_000).map(|value| f64::from(value).powi(4)).collect::<Vec<_>>());
        // Values close to each other, where 1 − δ² would lose every digit.
        check(&(0..2_000).map(|value| 1e6 + f64::from(value) * 1e-3).collect::<Vec<_>>());
    }
}
