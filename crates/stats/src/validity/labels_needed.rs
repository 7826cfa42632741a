//! How many more human labels make an estimate as precise as wanted.

use serde::Serialize;

use super::prediction_powered::{Parts, tuned, variance_with};
use crate::{Undefined, student_t_quantile};

/// A sample of which some items have human labels, as it is now: what the precision of more labels is computed from.
#[derive(Debug, Clone)]
pub struct LabelDesign {
    parts: Parts,
    labelled: usize,
    scored: usize,
}

impl LabelDesign {
    /// A sample with human and judge scores of labelled items, and judge scores of the others; undefined as
    /// [`super::prediction_powered_mean`] is.
    pub fn of(human: &[f64], judge: &[f64], judge_unlabelled: &[f64]) -> Result<Self, Undefined> {
        let parts = Parts::of(human, judge, judge_unlabelled)?;
        if parts.human_variance <= 0.0 {
            return Err(Undefined::NoVariation { what: "human labels" });
        }
        Ok(Self { parts, labelled: human.len(), scored: human.len() + judge_unlabelled.len() })
    }

    /// Variance of the mean with so many labels of all scored items: by PPI++, or by the human labels alone.
    fn variance(&self, labels: usize, with_judge: bool) -> f64 {
        let labels = labels as f64;
        let unlabelled = self.scored as f64 - labels;
        let lambda = if with_judge && unlabelled > 0.0 {
            tuned(self.parts.covariance, self.parts.pooled_variance, labels, unlabelled)
        } else {
            0.0
        };
        variance_with(&self.parts, lambda, labels, unlabelled)
    }
}

/// How many labels it takes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum LabelsNeeded {
    /// So many labels reach the half-width.
    Reachable {
        /// More labels for each sample, beside those there are; 0 where they are enough.
        more: usize,
        /// All labels of all samples then.
        total: usize,
    },
    /// Not even labels of all scored items do.
    OutOfReach {
        /// The half-width with every scored item labelled.
        smallest: f64,
    },
}

/// How many more items of each sample must be labelled for an interval of `estimate ± half_width`: one sample for a mean, two
/// independent ones for a difference. `with_judge` is for PPI++, otherwise for the mean of the human labels alone.
///
/// Labelling moves items from the unlabelled to the labelled ones, so that the scored items bound what can be reached: with all
/// of them labelled, the judge has nothing to add. It assumes that variances and correlation stay as the present labels show
/// them, and the interval by Student's t of [`super::prediction_powered_mean`]; with few labels now the answer is rough.
/// Undefined for no sample and for a half-width that is not positive.
pub fn labels_needed(
    samples: &[LabelDesign],
    half_width: f64,
    confidence: f64,
    with_judge: bool,
) -> Result<LabelsNeeded, Undefined> {
    Undefined::unless_share("confidence", confidence)?;
    Undefined::unless_positive("the half-width", half_width)?;
    Undefined::unless_enough("samples", samples.len(), 1)?;
    let upper = f64::midpoint(1.0, confidence);
    let labels = |sample: &LabelDesign, more: usize| (sample.labelled + more).min(sample.scored);
    let reached = |more: usize| -> Result<f64, Undefined> {
        let variance = |sample: &LabelDesign| sample.variance(labels(sample, more), with_judge);
        let fewest = samples.iter().map(|sample| labels(sample, more)).min().unwrap_or(2) as f64;
        let scale = student_t_quantile(upper, fewest - 1.0)? * (fewest / (fewest - 1.0)).sqrt();
        Ok(scale * samples.iter().map(variance).sum::<f64>().sqrt())
    };
    // The width that is there now is reached with no more labels, whatever the last digit says.
    let wanted = half_width * (1.0 + 1e-12);
    let open = samples.iter().map(|sample| sample.scored - sample.labelled).max().unwrap_or(0);
    let smallest = reached(open)?;
    if smallest > wanted {
        return Ok(LabelsNeeded::OutOfReach { smallest });
    }
    let (mut low, mut high) = (0, open);
    while low < high {
        let middle = usize::midpoint(low, high);
        if reached(middle)? <= wanted {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    let total = samples.iter().map(|sample| labels(sample, low)).sum();
    Ok(LabelsNeeded::Reachable { more: low, total })
}
