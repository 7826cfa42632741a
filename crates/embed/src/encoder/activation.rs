//! Functions of single values, written so that the compiler makes vector code of them.
//!
//! What is dispatched is a struct and not a closure: only `with_simd` can be told to be inlined into the function that
//! is compiled for the processor's vectors.

use pulp::{Arch, Simd, WithSimd};

use super::config::Activation;
use crate::lanes;

/// Bends every value.
pub(crate) fn activate(arch: Arch, activation: Activation, values: &mut [f32]) {
    arch.dispatch(Activate { activation, values });
}

struct Activate<'values> {
    activation: Activation,
    values: &'values mut [f32],
}

impl WithSimd for Activate<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        match self.activation {
            Activation::Gelu => each(self.values, gelu),
            Activation::GeluNew => each(self.values, gelu_by_tanh),
            Activation::Relu => each(self.values, |value| value.max(0.0)),
        }
    }
}

/// `row = exp(row - largest) / sum`, for each row of this many values.
pub(crate) fn softmax(arch: Arch, rows: &mut [f32], columns: usize) {
    arch.dispatch(Softmax { rows, columns });
}

struct Softmax<'rows> {
    rows: &'rows mut [f32],
    columns: usize,
}

impl WithSimd for Softmax<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        for row in self.rows.chunks_exact_mut(self.columns) {
            let largest = lanes::largest(row);
            each(row, |value| exp_of_nonpositive(value - largest));
            let scale = 1.0 / lanes::sum(row, |value| value);
            each(row, |value| value * scale);
        }
    }
}

#[inline(always)]
fn each(values: &mut [f32], of: impl Fn(f32) -> f32) {
    for value in values {
        *value = of(*value);
    }
}

#[inline(always)]
fn gelu(value: f32) -> f32 {
    0.5 * value * (1.0 + erf(value * std::f32::consts::FRAC_1_SQRT_2))
}

#[inline(always)]
fn gelu_by_tanh(value: f32) -> f32 {
    const SQRT_2_OVER_PI: f32 = 0.797_884_6;
    let inner = SQRT_2_OVER_PI * (value + 0.044_715 * value * value * value);
    // 1 + tanh(x) = 2 / (1 + exp(-2x)), by the side on which exp does not overflow.
    let small = exp_of_nonpositive(-2.0 * inner.abs());
    let share = 1.0 / (1.0 + small);
    value * if inner < 0.0 { small * share } else { share }
}

/// The error function by a rational function of x² (a minimax fit on [-4, 4], beyond which it is ±1 in 32 bits).
#[inline(always)]
fn erf(value: f32) -> f32 {
    let x = value.clamp(-4.0, 4.0);
    let square = x * x;
    let mut above = -2.726_142_3e-10_f32;
    for factor in [
        2.770_681_4e-8,
        -2.101_024e-6,
        -5.692_506_4e-5,
        -7.349_906_3e-4,
        -2.954_6e-3,
        -1.609_603_3e-2,
    ] {
        above = above * square + factor;
    }
    let mut below = -1.456_607_2e-5_f32;
    for factor in [-2.133_740_6e-4, -1.682_827e-3, -7.373_329e-3, -1.426_473_9e-2] {
        below = below * square + factor;
    }
    x * above / below
}

/// eˣ for x ≤ 0: 2ⁿ times a polynomial of the rest (the coefficients of Cephes' `expf`).
#[inline(always)]
fn exp_of_nonpositive(value: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0;
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let x = value.max(-87.0);
    // Adding 1.5 · 2²³ leaves the nearest whole number in the low bits.
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let whole = shifted - ROUND;
    let rest = x - whole * LN_2_HIGH - whole * LN_2_LOW;
    let mut series = 1.987_569_2e-4_f32;
    for factor in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
        series = series * rest + factor;
    }
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(0x3f80_0000));
    (series * rest * rest + rest + 1.0) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponential_is_right_to_seven_digits() {
        for step in 0..87_000_i32 {
            let x = -f64::from(step) / 1000.0;
            let exact = x.exp();
            let error = (f64::from(exp_of_nonpositive(x as f32)) - (x as f32 as f64).exp()).abs();
            assert!(error <= 3e-7 * exact + 1e-37, "{x}: {error}");
        }
        assert!(exp_of_nonpositive(-1e30) < 1e-37);
        assert!((exp_of_nonpositive(0.0) - 1.0).abs() < f32::EPSILON);
    }

    #[test]
    fn the_error_function_is_right_to_six_digits() {
        // Values of Abramowitz and Stegun, table 7.1.
        for (x, exact) in [
            (0.0, 0.0),
            (0.1, 0.112_462_916),
            (0.5, 0.520_499_878),
            (1.0, 0.842_700_793),
            (1.5, 0.966_105_146),
            (2.0, 0.995_322_265),
            (3.0, 0.999_977_910),
            (6.0, 1.0),
        ] {
            assert!((f64::from(erf(x as f32)) - exact).abs() < 5e-7, "{x}");
            assert!((f64::from(erf(-x as f32)) + exact).abs() < 5e-7, "{x}");
        }
    }

    #[test]
    fn both_forms_of_gelu_nearly_agree() {
        for step in -600..600_i16 {
            let x = f32::from(step) / 100.0;
            assert!((gelu(x) - gelu_by_tanh(x)).abs() < 5e-4, "{x}");
        }
    }

    #[test]
    fn a_softmax_sums_to_one() {
        let mut row = vec![-3.0, 100.0, 99.0, 0.0, -1e30];
        softmax(Arch::new(), &mut row, 5);
        assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        assert!((row[1] / row[2] - std::f32::consts::E).abs() < 1e-5);
    }
}
