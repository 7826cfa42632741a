//! The recursive integration of Armitage, McPherson and Rowe (1969): how a sum of normal increments is spread among the paths that have
//! stayed within symmetric bounds so far.

use crate::normal_cdf;
use crate::numeric::panel_nodes;

/// Beyond this many standard deviations there is nothing left.
const REACH: f64 = 8.5;

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
    /// increments, and 16 points on one and a half of their standard deviations leave errors below 1e-12.
    pub(super) fn advanced(&self, fraction: f64, critical: f64, next: Option<f64>) -> Self {
        let deviation = (fraction - self.fraction).sqrt();
        let following = next.map_or(deviation, |next| (next - fraction).sqrt());
        let bound = critical.min(REACH) * fraction.sqrt();
        let panels = (2.0 * bound / (1.5 * deviation.min(following))).ceil().max(1.0);
        let width = 2.0 * bound / panels;
        let mut points = Vec::with_capacity(15 * panels as usize);
        // Points are in ascending order, so that those near enough form a window that only moves on.
        let (mut from, mut to) = (0, 0);
        for panel in 0..panels as usize {
            let low = -bound + panel as f64 * width;
            for (point, weight) in panel_nodes(low, low + width) {
                let near = REACH * deviation;
                while self.points.get(from).is_some_and(|(other, _)| *other < point - near) {
                    from += 1;
                }
                to = to.max(from);
                while self.points.get(to).is_some_and(|(other, _)| *other <= point + near) {
                    to += 1;
                }
                let density: f64 = self
                    .points
                    .get(from..to)
                    .unwrap_or_default()
                    .iter()
                    .map(|&(other, mass)| mass * crate::normal_pdf((point - other) / deviation))
                    .sum();
                points.push((point, weight * density / deviation));
            }
        }
        Self { points, fraction }
    }
}
