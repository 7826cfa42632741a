//! What a change of the answer does to its score.

use fullbench_analysis::Measured;
use fullbench_stats::compare::paired_t;
use fullbench_stats::{Interval, Moments, Undefined, mean_interval};
use serde::Serialize;

use super::data::{Compared, Data};
use crate::{Estimate, FormatChange, Probe};

/// What a change of the answer does to its score.
#[derive(Debug, Clone, Serialize)]
pub struct Change {
    /// Mean of changed − as it is; its interval is the paired t.
    pub mean: Measured<Estimate>,
    /// Mean size of the change, in either direction.
    pub mean_size: Measured<Estimate>,
    /// Share of answers whose verdict changed.
    pub changed_verdicts: Measured<Estimate>,
    /// How many scores changed at all.
    pub changed_scores: usize,
}

impl Change {
    pub(super) fn of(compared: &[Compared], data: &Data<'_>, confidence: f64) -> Self {
        let (before, after): (Vec<f64>, Vec<f64>) =
            compared.iter().map(|one| (one.base, one.changed)).unzip();
        let differences: Moments = compared.iter().map(|one| one.changed - one.base).collect();
        let sizes: Moments = compared.iter().map(|one| (one.changed - one.base).abs()).collect();
        let interval = paired_t(&before, &after, confidence).map(|found| found.interval);
        let is_other = |one: &&Compared| data.verdict(one.base) != data.verdict(one.changed);
        let changed = compared.iter().filter(is_other).count();
        let n = compared.len();
        Self {
            mean: mean(&differences, interval),
            mean_size: mean(&sizes, mean_interval(&sizes, confidence)),
            changed_verdicts: Estimate::share(changed, n, confidence, "changed answers"),
            changed_scores: compared.iter().filter(|one| one.base != one.changed).count(),
        }
    }
}

fn mean(moments: &Moments, interval: Result<Interval, Undefined>) -> Measured<Estimate> {
    match moments.mean() {
        Ok(value) => Measured::Value(Estimate::new(moments.count() as usize, value, interval)),
        Err(_) => Measured::undefined("no changed answer was scored"),
    }
}

/// Whether the form of an answer moves the judge.
#[derive(Debug, Clone, Serialize)]
pub struct FormattingSection {
    /// Confidence of the intervals of each change: Bonferroni's, so that all hold together.
    pub confidence_of_each: f64,
    /// Each change that was made.
    pub changes: Vec<ChangeLine>,
    /// The mean size of a change that noise alone gives, by the retests: 2/√π of the deviation within an answer.
    pub size_by_noise: Measured<f64>,
}

/// One change of form.
#[derive(Debug, Clone, Serialize)]
pub struct ChangeLine {
    /// Which.
    pub change: FormatChange,
    /// What it does.
    #[serde(flatten)]
    pub effect: Change,
}

pub(super) fn formatting(data: &Data<'_>, within: &Measured<Estimate>) -> FormattingSection {
    let planned = |change: FormatChange| {
        data.probes.iter().any(|case| case.probe == Probe::Format { change })
    };
    let made: Vec<FormatChange> =
        FormatChange::ALL.into_iter().filter(|change| planned(*change)).collect();
    let tail = (1.0 - data.options.confidence) / made.len().max(1) as f64;
    let confidence_of_each = 1.0 - tail;
    let line = |change: FormatChange| {
        let compared = data.compared(|probe| *probe == Probe::Format { change });
        ChangeLine { change, effect: Change::of(&compared, data, confidence_of_each) }
    };
    FormattingSection {
        confidence_of_each,
        changes: made.into_iter().map(line).collect(),
        size_by_noise: match within {
            Measured::Value(found) => {
                Measured::Value(std::f64::consts::FRAC_2_SQRT_PI * found.value)
            }
            Measured::Undefined { undefined } => Measured::undefined(undefined),
        },
    }
}
