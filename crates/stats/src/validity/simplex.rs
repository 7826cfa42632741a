//! Shares of members (at least 0, summing to 1) that make a quadratic form smallest.

use faer::linalg::solvers::{Llt, Solve};
use faer::{Col, Mat, Side};

use crate::Undefined;

/// Shares below this are none.
const NOTHING: f64 = 1e-15;
/// A gradient that promises less than this share of the largest diagonal promises nothing.
const SETTLED: f64 = 1e-13;
/// More steps than this for each member are not tried; a handful is usual.
const STEPS: usize = 100;

const WHAT: &str = "the weights of members";

/// The shares at which wᵀ·Q·w is smallest, for a symmetric positive definite Q: exact up to rounding, by the active set method of
/// Wolfe (1976), which ends at the point of a convex hull that is nearest to the origin.
pub(super) fn smallest_on_simplex(form: &Mat<f64>) -> Result<Vec<f64>, Undefined> {
    let members = form.nrows();
    let diagonal = |member: &usize| form[(*member, *member)];
    let start = (0..members).min_by(|a, b| diagonal(a).total_cmp(&diagonal(b))).unwrap_or(0);
    let largest = (0..members).map(|member| form[(member, member)]).fold(0.0, f64::max);
    let mut shares = vec![0.0; members];
    shares[start] = 1.0;
    let mut active = vec![start];
    for _ in 0..STEPS * members.max(1) {
        let gradient = |member: usize| -> f64 {
            active.iter().map(|&other| form[(member, other)] * shares[other]).sum()
        };
        let level: f64 = active.iter().map(|&member| shares[member] * gradient(member)).sum();
        let others = (0..members).filter(|member| !active.contains(member));
        let steepest = others.map(|member| (member, gradient(member)));
        let Some((entering, slope)) = steepest.min_by(|a, b| a.1.total_cmp(&b.1)) else {
            return Ok(shares);
        };
        if slope >= level - SETTLED * largest {
            return Ok(shares);
        }
        active.push(entering);
        settle(form, &mut active, &mut shares)?;
    }
    Err(Undefined::NotConverged { what: WHAT, iterations: STEPS * members })
}

/// Moves the shares to the smallest value among the active members, leaving out those that would get less than nothing.
fn settle(form: &Mat<f64>, active: &mut Vec<usize>, shares: &mut [f64]) -> Result<(), Undefined> {
    loop {
        let aim = smallest_on_plane(form, active)?;
        let reach = active.iter().zip(&aim).filter(|(_, aim)| **aim <= NOTHING);
        let reach = reach.map(|(&member, aim)| shares[member] / (shares[member] - aim));
        let Some(step) = reach.reduce(f64::min) else {
            active.iter().zip(&aim).for_each(|(&member, aim)| shares[member] = *aim);
            return Ok(());
        };
        let before = active.len();
        for (&member, aim) in active.iter().zip(&aim) {
            shares[member] += step.clamp(0.0, 1.0) * (aim - shares[member]);
        }
        for &member in active.iter() {
            if shares[member] <= NOTHING {
                shares[member] = 0.0;
            }
        }
        active.retain(|&member| shares[member] > 0.0);
        if active.is_empty() || active.len() == before {
            return Err(Undefined::NotConverged { what: WHAT, iterations: before });
        }
    }
}

/// The weights of the active members, summing to 1 but of any sign, at which the form is smallest: Q⁻¹·1, scaled.
fn smallest_on_plane(form: &Mat<f64>, active: &[usize]) -> Result<Vec<f64>, Undefined> {
    let part =
        Mat::from_fn(active.len(), active.len(), |row, column| form[(active[row], active[column])]);
    let factor = Llt::new(part.as_ref(), Side::Lower)
        .map_err(|_| Undefined::Confounded { what: "the errors of members" })?;
    let solved = factor.solve(Col::<f64>::ones(active.len()));
    let total: f64 = solved.iter().sum();
    let weights: Vec<f64> = solved.iter().map(|value| value / total).collect();
    Undefined::unless_finite("weight", &weights)?;
    Ok(weights)
}
