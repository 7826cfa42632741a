//! Asymptotic confidence sequences: intervals that may be looked at after every value.

use serde::Serialize;

use super::{Arms, Look, mixed, valid_at_any_time};
use crate::{Interval, Moments, Undefined};

/// An asymptotic confidence sequence with a normal mixture (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas 2024):
/// its intervals hold the mean at all times together with probability 1 − alpha. It assumes independent values with a
/// finite variance, and is exact in the limit of a late first look, as the central limit theorem is for one interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ConfidenceSequence {
    /// How often the whole sequence may miss.
    pub alpha: f64,
    /// The mixture's parameter: at which count the sequence is narrowest.
    pub rho: f64,
}

impl ConfidenceSequence {
    /// A sequence that is about as narrow as possible at this many values (Waudby-Smith et al. 2024). It is valid at
    /// every count. Undefined unless 0 < alpha < 1 and the count is positive.
    pub fn tuned(alpha: f64, count: f64) -> Result<Self, Undefined> {
        Undefined::unless_share("alpha", alpha)?;
        Undefined::unless_positive("the count a sequence is tuned for", count)?;
        let level = -2.0 * alpha.ln();
        Ok(Self { alpha, rho: ((level + level.ln_1p()) / count).sqrt() })
    }

    /// Half the width of the interval of a mean, for the variance of the values and their count. Undefined for no values
    /// and a variance that is not positive.
    pub fn half_width(&self, variance: f64, count: u64) -> Result<f64, Undefined> {
        Undefined::unless_share("alpha", self.alpha)?;
        Undefined::unless_positive("rho", self.rho)?;
        Undefined::unless_positive("the variance", variance)?;
        Undefined::unless_enough("values", count as usize, 1)?;
        let n = count as f64;
        Ok(mixed::width(n * self.rho * self.rho, self.alpha) * (variance / n).sqrt())
    }

    /// The interval of a mean. Undefined for fewer than two values, and when all are equal.
    pub fn interval_of_mean(&self, values: &Moments) -> Result<Interval, Undefined> {
        let variance = values.variance()?;
        if variance <= 0.0 {
            return Err(Undefined::NoVariation { what: "values" });
        }
        let (mean, half) = (values.mean()?, self.half_width(variance, values.count())?);
        Ok(Interval { low: mean - half, high: mean + half })
    }
}

/// A difference of means, looked at again and again. Independent arms; units are assigned at random in constant shares, and the
/// count of the sequence is that of both arms: the difference is the mean of `y/π` with the variance `N (s₁²/n₁ + s₂²/n₂)`
/// (Waudby-Smith et al. 2024, for average treatment effects, with the arms' means as the regression).
///
/// `looks` hold all values up to each look. A look with fewer than `needed` values in an arm (at least 2) says nothing: the central
/// limit theorem has not set in.
#[must_use]
pub fn confidence_sequence(
    looks: &[Arms],
    sequence: &ConfidenceSequence,
    needed: u64,
) -> Vec<Look> {
    let square = sequence.rho * sequence.rho;
    valid_at_any_time(looks, sequence.alpha, needed, |arms, _| arms.count() * square)
}
