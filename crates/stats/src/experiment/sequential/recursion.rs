//! The recursive integration of Armitage, McPherson and Rowe (1969): how a sum of normal increments is spread among the paths that have
//! stayed within symmetric bounds so far.

use crate::numeric::panel_nodes;
use crate::{normal_cdf, normal_pdf};

/// Beyond this many standard deviations there is nothing left.
const REACH: f64 = 8.5;
/// Width of a panel of 15 points in standard deviations of the finer increment; its error is below 1e-11.
const PANEL: f64 = 2.5;

/// The paths that have crossed no bound yet: points of the Brownian motion with their probability masses.
pub(super) struct Continuing {
    points: Vec<(f64, f64)>,
    fraction: f64,
}

impl Continuing {
    /// Before the first look: everything at 0.
    pub(super) fn start() -> Self {
        Self { points: vec![(0.0, 1.0)], fraction: 0.0 }
    }

    /// The probability of being beyond ±`critical` (in standard deviations) at this information fraction, for the first time.
    pub(super) fn crossing(&self, fraction: f64, critical: f64) -> f64 {
        let deviation = (fraction - self.fraction).sqrt();
        let bound = critical * fraction.sqrt();
        let beyond = |point: f64| {
            normal_cdf((point - bound) / deviation) + normal_cdf((-bound - point) / deviation)
        };
        self.points.iter().map(|&(point, mass)| mass * beyond(point)).sum()
    }

    /// The paths that stay within ±`critical` at this fraction. `next` is the fraction after it: the grid must suit both
    /// increments.
    pub(super) fn advanced(&self, fraction: f64, critical: f64, next: f64) -> Self {
        let deviation = (fraction - self.fraction).sqrt();
        let finest = deviation.min((next - fraction).sqrt());
        let bound = critical.min(REACH) * fraction.sqrt();
        let panels = (bound / (PANEL * finest)).ceil().max(1.0);
        let width = bound / panels;
        let mut upper = Vec::with_capacity(15 * panels as usize);
        // Points are in ascending order, so that those near enough form a window that only moves on.
        let (mut from, mut to) = (0, 0);
        let near = REACH * deviation;
        for panel in 0..panels as usize {
            let low = panel as f64 * width;
            for (point, weight) in panel_nodes(low, low + width) {
                while self.points.get(from).is_some_and(|(other, _)| *other < point - near) {
                    from += 1;
                }
                to = to.max(from);
                while self.points.get(to).is_some_and(|(other, _)| *other <= point + near) {
                    to += 1;
                }
                let window = self.points.get(from..to).unwrap_or_default();
                let density: f64 = window
                    .iter()
                    .map(|&(other, mass)| mass * normal_pdf((point - other) / deviation))
                    .sum();
                upper.push((point, weight * density / deviation));
            }
        }
        // Bounds and increments are symmetric, so that the lower half mirrors the upper one.
        let lower = upper.iter().rev().map(|&(point, mass)| (-point, mass));
        Self { points: lower.chain(upper.iter().copied()).collect(), fraction }
    }
}
