//! Whether the order of a pair decides.

use fullbench_analysis::Measured;
use serde::Serialize;

use super::data::Data;
use crate::{Estimate, Judged, Probe};

/// Whether the order of a pair decides.
#[derive(Debug, Clone, Serialize)]
pub struct PositionSection {
    /// Share of pairs whose winner changes with the order.
    pub flipped: Measured<Estimate>,
    /// Of those, the share that went to the answer shown first.
    pub to_the_first: Measured<Estimate>,
}

pub(super) fn of(data: &Data<'_>) -> PositionSection {
    let asked = |probe: &Probe| match data.judged {
        Judged::Single => *probe == Probe::Compared,
        Judged::Pairs => matches!(probe, Probe::Base | Probe::Pair),
    };
    if !data.probes.iter().any(|case| asked(&case.probe)) {
        let reason = "the judge scores one answer at a time, and was not asked to compare two";
        let (flipped, to_the_first) = (Measured::undefined(reason), Measured::undefined(reason));
        return PositionSection { flipped, to_the_first };
    }
    let confidence = data.options.confidence;
    let (mut pairs, mut flipped, mut told, mut first) = (0, 0, 0, 0);
    for (case, observed) in data.probes.iter().zip(&data.observed) {
        let Some(observed) = observed.filter(|_| asked(&case.probe)) else { continue };
        let Some(is_flipped) = observed.is_flipped else { continue };
        pairs += 1;
        if is_flipped {
            flipped += 1;
            told += usize::from(observed.first_shown_preferred.is_some());
            first += usize::from(observed.first_shown_preferred == Some(true));
        }
    }
    PositionSection {
        flipped: Estimate::share(flipped, pairs, confidence, "pairs judged in both orders"),
        to_the_first: Estimate::share(first, told, confidence, "pairs whose winner changed"),
    }
}
