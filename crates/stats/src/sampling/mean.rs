//! The weighted mean, its total and their intervals.

use super::{Target, WeightedCluster, WeightedEstimate, effective_size, student_quantile};
use crate::interval::{around, unless_overflowed, wilson_ends};
use crate::{Interval, Undefined, normal_quantile};

/// A variance this small beside the square of the mean is rounding, not variation.
const NO_VARIATION: f64 = 1e-15;

/// Sums over judged outputs, from which weighted means, shares and totals are made; mergeable.
///
/// The mean is that of Hájek (1971), `Σ(y/π) / Σ(1/π)`, less its bias as a ratio to first order (Tin 1965): it stays within the
/// values, and is the plain mean where all probabilities are equal. Its divisor is the estimated number of outputs even
/// where the true one is known: the errors of both sums cancel, where division by the true number keeps those of the draw.
/// A share (of passes, of judges who agree) is the mean of zeros and ones. Values that differ by less than a millionth of
/// their mean lose digits of their variance.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WeightedSums {
    pub(super) all: WeightedCluster,
    pub(super) clusters: u64,
    /// Over clusters with A = Σ y/π and B = Σ 1/π: Σ B², Σ AB, Σ A².
    pub(super) squares: [f64; 3],
}

impl WeightedSums {
    /// Takes one output, judged with this probability and independent of the others; undefined unless the value is finite
    /// and the probability is above 0 and at most 1.
    pub fn add(&mut self, value: f64, probability: f64) -> Result<(), Undefined> {
        self.add_cluster(&WeightedCluster::of_one(value, probability)?);
        Ok(())
    }

    /// Takes a whole cluster; one without judged outputs changes nothing.
    pub fn add_cluster(&mut self, cluster: &WeightedCluster) {
        if cluster.judged == 0 {
            return;
        }
        self.all.take(cluster);
        self.clusters += 1;
        let (value, weight) = (cluster.weighted, cluster.weights);
        for (own, square) in
            self.squares.iter_mut().zip([weight * weight, value * weight, value * value])
        {
            *own += square;
        }
    }

    /// Takes the outputs of another part; no cluster may be in both.
    pub fn merge(&mut self, other: &Self) {
        self.all.take(&other.all);
        self.clusters += other.clusters;
        for (own, square) in self.squares.iter_mut().zip(other.squares) {
            *own += square;
        }
    }

    /// How many outputs were judged.
    #[must_use]
    pub fn judged(&self) -> u64 {
        self.all.judged
    }

    /// How many outputs the judged ones stand for: `Σ 1/π`. Far from the true number, the probabilities are not those of the
    /// draw.
    #[must_use]
    pub fn population(&self) -> f64 {
        self.all.weights
    }

    /// How many outputs (or clusters) with equal weights would be as good (Kish 1965); undefined when nothing was judged.
    pub fn effective_size(&self) -> Result<f64, Undefined> {
        Undefined::unless_enough("judged outputs", self.all.judged as usize, 1)?;
        Ok(effective_size(self.all.weights, self.squares[0]))
    }

    /// The mean before its bias as a ratio is taken off, `Σ(y/π) / Σ(1/π)`; undefined when nothing was judged.
    pub fn ratio(&self) -> Result<f64, Undefined> {
        Undefined::unless_enough("judged outputs", self.all.judged as usize, 1)?;
        if self.all.low == self.all.high {
            return Ok(self.all.low);
        }
        let ratio = self.all.weighted / self.all.weights;
        unless_overflowed("mean", ratio)?;
        Ok(ratio)
    }

    /// The mean; undefined when nothing was judged.
    pub fn mean(&self) -> Result<f64, Undefined> {
        let ratio = self.ratio()?;
        let [drawn, drawn_values, _] = self.all.drawn;
        let bias = (drawn * ratio - drawn_values) / (self.all.weights * self.all.weights);
        let mean = (ratio - bias).clamp(self.all.low, self.all.high);
        unless_overflowed("mean", mean)?;
        Ok(mean)
    }

    /// Standard error of the mean, linearized (Särndal, Swensson and Wretman 1992, sections 3.5 and 5.7): undefined for fewer than
    /// two judged outputs, or clusters when it is for other outputs. For this population it is `√Σ(1−π)/π²(y−ȳ)²` over the
    /// estimated number of outputs, and 0 when all were judged; for other outputs the squares are those of whole clusters,
    /// times m/(m−1) for m of them.
    pub fn standard_error(&self, target: Target) -> Result<f64, Undefined> {
        let correction = match target {
            Target::ThisPopulation => {
                Undefined::unless_enough("judged outputs", self.all.judged as usize, 2)?;
                1.0
            }
            Target::OtherOutputs => {
                Undefined::unless_enough("clusters", self.clusters as usize, 2)?;
                let clusters = self.clusters as f64;
                clusters / (clusters - 1.0)
            }
        };
        let error = (self.residuals(target)? * correction).sqrt();
        unless_overflowed("standard error", error)?;
        Ok(error)
    }

    /// The squared contributions to the error of the mean, summed over outputs or clusters.
    pub(super) fn residuals(&self, target: Target) -> Result<f64, Undefined> {
        let mean = self.ratio()?;
        if self.all.low == self.all.high {
            return Ok(0.0);
        }
        let [weights, weighted, values] = match target {
            Target::ThisPopulation => self.all.drawn,
            Target::OtherOutputs => self.squares,
        };
        let residuals = values - 2.0 * mean * weighted + mean * mean * weights;
        let residuals = if residuals <= NO_VARIATION * values { 0.0 } else { residuals };
        Ok(residuals / (self.all.weights * self.all.weights))
    }

    /// Interval of a mean of any values: Student's t with one degree of freedom less than the effective size. Undefined without
    /// variation, unless everything was judged and the mean is that of this population.
    pub fn interval(&self, target: Target, confidence: f64) -> Result<Interval, Undefined> {
        Undefined::unless_share("confidence", confidence)?;
        let (mean, error) = (self.mean()?, self.standard_error(target)?);
        if self.is_known(target) {
            return Ok(Interval { low: mean, high: mean });
        }
        if error == 0.0 {
            return Err(Undefined::NoVariation { what: "values" });
        }
        let effective = self.effective_size()?;
        student_quantile(effective, confidence)?;
        around(mean, error, effective - 1.0, confidence)
    }

    /// Interval of a mean of values from 0 to 1, which it stays within: that of Wilson (1927) for as many outputs as would give this
    /// variance (the effective size of Korn and Graubard 1998, with their allowance for few degrees of freedom). When all judged
    /// are equal, the effective size is that of the weights, and the interval still has a width. Undefined for a value outside
    /// of 0 to 1, and as [`WeightedSums::standard_error`].
    pub fn score_interval(&self, target: Target, confidence: f64) -> Result<Interval, Undefined> {
        Undefined::unless_share("confidence", confidence)?;
        let (mean, error) = (self.mean()?, self.standard_error(target)?);
        for value in [self.all.low, self.all.high] {
            if !(0.0..=1.0).contains(&value) {
                return Err(Undefined::OutOfRange { what: "value", value, allowed: "from 0 to 1" });
            }
        }
        if self.is_known(target) {
            return Ok(Interval { low: mean, high: mean });
        }
        let z = normal_quantile(f64::midpoint(1.0, confidence))?;
        let t = student_quantile(self.effective_size()?, confidence)?;
        let by_weights = match target {
            Target::ThisPopulation => effective_size(self.all.weights, self.all.drawn[0]),
            Target::OtherOutputs => effective_size(self.all.weights, self.squares[0]),
        };
        let spread = mean * (1.0 - mean);
        let as_good_as = if error > 0.0 { spread / (error * error) } else { by_weights };
        let (low, high) = wilson_ends(mean, as_good_as * (z / t).powi(2), z);
        Ok(Interval { low: low.min(mean), high: high.max(mean) })
    }

    /// The total of all outputs, such as what judging each would cost: their number, which is known, times the mean, with the
    /// interval of [`WeightedSums::interval`].
    pub fn total(
        &self,
        outputs: u64,
        target: Target,
        confidence: f64,
    ) -> Result<WeightedEstimate, Undefined> {
        let interval = self.interval(target, confidence)?;
        let outputs = outputs as f64;
        Ok(WeightedEstimate {
            estimate: outputs * self.mean()?,
            standard_error: outputs * self.standard_error(target)?,
            interval: Interval { low: outputs * interval.low, high: outputs * interval.high },
        })
    }

    /// The sums of ones for the outputs of a part, and of zeros for the others of the whole.
    pub(super) fn share_of(part: &Self, whole: &Self) -> Self {
        let (drawn, square) = (part.all.drawn[0], part.squares[0]);
        let all = WeightedCluster {
            low: if part.all.judged == whole.all.judged { 1.0 } else { 0.0 },
            high: if part.all.judged == 0 { 0.0 } else { 1.0 },
            weighted: part.all.weights,
            drawn: [whole.all.drawn[0], drawn, drawn],
            ..whole.all
        };
        Self { all, squares: [whole.squares[0], square, square], ..*whole }
    }

    /// Every output of this population was judged: the mean is no estimate.
    pub(super) fn is_known(&self, target: Target) -> bool {
        target == Target::ThisPopulation && self.all.drawn[0] == 0.0
    }
}
