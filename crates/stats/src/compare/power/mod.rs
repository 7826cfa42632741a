//! What a study can find: power, sample size, minimum detectable effect.

mod changes;
mod noncentral;
mod proportion;
mod variance;

pub use changes::{mcnemar_detectable_difference, mcnemar_pairs_needed, mcnemar_power};
pub use proportion::{proportion_power, proportion_sample_size};
pub use variance::{
    VarianceComponents, paired_deviation, paired_rate_deviation, rate_deviation,
    repeated_deviation, variance_components,
};

use noncentral::{noncentral_t_sf, unless_at_least_one};
use serde::Serialize;

use crate::numeric::root_between;
use crate::{Undefined, student_t_quantile};

/// The noncentrality beyond which nothing is looked for.
const FARTHEST: f64 = 1e9;
/// More units than this are not looked for.
const MOST_UNITS: f64 = 1e12;

/// How a difference of means is measured, for a two-sided t test. Deviations are positive.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "design", rename_all = "snake_case")]
pub enum Design {
    /// Two samples of different cases. Its units are the values in the first sample.
    Independent {
        /// Standard deviation of the values, the same in both samples.
        standard_deviation: f64,
        /// Values in the second sample for each in the first.
        ratio: f64,
    },
    /// The same cases on both sides. Its units are pairs.
    Paired {
        /// Standard deviation of the differences.
        standard_deviation: f64,
    },
    /// The same cases on both sides, in clusters (several questions on one text). Its units are clusters, and one degree of
    /// freedom is left less than there are clusters (Miller 2024).
    Clustered {
        /// Standard deviation of the differences.
        standard_deviation: f64,
        /// Cases in a cluster, on average.
        cluster_size: f64,
        /// Coefficient of variation of the cluster sizes; 0 when they are equal.
        size_variation: f64,
        /// Correlation of the differences of two cases in a cluster, from 0 to 1.
        intra_cluster_correlation: f64,
    },
}

impl Design {
    /// The standard error of the difference with this many units. A clustered design multiplies the variance by the design
    /// effect 1 + ((1 + v²)·m − 1)·ρ (Kish 1965; for sizes that vary, Eldridge, Ashby and Kerry 2006).
    pub fn standard_error(&self, units: f64) -> Result<f64, Undefined> {
        self.check()?;
        Undefined::unless_positive("the number of units", units)?;
        Ok(self.deviation_of_a_unit() / units.sqrt())
    }

    /// How much clustering multiplies the variance; 1 without clusters.
    #[must_use]
    pub fn design_effect(&self) -> f64 {
        let Self::Clustered { cluster_size, size_variation, intra_cluster_correlation, .. } = *self
        else {
            return 1.0;
        };
        let weighted_size = cluster_size * (1.0 + size_variation * size_variation);
        1.0 + (weighted_size - 1.0) * intra_cluster_correlation
    }

    /// The probability that a two-sided t test at level `alpha` finds a true difference of `effect` with this many units,
    /// which need not be whole (Cohen 1988; noncentral t). A difference found in the wrong direction counts, as in
    /// statsmodels; it is rare unless the power is small. Undefined where parameters make no sense, and for units that leave
    /// less than one degree of freedom.
    pub fn power(&self, units: f64, effect: f64, alpha: f64) -> Result<f64, Undefined> {
        Undefined::unless_finite("effect", &[effect])?;
        Undefined::unless_share("alpha", alpha)?;
        let standard_error = self.standard_error(units)?;
        let degrees_of_freedom = self.degrees_of_freedom(units);
        unless_at_least_one(degrees_of_freedom)?;
        let critical = student_t_quantile(1.0 - alpha / 2.0, degrees_of_freedom)?;
        let noncentrality = effect.abs() / standard_error;
        Ok(two_sided_power(critical, degrees_of_freedom, noncentrality))
    }

    /// The smallest true difference found with probability `power` by this many units; see [`minimum_detectable_effect`].
    pub fn detectable_effect(&self, units: f64, alpha: f64, power: f64) -> Result<f64, Undefined> {
        let standard_error = self.standard_error(units)?;
        minimum_detectable_effect(standard_error, self.degrees_of_freedom(units), alpha, power)
    }

    /// The number of units, not rounded, that finds a true difference of `effect` with probability `power`; at least two
    /// pairs or clusters, or four values in both samples together.
    /// Undefined for no effect, parameters that make no sense, and more than 10¹² units.
    pub fn units_needed(&self, effect: f64, alpha: f64, power: f64) -> Result<f64, Undefined> {
        self.check()?;
        unless_power(alpha, power)?;
        Undefined::unless_positive("the size of the effect", effect.abs())?;
        let fewest = self.fewest_units();
        let missing = |units: f64| self.power(units, effect, alpha).map(|found| found - power);
        if missing(fewest)? >= 0.0 {
            return Ok(fewest);
        }
        let mut most = 2.0 * fewest;
        while missing(most)? < 0.0 {
            most *= 2.0;
            if most > MOST_UNITS {
                return Err(Undefined::OutOfRange {
                    what: "the size of the effect",
                    value: effect.abs(),
                    allowed: "large enough to be found by fewer than 10^12 units",
                });
            }
        }
        root_between(most / 2.0, most, |units| missing(units).unwrap_or(f64::NAN))
    }

    /// The degrees of freedom that this many units leave.
    #[must_use]
    pub fn degrees_of_freedom(&self, units: f64) -> f64 {
        match self {
            Self::Independent { ratio, .. } => units * (1.0 + ratio) - 2.0,
            Self::Paired { .. } | Self::Clustered { .. } => units - 1.0,
        }
    }

    fn fewest_units(&self) -> f64 {
        match self {
            Self::Independent { ratio, .. } => 4.0 / (1.0 + ratio),
            Self::Paired { .. } | Self::Clustered { .. } => 2.0,
        }
    }

    /// The standard error of one unit: n of them have √n times less.
    fn deviation_of_a_unit(&self) -> f64 {
        match *self {
            Self::Independent { standard_deviation, ratio } => {
                standard_deviation * (1.0 + 1.0 / ratio).sqrt()
            }
            Self::Paired { standard_deviation } => standard_deviation,
            Self::Clustered { standard_deviation, cluster_size, .. } => {
                standard_deviation * (self.design_effect() / cluster_size).sqrt()
            }
        }
    }

    fn check(&self) -> Result<(), Undefined> {
        match *self {
            Self::Independent { standard_deviation, ratio } => {
                Undefined::unless_positive("standard deviation", standard_deviation)?;
                Undefined::unless_positive("ratio of sample sizes", ratio)
            }
            Self::Paired { standard_deviation } => {
                Undefined::unless_positive("standard deviation", standard_deviation)
            }
            Self::Clustered {
                standard_deviation,
                cluster_size,
                size_variation,
                intra_cluster_correlation,
            } => {
                Undefined::unless_positive("standard deviation", standard_deviation)?;
                at_least("cluster size", cluster_size, 1.0, "at least 1")?;
                at_least("variation of cluster sizes", size_variation, 0.0, "0 or positive")?;
                from_zero_to_one("intra-cluster correlation", intra_cluster_correlation)
            }
        }
    }
}

/// The smallest true difference that a two-sided t test at level `alpha` finds with probability `power`, given the standard
/// error of the difference (Cohen 1988; noncentral t). Undefined unless the standard error is positive, the degrees of
/// freedom at least 1, and alpha < power, both between 0 and 1.
pub fn minimum_detectable_effect(
    standard_error: f64,
    degrees_of_freedom: f64,
    alpha: f64,
    power: f64,
) -> Result<f64, Undefined> {
    Undefined::unless_positive("standard error", standard_error)?;
    unless_power(alpha, power)?;
    unless_at_least_one(degrees_of_freedom)?;
    let critical = student_t_quantile(1.0 - alpha / 2.0, degrees_of_freedom)?;
    let missing =
        |noncentrality: f64| two_sided_power(critical, degrees_of_freedom, noncentrality) - power;
    let mut high = 1.0;
    while missing(high) < 0.0 {
        high *= 2.0;
        if high > FARTHEST {
            return Err(Undefined::NotConverged { what: "the detectable effect", iterations: 30 });
        }
    }
    Ok(standard_error * root_between(0.0, high, missing)?)
}

/// The probability that a t statistic lies beyond the critical value on either side.
fn two_sided_power(critical: f64, degrees_of_freedom: f64, noncentrality: f64) -> f64 {
    noncentral_t_sf(critical, degrees_of_freedom, noncentrality)
        + noncentral_t_sf(critical, degrees_of_freedom, -noncentrality)
}

/// Refuses a power that even no effect at all would reach.
fn unless_power(alpha: f64, power: f64) -> Result<(), Undefined> {
    Undefined::unless_share("alpha", alpha)?;
    Undefined::unless_share("power", power)?;
    if power > alpha {
        return Ok(());
    }
    Err(Undefined::OutOfRange { what: "power", value: power, allowed: "more than alpha" })
}

fn at_least(
    what: &'static str,
    value: f64,
    least: f64,
    allowed: &'static str,
) -> Result<(), Undefined> {
    if value >= least && value.is_finite() {
        return Ok(());
    }
    Err(Undefined::OutOfRange { what, value, allowed })
}

fn from_zero_to_one(what: &'static str, value: f64) -> Result<(), Undefined> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(Undefined::OutOfRange { what, value, allowed: "from 0 to 1" })
}
