//! A judgement as the API shows it.

use fullbench_store::{ResultDetail, RunRecord, ScopedStore};
use fullbench_types::{JudgeReply, NanoDollars, Outcome, RunState, Score, UnscoredReason};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::problem::Problem;

/// Whether a document has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum EvaluationVerdict {
    /// At or above the pass mark.
    Pass,
    /// Below the pass mark.
    Fail,
    /// There is no score yet.
    Pending,
}

/// What one judge says of one document.
#[derive(Serialize, JsonSchema)]
pub(super) struct Judgement {
    judgement_id: Uuid,
    judge_id: Option<Uuid>,
    document_id: Option<Uuid>,
    /// Where it stands.
    status: RunState,
    /// Whether the document passed; null where the criterion has no pass mark, or no score can be given.
    evaluation_status: Option<EvaluationVerdict>,
    /// The score on the criterion's scale.
    final_score: Option<f64>,
    /// The score from 0 to 1.
    final_score_normalized: Option<f64>,
    /// Why the score is what it is.
    reasoning: Option<String>,
    /// The pass mark that held, from 0 to 1.
    threshold: Option<f64>,
    criterion: Option<String>,
    method: Option<String>,
    /// The judging model's name.
    model: Option<String>,
    /// Every reply of the model, in the order in which it was asked for.
    all_responses: Vec<JudgeResponse>,
    total_usage_tokens: u64,
    prompt_tokens: u64,
    completion_tokens: u64,
    /// What the judgement cost; null where no price is known.
    cost_usd: Option<f64>,
    /// Seconds that the calls to the model took together.
    execution_time_seconds: Option<f64>,
    /// The prompt as it was sent, one message after the other.
    prompt_used: Option<String>,
    /// Why there is no score.
    error_message: Option<String>,
    /// What was sent beside it.
    metadata: Map<String, Value>,
    started_at: Option<Timestamp>,
    completed_at: Option<Timestamp>,
    created_at: Timestamp,
    created_by: Option<String>,
    /// Its texts are gone with the key that they were sealed with: its numbers stay.
    texts_deleted: bool,
}

/// One reply of a judge.
#[derive(Serialize, JsonSchema)]
struct JudgeResponse {
    /// Which sample it belongs to, counted from 0; a sample that is asked again has several replies.
    sample: u32,
    /// What else tells it apart, such as a claim.
    part: Option<String>,
    /// The text as it came.
    text: String,
    /// The number it gives on the criterion's scale.
    score: Option<f64>,
    /// Why it is no judgement.
    problem: Option<String>,
    prompt_tokens: u64,
    completion_tokens: u64,
    latency_ms: f64,
    /// It came from the response cache.
    cached: bool,
}

impl Judgement {
    /// The judgement that a run is.
    pub(super) async fn read(store: &ScopedStore, run: RunRecord) -> Result<Self, Problem> {
        let units = store.results_to_show(run.id, None, 1, ResultDetail::Full).await?;
        let texts_deleted = units.iter().any(|unit| unit.texts_deleted);
        let score = units.into_iter().flat_map(|unit| unit.scores).next().map(|entry| entry.score);
        let mut shown = Self::new(run, score);
        shown.texts_deleted = texts_deleted;
        if texts_deleted {
            (shown.all_responses, shown.prompt_used) = (Vec::new(), None);
        }
        Ok(shown)
    }

    fn new(run: RunRecord, score: Option<Score>) -> Self {
        let mut metadata = run.order.labels;
        metadata.retain(|name, _| !name.starts_with('_'));
        let mut shown = Self {
            judgement_id: run.id.0,
            judge_id: run.order.judge.map(|judge| judge.0),
            document_id: run.order.document,
            status: run.state,
            evaluation_status: verdict(run.state, score.as_ref()),
            final_score: None,
            final_score_normalized: None,
            reasoning: None,
            threshold: None,
            criterion: None,
            method: None,
            model: None,
            all_responses: Vec::new(),
            total_usage_tokens: 0,
            prompt_tokens: 0,
            completion_tokens: 0,
            cost_usd: None,
            execution_time_seconds: None,
            prompt_used: None,
            error_message: run.notes.into_iter().next(),
            metadata,
            started_at: run.started_at,
            completed_at: run.finished_at,
            created_at: run.created_at,
            created_by: run.order.created_by,
            texts_deleted: false,
        };
        if let Some(score) = score {
            shown.add(score);
        }
        shown
    }

    fn add(&mut self, score: Score) {
        self.final_score = score.raw;
        self.final_score_normalized = score.value;
        self.cost_usd = score.cost.map(NanoDollars::dollars);
        match score.outcome.reason() {
            Some(reason) => {
                self.error_message = score.reasoning.or_else(|| Some(reason.as_str().to_owned()));
            }
            None => self.reasoning = score.reasoning,
        }
        let Some(judgement) = score.judgement else { return };
        self.prompt_tokens = judgement.input_tokens();
        self.completion_tokens = judgement.output_tokens();
        self.total_usage_tokens = self.prompt_tokens + self.completion_tokens;
        self.execution_time_seconds = Some(judgement.seconds());
        self.threshold = judgement.threshold;
        self.criterion = Some(judgement.criterion);
        self.method = Some(judgement.method);
        self.model = Some(judgement.model);
        self.prompt_used = Some(judgement.prompt);
        self.all_responses = judgement.replies.into_iter().map(JudgeResponse::from).collect();
    }
}

fn verdict(state: RunState, score: Option<&Score>) -> Option<EvaluationVerdict> {
    match score.map(|score| score.outcome) {
        Some(Outcome::Passed) => Some(EvaluationVerdict::Pass),
        Some(Outcome::Failed) => Some(EvaluationVerdict::Fail),
        // The provider failed, and may be asked again.
        Some(Outcome::Unscored(UnscoredReason::ProviderError)) | None if !state.is_final() => {
            Some(EvaluationVerdict::Pending)
        }
        _ => None,
    }
}

impl From<JudgeReply> for JudgeResponse {
    fn from(reply: JudgeReply) -> Self {
        Self {
            sample: reply.sample,
            part: reply.part,
            text: reply.text,
            score: reply.score,
            problem: reply.problem,
            prompt_tokens: reply.input_tokens,
            completion_tokens: reply.output_tokens,
            latency_ms: reply.latency_us as f64 / 1e3,
            cached: reply.cached,
        }
    }
}
