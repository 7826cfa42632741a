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

/// The sum of the products of two rows.
#[inline(always)]
pub(crate) fn dot(left: &[f32], right: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; LANES];
    let ((left, left_rest), (right, right_rest)) =
        (left.as_chunks::<LANES>(), right.as_chunks::<LANES>());
    for (left, right) in left.iter().zip(right) {
        for ((lane, left), right) in lanes.iter_mut().zip(left).zip(right) {
            *lane += left * right;
        }
    }
    let rest: f32 = left_rest.iter().zip(right_rest).map(|(left, right)| left * right).sum();
    lanes.iter().sum::<f32>() + rest
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
            let squares: f32 = values.iter().map(|value| value * value).sum();
            assert_eq!(dot(&values, &values), squares);
            assert_eq!(largest(&values), values.last().copied().unwrap_or(f32::NEG_INFINITY));
        }
    }
}
