//! A straight line by least squares, with errors that need no equal spread.

use serde::Serialize;

use super::bias::cluster_totals;
use super::check_pairs;
use crate::interval::around;
use crate::{Interval, Undefined, student_t_sf};

/// Residuals this small beside the values are rounding.
pub(super) const ROUNDING: f64 = 1e-12;

/// A straight line through points.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// Where the line is at 0.
    pub intercept: f64,
    /// How much it rises for each unit.
    pub slope: f64,
    /// Standard error of the slope: HC3, or by clusters.
    pub standard_error: f64,
    /// t interval of the slope.
    pub interval: Interval,
    /// Two-sided p-value that the slope is 0.
    pub p_value: f64,
}

/// The straight line of `outcome` on `cause` by least squares, with a standard error of the slope that allows for a spread that
/// changes along the line.
///
/// For independent points the error is HC3 (MacKinnon and White 1985) with n − 2 degrees of freedom, otherwise the cluster-robust
/// one (Liang and Zeger 1986) with the usual small-sample factor and one degree of freedom less than there are clusters. It needs
/// three points or clusters. Undefined when the cause does not vary, when a single point alone decides the slope, and when all
/// points lie on the line.
pub fn robust_line(
    cause: &[f64],
    outcome: &[f64],
    clusters: Option<&[u32]>,
    confidence: f64,
) -> Result<Line, Undefined> {
    Undefined::unless_share("confidence", confidence)?;
    check_pairs(cause, outcome, 3)?;
    let (x_scale, y_scale) = (largest(cause), largest(outcome));
    let names = ["causes", "causes but one"];
    line(Points { x: cause, y: outcome, x_scale, y_scale, names }, clusters, confidence)
}

/// Points, and how large the numbers are that they were computed from.
pub(super) struct Points<'a> {
    pub(super) x: &'a [f64],
    pub(super) y: &'a [f64],
    pub(super) x_scale: f64,
    pub(super) y_scale: f64,
    /// What errors call all of `x`, and all but one.
    pub(super) names: [&'static str; 2],
}

/// The line through points that are finite and at least three.
pub(super) fn line(
    points: Points<'_>,
    clusters: Option<&[u32]>,
    confidence: f64,
) -> Result<Line, Undefined> {
    let Points { x, y, x_scale, y_scale, names: [what, but_one] } = points;
    let n = x.len() as f64;
    let mean = |values: &[f64]| values.iter().map(|value| value / n).sum::<f64>();
    let (x_mean, y_mean) = (mean(x), mean(y));
    let deviations: Vec<f64> = x.iter().map(|value| value - x_mean).collect();
    let spread: f64 = deviations.iter().map(|value| value * value).sum();
    if !spread.is_finite() || spread.sqrt() <= ROUNDING * x_scale * n.sqrt() {
        return Err(Undefined::NoVariation { what });
    }
    let products = deviations.iter().zip(y);
    let slope = products.map(|(x, y)| x * (y - y_mean)).sum::<f64>() / spread;
    let intercept = y_mean - slope * x_mean;
    let residuals: Vec<f64> =
        deviations.iter().zip(y).map(|(x, y)| y - y_mean - slope * x).collect();
    if largest(&residuals) <= ROUNDING * y_scale {
        return Err(Undefined::NoVariation { what: "distances from the line" });
    }
    let (squares, degrees) = match clusters {
        None => {
            let squares = leverage_corrected(&deviations, &residuals, spread);
            (squares.ok_or(Undefined::NoVariation { what: but_one })?, n - 2.0)
        }
        Some(clusters) => {
            Undefined::unless_paired("pairs and clusters", x.len(), clusters.len())?;
            let parts: Vec<f64> = deviations.iter().zip(&residuals).map(|(x, e)| x * e).collect();
            let totals = cluster_totals(&parts, clusters);
            Undefined::unless_enough("clusters", totals.len(), 3)?;
            let count = totals.len() as f64;
            let factor = count / (count - 1.0) * (n - 1.0) / (n - 2.0);
            (factor * totals.iter().map(|total| total * total).sum::<f64>(), count - 1.0)
        }
    };
    let standard_error = squares.sqrt() / spread;
    let interval = around(slope, standard_error, degrees, confidence)
        .map_err(|_| Undefined::NoVariation { what: "distances from the line" })?;
    let p_value = (2.0 * student_t_sf((slope / standard_error).abs(), degrees)).min(1.0);
    Ok(Line { intercept, slope, standard_error, interval, p_value })
}

pub(super) fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |largest, value| largest.max(value.abs()))
}

/// `Σ (x e / (1 − h))²`, with `h` the leverage of each point; none where a point alone decides the slope.
fn leverage_corrected(deviations: &[f64], residuals: &[f64], spread: f64) -> Option<f64> {
    let n = deviations.len() as f64;
    let mut squares = 0.0;
    for (x, residual) in deviations.iter().zip(residuals) {
        let free = 1.0 - 1.0 / n - x * x / spread;
        if free <= ROUNDING {
            return None;
        }
        squares += (x * residual / free).powi(2);
    }
    Some(squares)
}
