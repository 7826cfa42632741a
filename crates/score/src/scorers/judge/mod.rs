//! Scorers that ask a model to judge: `g_eval`, `rubric`, `binary`, `reference`, `claims`, `pairwise`, `panel`, `judge`.

mod calls;
mod connection;
mod pairwise;
mod panel;
mod similar;
mod single;
mod stored;
mod subject;

#[cfg(test)]
mod tests;

use fullbench_judge::JudgeError;
use fullbench_types::{JudgeReference, Outcome, Score, UnscoredReason};

pub(crate) use pairwise::Pairwise;
pub(crate) use panel::JudgePanel;
pub(crate) use single::{Binary, Claims, GEval, Reference, Rubric};
pub(crate) use stored::StoredJudge;

use crate::registry::ScorerConfigError;

/// What is wrong with a judge, as an error of its entry.
fn problem(error: &JudgeError) -> ScorerConfigError {
    ScorerConfigError { field: error.field(), message: error.to_string(), hint: error.hint() }
}

/// A judge's score as a run keeps it: whatever was wrong with the provider is asked for again, and a stored judge is named.
fn settled(mut score: Score, judge: Option<&JudgeReference>) -> Score {
    if let Outcome::Unscored(UnscoredReason::Timeout | UnscoredReason::RateLimited) = score.outcome
    {
        score.outcome = Outcome::Unscored(UnscoredReason::ProviderError);
    }
    if let (Some(judgement), Some(judge)) = (&mut score.judgement, judge) {
        judgement.judge = Some(judge.clone());
    }
    score
}
