//! Pearson's coefficient.

use crate::Undefined;
use crate::validity::SIDES;

/// Deviations this small beside the values are rounding, not variation.
const NO_VARIATION: f64 = 1e-13;

/// The coefficient of pairs that are checked.
pub(super) fn value(first: &[f64], second: &[f64]) -> Result<f64, Undefined> {
    let (first, second) = (standardized(first, SIDES[0])?, standardized(second, SIDES[1])?);
    Ok(product(&first, &second))
}

/// The coefficient, and what each pair contributes to its error: `z_x z_y − r (z_x² + z_y²)/2`, whose mean is 0.
pub(super) fn influence(first: &[f64], second: &[f64]) -> Result<(f64, Vec<f64>), Undefined> {
    let (first, second) = (standardized(first, SIDES[0])?, standardized(second, SIDES[1])?);
    let value = product(&first, &second);
    let n = first.len() as f64;
    let part = |(x, y): (&f64, &f64)| n * (x * y - value * (x * x + y * y) / 2.0);
    Ok((value, first.iter().zip(&second).map(part).collect()))
}

fn product(first: &[f64], second: &[f64]) -> f64 {
    let product: f64 = first.iter().zip(second).map(|(x, y)| x * y).sum();
    product.clamp(-1.0, 1.0)
}

/// The values moved to mean 0 and scaled to squares that sum to 1; undefined without variation. They are divided by the
/// largest first, so that no sum overflows.
fn standardized(values: &[f64], what: &'static str) -> Result<Vec<f64>, Undefined> {
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let scale = if largest > 0.0 { largest } else { 1.0 };
    let n = values.len() as f64;
    let mean = values.iter().map(|value| value / scale).sum::<f64>() / n;
    let mut deviations: Vec<f64> = values.iter().map(|value| value / scale - mean).collect();
    let spread = deviations.iter().fold(0.0_f64, |spread, value| spread.max(value.abs()));
    if spread <= NO_VARIATION {
        return Err(Undefined::NoVariation { what });
    }
    let squares: f64 = deviations.iter().map(|value| (value / spread) * (value / spread)).sum();
    let norm = spread * squares.sqrt();
    deviations.iter_mut().for_each(|value| *value /= norm);
    Ok(deviations)
}
