//! Reductions in sixteen lanes, which the compiler keeps in vector registers: in one lane it would have to keep the
//! order of the additions.

const LANES: usize = 16;

/// The sum of a function of every value.
#[inline(always)]
pub(crate) fn sum(values: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0.0_f32; LANES];
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += of(*value);
        }
    }
    lanes.iter().sum::<f32>() + rest.iter().map(|value| of(*value)).sum::<f32>()
}

/// The largest value.
#[inline(always)]
pub(crate) fn largest(values: &[f32]) -> f32 {
    let larger = |left: f32, right: f32| if left > right { left } else { right };
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane = larger(*lane, *value);
        }
    }
    lanes.iter().chain(rest).copied().fold(f32::NEG_INFINITY, larger)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reductions_see_every_value() {
        for count in [0_u8, 1, 15, 16, 17, 40] {
            let values: Vec<f32> = (0..count).map(f32::from).collect();
            assert_eq!(sum(&values, |value| value), values.iter().sum::<f32>());
            assert_eq!(largest(&values), values.last().copied().unwrap_or(f32::NEG_INFINITY));
        }
    }
}
