//! Whether the judge likes long answers.

use fullbench_analysis::Measured;
use fullbench_stats::validity::robust_line;
use serde::Serialize;

use super::changes::Change;
use super::data::Data;
use crate::{Estimate, Probe, words};

/// Whether the judge likes long answers.
#[derive(Debug, Clone, Serialize)]
pub struct VerbositySection {
    /// How much judge − human rises when the words double: the slope on log2 of the words; of pairs, on log2 of their ratio.
    pub slope: Measured<Estimate>,
    /// What words that say nothing new do to a score.
    pub padded: Change,
}

pub(super) fn of(data: &Data<'_>) -> VerbositySection {
    let compared = data.compared(|probe| *probe == Probe::Padded);
    VerbositySection {
        slope: slope(data),
        padded: Change::of(&compared, data, data.options.confidence),
    }
}

fn slope(data: &Data<'_>) -> Measured<Estimate> {
    let (mut lengths, mut differences, mut groups) = (Vec::new(), Vec::new(), Vec::new());
    for one in &data.labelled {
        let case = &data.probes[one.case];
        let other = case.other.as_deref().map_or(1, words::count);
        let own = words::count(&case.output);
        if own > 0 && other > 0 {
            lengths.push((own as f64 / other as f64).log2());
            differences.push(one.judge - one.human);
            groups.push(one.group);
        }
    }
    let clusters = data.clusters().map(|_| &groups[..]);
    let n = lengths.len();
    match robust_line(&lengths, &differences, clusters, data.options.confidence) {
        Ok(line) => Measured::Value(Estimate::new(n, line.slope, Ok(line.interval))),
        Err(reason) => {
            // Differences that are all the same have no slope to doubt: it is 0, without an interval.
            let same = differences.windows(2).all(|pair| (pair[0] - pair[1]).abs() < 1e-12);
            let varies = lengths.windows(2).any(|pair| pair[0] != pair[1]);
            if n >= 3 && same && varies {
                return Measured::Value(Estimate::new(n, 0.0, Err(reason)));
            }
            Err(reason).into()
        }
    }
}
