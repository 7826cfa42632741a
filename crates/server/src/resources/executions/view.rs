//! An execution, as the API shows it.

use fullbench_engine::stored_spec;
use fullbench_store::{ResultDetail, RunRecord, ScopedStore};
use fullbench_types::{FailureReason, Generation, Priority, RunState, UnitFailure};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::problem::Problem;

/// Where an execution stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ExecutionStatus {
    Pending,
    Running,
    Completed,
    Failed,
    Cancelled,
    Timeout,
}

/// A task for a model, and what came of it.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Execution {
    execution_id: Uuid,
    status: ExecutionStatus,
    priority: Priority,
    provider: String,
    model: String,
    created_at: Timestamp,
    start_time: Option<Timestamp>,
    end_time: Option<Timestamp>,
    duration_ms: Option<i64>,
    response: Option<ModelResponse>,
    error: Option<ExecutionError>,
    metrics: Option<ExecutionMetrics>,
    cost_usd: Option<f64>,
    metadata: Map<String, Value>,
    /// Its texts are gone with the key that they were sealed with: there is no `response`.
    texts_deleted: bool,
}

/// What a model answered.
#[derive(Debug, Serialize, JsonSchema)]
struct ModelResponse {
    content: String,
    finish_reason: String,
    token_usage: Option<TokenUsage>,
    /// The model that the provider says answered.
    reported_model: Option<String>,
    /// It came from the response cache.
    cached: bool,
}

/// Tokens of a call.
#[derive(Debug, Serialize, JsonSchema)]
struct TokenUsage {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
}

/// Why there is no answer.
#[derive(Debug, Serialize, JsonSchema)]
struct ExecutionError {
    /// `provider_error`, `timeout`, `rate_limited` or `failed`.
    code: String,
    message: String,
    /// The same execution may succeed later.
    retryable: bool,
}

/// How long a call took.
#[derive(Debug, Serialize, JsonSchema)]
struct ExecutionMetrics {
    request_latency_ms: f64,
    first_token_ms: Option<f64>,
    tokens_per_second: Option<f64>,
    /// How long the call waited for its provider's limits.
    queue_ms: f64,
    /// Calls beyond the first.
    retry_count: u32,
}

/// A stored execution.
pub(super) async fn shown(store: &ScopedStore, run: &RunRecord) -> Result<Execution, Problem> {
    let spec = stored_spec(store, run).await?;
    let unit = store.results_to_show(run.id, None, 1, ResultDetail::Texts).await?.pop();
    let texts_deleted = unit.as_ref().is_some_and(|unit| unit.texts_deleted);
    let result = unit.map(|unit| unit.result);
    let answer = result.as_ref().and_then(|result| result.as_ref().ok());
    let failure = result.as_ref().and_then(|result| result.as_ref().err());
    let model = spec.models.first();
    let ended =
        run.finished_at.filter(|_| !matches!(run.state, RunState::Pending | RunState::Running));
    let duration =
        run.started_at.zip(ended).map(|(start, end)| end.as_millisecond() - start.as_millisecond());
    Ok(Execution {
        execution_id: run.id.0,
        status: status(run.state, failure),
        priority: run.order.priority,
        provider: model.map(|model| model.provider.to_string()).unwrap_or_default(),
        model: model.and_then(|model| model.model.clone()).unwrap_or_default(),
        created_at: run.created_at,
        start_time: run.started_at,
        end_time: ended,
        duration_ms: duration,
        response: answer.filter(|_| !texts_deleted).map(ModelResponse::of),
        error: error(run, failure),
        metrics: answer.map(ExecutionMetrics::of),
        cost_usd: answer.and_then(|answer| answer.cost).map(|cost| cost.dollars()),
        metadata: run.order.labels.clone(),
        texts_deleted,
    })
}

fn status(state: RunState, failure: Option<&UnitFailure>) -> ExecutionStatus {
    match state {
        RunState::Pending | RunState::Paused => ExecutionStatus::Pending,
        RunState::Running => ExecutionStatus::Running,
        RunState::Completed => ExecutionStatus::Completed,
        RunState::Cancelled => ExecutionStatus::Cancelled,
        RunState::Incomplete | RunState::Failed => match failure.map(|failure| failure.reason) {
            Some(FailureReason::Timeout) => ExecutionStatus::Timeout,
            _ => ExecutionStatus::Failed,
        },
    }
}

fn error(run: &RunRecord, failure: Option<&UnitFailure>) -> Option<ExecutionError> {
    if let Some(failure) = failure {
        let code = failure.reason.as_str().to_owned();
        return Some(ExecutionError { code, message: failure.message.clone(), retryable: true });
    }
    let failed = matches!(run.state, RunState::Failed | RunState::Incomplete);
    failed.then(|| ExecutionError {
        code: "failed".to_owned(),
        message: run.notes.join("; "),
        retryable: run.state == RunState::Incomplete,
    })
}

impl ModelResponse {
    fn of(answer: &Generation) -> Self {
        Self {
            content: answer.text.clone(),
            finish_reason: answer.finish_reason.as_str().to_owned(),
            token_usage: answer.usage.as_ref().map(|usage| TokenUsage {
                prompt_tokens: usage.input_tokens,
                completion_tokens: usage.output_tokens,
                total_tokens: usage.input_tokens + usage.output_tokens,
            }),
            reported_model: answer.reported_model.clone(),
            cached: answer.cached,
        }
    }
}

impl ExecutionMetrics {
    fn of(answer: &Generation) -> Self {
        let milliseconds = |microseconds: u64| microseconds as f64 / 1000.0;
        let seconds = answer.latency_us as f64 / 1e6;
        let tokens = answer.usage.as_ref().map(|usage| usage.output_tokens as f64);
        Self {
            request_latency_ms: milliseconds(answer.latency_us),
            first_token_ms: answer.time_to_first_token_us.map(milliseconds),
            tokens_per_second: tokens.filter(|_| seconds > 0.0).map(|tokens| tokens / seconds),
            queue_ms: milliseconds(answer.queue_us),
            retry_count: answer.attempts.saturating_sub(1),
        }
    }
}
