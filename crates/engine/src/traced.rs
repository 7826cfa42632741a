//! Spans of runs, units and scorers, for traces. Calls of providers have theirs where they are made.
//!
//! No span has a text of a case, a prompt or an answer, nor a case's key, which may name a person: a unit is found again by its
//! run, the index of its case, its model and its repetition.

use fullbench_llm::{ModelConfig, TRACES};
use fullbench_store::RunRecord;
use fullbench_types::{
    ErrorCode, Generation, OrganizationId, RunId, Score, UnitFailure, UnitKey, UnscoredReason,
};
use tracing::Span;
use tracing::field::Empty;

use crate::EngineError;
use crate::run::{PreparedRun, RunEnd};

/// The span of a run, or of as much of it as one process does.
pub(crate) fn run(run: &PreparedRun, organization: OrganizationId) -> Span {
    let PreparedRun { record: RunRecord { id, name, .. }, spec, plan, .. } = run;
    let models = || spec.models.iter().map(ModelConfig::display_name).collect::<Vec<_>>();
    tracing::info_span!(
        target: TRACES,
        "run",
        fullbench.organization.id = %organization.0,
        fullbench.run.id = %id,
        fullbench.run.name = name,
        fullbench.run.models = models().join(", "),
        fullbench.run.units = number(plan.units()),
        fullbench.run.state = Empty,
        fullbench.run.units_failed = Empty,
        fullbench.run.units_open = Empty,
        error.type = Empty,
        otel.status_code = Empty,
    )
}

/// Notes how a run ended.
pub(crate) fn run_ended(span: &Span, end: &Result<RunEnd, EngineError>) {
    match end {
        Ok(RunEnd { record, failed, open, .. }) => {
            span.record("fullbench.run.state", record.state.as_str());
            span.record("fullbench.run.units_failed", number(*failed));
            span.record("fullbench.run.units_open", number(*open));
        }
        Err(error) => note_error(span, word(error.code())),
    }
}

/// The span of a unit of a run, until it is recorded whole.
pub(crate) fn unit(of_run: &Span, run: RunId, key: UnitKey, model: &ModelConfig) -> Span {
    tracing::info_span!(
        target: TRACES,
        parent: of_run,
        "unit",
        fullbench.run.id = %run,
        fullbench.case.index = number(key.case_index),
        fullbench.model = model.display_name(),
        fullbench.repetition = i64::from(key.repetition),
        fullbench.cached = Empty,
        error.type = Empty,
        otel.status_code = Empty,
    )
}

/// Notes whether a unit has an answer, and where from.
pub(crate) fn unit_asked(span: &Span, result: Result<&Generation, &UnitFailure>) {
    match result {
        Ok(generation) => {
            span.record("fullbench.cached", generation.cached);
        }
        Err(failure) => note_error(span, failure.reason.as_str()),
    }
}

/// Notes that a unit is recorded whole. In traces a span ends when it was left for the last time, so that it is entered once more.
pub(crate) fn unit_recorded(span: &Span) {
    span.in_scope(|| {});
}

/// The span of a scorer on one output, of so many that it scores at once.
pub(crate) fn scorer(parent: &Span, name: &str, at_once: usize) -> Span {
    tracing::info_span!(
        target: TRACES,
        parent: parent,
        "score",
        gen_ai.evaluation.name = name,
        gen_ai.evaluation.score.value = Empty,
        gen_ai.evaluation.score.label = Empty,
        fullbench.scorer.outputs = number(at_once as u64),
        error.type = Empty,
        otel.status_code = Empty,
    )
}

/// Notes a score.
pub(crate) fn scored(span: &Span, score: &Score) {
    span.record("gen_ai.evaluation.score.value", score.value);
    span.record("gen_ai.evaluation.score.label", score.outcome.as_str());
    // Who waits for a person has met no failure.
    let reason = score.outcome.reason().filter(|reason| *reason != UnscoredReason::PendingHuman);
    if let Some(reason) = reason {
        note_error(span, reason.as_str());
    }
}

fn note_error(span: &Span, word: &str) {
    span.record("error.type", word);
    span.record("otel.status_code", "ERROR");
}

/// A count as OpenTelemetry has it, which knows no other integers.
fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn word(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::InvalidInput => "invalid_input",
        ErrorCode::NotFound => "not_found",
        ErrorCode::Conflict => "conflict",
        ErrorCode::Unauthorized => "unauthorized",
        ErrorCode::RateLimited => "rate_limited",
        ErrorCode::Timeout => "timeout",
        ErrorCode::Unavailable => "unavailable",
        ErrorCode::Internal => "internal",
    }
}
