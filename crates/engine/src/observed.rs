//! What is measured of scores, for whoever installs a recorder.

use fullbench_llm::MeasuredNames;
use fullbench_types::Score;

static SCORERS: MeasuredNames = MeasuredNames::new();

/// A score that was given.
pub(crate) fn scored(scorer: &str, score: &Score) {
    let scorer = SCORERS.named(scorer);
    let outcome = score.outcome.as_str();
    metrics::counter!("fullbench_scores_total", "scorer" => scorer.clone(), "outcome" => outcome)
        .increment(1);
    if let Some(value) = score.value {
        metrics::histogram!("fullbench_score", "scorer" => scorer).record(value);
    }
}
