//! The difference of two weighted means over the same cases.

use serde::Serialize;

use super::{Target, WeightedCluster, WeightedSums, student_quantile};
use crate::interval::{around, unless_overflowed};
use crate::{Interval, Undefined};

/// A variance this small beside those of the two sides is rounding, not variation.
const NO_VARIATION: f64 = 1e-14;

/// The judged outputs of one case, or of one cluster of cases, on two sides.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PairedWeightedCluster {
    first: WeightedCluster,
    second: WeightedCluster,
    /// Over cases judged on both sides, with π₁₂ the probability of that: Σ (1 − π₁π₂/π₁₂)/(π₁π₂) times 1, y₁, y₂ and y₁y₂.
    together: [f64; 4],
}

impl PairedWeightedCluster {
    /// Takes an output of the first side alone; undefined unless the value is finite and the probability is above 0 and at
    /// most 1.
    pub fn add_first(&mut self, value: f64, probability: f64) -> Result<(), Undefined> {
        self.first.add(value, probability)
    }

    /// The same of the second side.
    pub fn add_second(&mut self, value: f64, probability: f64) -> Result<(), Undefined> {
        self.second.add(value, probability)
    }

    /// Takes a case that was judged on both sides: value and probability of each, and the probability that both are judged. That is
    /// the product where each side draws for itself, and the smaller of the two where one number, drawn for the case, decides on
    /// both sides. Undefined as for one side, and when both are more likely than one.
    pub fn add_both(
        &mut self,
        first: (f64, f64),
        second: (f64, f64),
        both: f64,
    ) -> Result<(), Undefined> {
        let one = WeightedCluster::of_one(first.0, first.1)?;
        let other = WeightedCluster::of_one(second.0, second.1)?;
        let smaller = first.1.min(second.1);
        if !(both > 0.0 && both <= smaller) {
            return Err(Undefined::OutOfRange {
                what: "probability that both sides are judged",
                value: both,
                allowed: "above 0 and at most that of each side",
            });
        }
        self.first.take(&one);
        self.second.take(&other);
        let product = first.1 * second.1;
        let shared = (1.0 - product / both) / product;
        let own = [1.0, first.0, second.0, first.0 * second.0];
        for (sum, part) in self.together.iter_mut().zip(own) {
            *sum += shared * part;
        }
        Ok(())
    }
}

/// A difference of two weighted means, second − first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WeightedDifference {
    /// The first side's mean.
    pub first: f64,
    /// The second side's mean.
    pub second: f64,
    /// The second less the first.
    pub estimate: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Its interval.
    pub interval: Interval,
}

/// Sums over cases judged on one of two sides or on both, each side with its own probabilities; mergeable. From them comes the
/// difference of the two means of [`WeightedSums`], in one pass.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PairedWeightedSums {
    first: WeightedSums,
    second: WeightedSums,
    clusters: u64,
    together: [f64; 4],
    /// Over clusters with A = Σ y/π and B = Σ 1/π of each side: Σ B₁B₂, Σ A₁B₂, Σ B₁A₂, Σ A₁A₂.
    products: [f64; 4],
}

impl PairedWeightedSums {
    /// Takes one cluster, or one case that is independent of the others; one without judged outputs changes nothing.
    pub fn add_cluster(&mut self, cluster: &PairedWeightedCluster) {
        let (one, other) = (&cluster.first, &cluster.second);
        if one.judged + other.judged == 0 {
            return;
        }
        self.clusters += 1;
        self.first.add_cluster(one);
        self.second.add_cluster(other);
        let products = [
            one.weights * other.weights,
            one.weighted * other.weights,
            one.weights * other.weighted,
            one.weighted * other.weighted,
        ];
        self.take(&cluster.together, &products);
    }

    /// Takes the cases of another part; no cluster may be in both.
    pub fn merge(&mut self, other: &Self) {
        self.clusters += other.clusters;
        self.first.merge(&other.first);
        self.second.merge(&other.second);
        self.take(&other.together, &other.products);
    }

    /// The sums of the first side alone.
    #[must_use]
    pub fn first(&self) -> &WeightedSums {
        &self.first
    }

    /// The sums of the second side alone.
    #[must_use]
    pub fn second(&self) -> &WeightedSums {
        &self.second
    }

    /// Standard error of the difference. A case contributes `e₂/(π₂N₂) − e₁/(π₁N₁)` with e the distance of its value from the
    /// mean; for other outputs the squares of whole clusters are summed (Liang and Zeger 1986), for this population the
    /// variances of the two draws less what they have in common. Undefined for fewer than two judged outputs on a side.
    pub fn standard_error(&self, target: Target) -> Result<f64, Undefined> {
        for side in [&self.first, &self.second] {
            Undefined::unless_enough("judged outputs of a side", side.judged() as usize, 2)?;
        }
        let (one, other) = (self.first.ratio()?, self.second.ratio()?);
        let (products, correction) = match target {
            Target::ThisPopulation => (self.together, 1.0),
            Target::OtherOutputs => {
                Undefined::unless_enough("clusters", self.clusters as usize, 2)?;
                let clusters = self.clusters as f64;
                (self.products, clusters / (clusters - 1.0))
            }
        };
        let separate = self.first.residuals(target)? + self.second.residuals(target)?;
        let [weights, first, second, both] = products;
        let shared = (both - one * second - other * first + one * other * weights)
            / (self.first.population() * self.second.population());
        let variance = separate - 2.0 * shared;
        let variance = if variance <= NO_VARIATION * separate { 0.0 } else { variance };
        let error = (variance * correction).sqrt();
        unless_overflowed("standard error", error)?;
        Ok(error)
    }

    /// The difference with its interval: Student's t, with the degrees of freedom of Welch (1947) and Satterthwaite (1946) for two
    /// means of these effective sizes. Undefined without variation, unless everything was judged and the difference is that
    /// of this population.
    pub fn difference(
        &self,
        target: Target,
        confidence: f64,
    ) -> Result<WeightedDifference, Undefined> {
        Undefined::unless_share("confidence", confidence)?;
        let standard_error = self.standard_error(target)?;
        let (first, second) = (self.first.mean()?, self.second.mean()?);
        let estimate = second - first;
        let known = self.first.is_known(target) && self.second.is_known(target);
        let interval = if known {
            Interval { low: estimate, high: estimate }
        } else if standard_error == 0.0 {
            return Err(Undefined::NoVariation { what: "differences between the sides" });
        } else {
            around(estimate, standard_error, self.degrees(target, confidence)?, confidence)?
        };
        Ok(WeightedDifference { first, second, estimate, standard_error, interval })
    }

    fn degrees(&self, target: Target, confidence: f64) -> Result<f64, Undefined> {
        let (mut variance, mut squares, mut fewest) = (0.0, 0.0, f64::INFINITY);
        for side in [&self.first, &self.second] {
            let effective = side.effective_size()?;
            student_quantile(effective, confidence)?;
            let own = side.residuals(target)?;
            variance += own;
            squares += own * own / (effective - 1.0);
            fewest = fewest.min(effective - 1.0);
        }
        Ok(if squares > 0.0 { variance * variance / squares } else { fewest })
    }

    fn take(&mut self, together: &[f64; 4], products: &[f64; 4]) {
        for (own, others) in self.together.iter_mut().zip(together) {
            *own += others;
        }
        for (own, others) in self.products.iter_mut().zip(products) {
            *own += others;
        }
    }
}
