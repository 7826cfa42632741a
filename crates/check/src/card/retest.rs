//! Whether the judge says the same again.

use std::collections::BTreeMap;

use fullbench_analysis::Measured;
use fullbench_stats::{Bootstrap, BootstrapMethod, Moments, Undefined};
use serde::Serialize;

use super::data::Data;
use crate::{Estimate, Probe};

/// Two scores of the same answer differ by less than this many standard deviations in 95% of cases: 1.96 · √2.
const REPEATABILITY: f64 = 2.771_807_648_699_8;

/// Whether the judge says the same again.
#[derive(Debug, Clone, Serialize)]
pub struct RetestSection {
    /// Answers that were judged again.
    pub items: usize,
    /// Their scores, the first ones included.
    pub scores: usize,
    /// Standard deviation within an answer, pooled; its interval is by the bootstrap over answers.
    pub within_deviation: Measured<Estimate>,
    /// The repeatability coefficient: two scores of one answer differ by less in 95% of cases (Bland and Altman 1999).
    pub repeatability: Measured<f64>,
    /// Share of answers whose verdict changed at least once.
    pub changed_verdicts: Measured<Estimate>,
}

pub(super) fn of(data: &Data<'_>) -> RetestSection {
    let mut items: BTreeMap<(usize, Option<usize>), Vec<f64>> = BTreeMap::new();
    for one in data.compared(|probe| *probe == Probe::Retest) {
        let case = &data.probes[one.case];
        items.entry((case.example, case.with)).or_insert_with(|| vec![one.base]).push(one.changed);
    }
    let items: Vec<Vec<f64>> = items.into_values().collect();
    let differs = |scores: &&Vec<f64>| {
        scores.iter().any(|score| data.verdict(*score) != data.verdict(scores[0]))
    };
    let changed = items.iter().filter(differs).count();
    let within_deviation = within(&items, data);
    let repeatability = match &within_deviation {
        Measured::Value(found) => Measured::Value(REPEATABILITY * found.value),
        Measured::Undefined { undefined } => Measured::undefined(undefined),
    };
    let of = "answers that were judged again";
    RetestSection {
        items: items.len(),
        scores: items.iter().map(Vec::len).sum(),
        within_deviation,
        repeatability,
        changed_verdicts: Estimate::share(changed, items.len(), data.options.confidence, of),
    }
}

fn within(items: &[Vec<f64>], data: &Data<'_>) -> Measured<Estimate> {
    if items.is_empty() {
        return Measured::undefined("no answer was judged again");
    }
    let parts: Vec<(f64, f64)> = items
        .iter()
        .map(|scores| {
            let moments: Moments = scores.iter().copied().collect();
            let free = scores.len() as f64 - 1.0;
            (moments.variance().unwrap_or(0.0) * free, free)
        })
        .collect();
    let pooled = |drawn: &[usize]| -> Result<f64, Undefined> {
        let (squares, free) = drawn
            .iter()
            .map(|&item| parts[item])
            .fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
        Ok((squares / free).sqrt())
    };
    let options = data.options;
    let bootstrap = Bootstrap {
        method: BootstrapMethod::Percentile,
        rounds: options.rounds,
        confidence: options.confidence,
        seed: options.seed,
    };
    let all: Vec<usize> = (0..items.len()).collect();
    let interval = bootstrap.interval(items.len(), pooled).map(|found| found.interval);
    pooled(&all).map(|value| Estimate::new(items.len(), value, interval)).into()
}
