//! A batch compared with another, and what continuous integration wants to know: does it pass, and why not.

use std::time::Duration;

use axum::extract::State;
use axum::response::Json;
use fullbench_engine::{DiffCounts, DiffOptions, DiffReport, Verdict, Word, compare_runs};
use fullbench_store::{RunRecord, ScopedStore};
use fullbench_types::{Action, RunState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use uuid::Uuid;

use super::batch_run;
use super::status::{Gate, JobStatus, shown};
use crate::access::Caller;
use crate::api::Endpoint;
use crate::app::App;
use crate::extract::{PathParts, Query};
use crate::problem::{CONFLICT, Problem};

/// How long a verdict may be waited for.
const MAX_WAIT: u64 = 120;
/// How often a run that is waited for is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// What a batch is compared with.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ComparisonQuery {
    /// A baseline by its name, or the id of a run. Default: the run that the batch was started against.
    #[serde(default)]
    #[schemars(length(min = 1, max = 100))]
    with: Option<String>,
    /// A difference up to this size does not matter: equivalence within it is tested.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    margin: Option<f64>,
}

/// How to judge a batch.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct VerdictQuery {
    /// Seconds to wait for the batch to end.
    #[serde(default)]
    #[schemars(range(max = 120))]
    wait_seconds: u64,
}

/// Two runs, compared case by case.
#[derive(Debug, Serialize, JsonSchema)]
struct Comparison {
    /// The run that is compared with.
    before: Uuid,
    /// The batch.
    after: Uuid,
    /// Each model and score.
    scores: Vec<ComparedScore>,
    /// What it comes to, in sentences.
    conclusion: Vec<String>,
    /// The runs used different data.
    other_data: bool,
    /// Models and scorers that only one of the runs has, and scorers whose definition changed.
    notes: Vec<String>,
}

/// One score of one model in both runs.
#[derive(Debug, Serialize, JsonSchema)]
struct ComparedScore {
    model: String,
    scorer: String,
    /// `better` or `worse` after correction for the number of tests, `no_evidence`, `equivalent`, `identical`, `undefined`.
    verdict: String,
    /// Pairs with a value on both sides.
    pairs: u64,
    before_mean: Option<f64>,
    after_mean: Option<f64>,
    /// Mean after minus mean before.
    difference: Option<f64>,
    /// Lower end of the 95% interval of the difference.
    low: Option<f64>,
    /// Upper end of the 95% interval of the difference.
    high: Option<f64>,
    /// The test.
    test: Option<String>,
    p_value: Option<f64>,
    /// After Holm's correction for all tests of the comparison.
    adjusted_p_value: Option<f64>,
    /// Why there is no test.
    undefined: Option<String>,
}

/// Whether a batch passes.
#[derive(Debug, Serialize, JsonSchema)]
struct BatchVerdict {
    job_id: Uuid,
    status: JobStatus,
    /// The batch is completed, every gate holds, and nothing is worse than in the baseline.
    passed: bool,
    /// Why it does not pass; or what it rests on.
    reasons: Vec<String>,
    gates: Vec<Gate>,
    comparison: Option<Comparison>,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let about = "For continuous integration: one request that waits for the end of the batch and says whether it passes.";
    vec![
        Endpoint::get(
            "/v1/evaluations/batch/{job_id}/comparison",
            "compare_batch",
            Action::ReadRuns,
            compare,
        )
        .about(
            "baselines",
            "A batch against another run",
            "Paired tests by case, with intervals and Holm's correction.",
        )
        .query::<ComparisonQuery>()
        .gives::<Comparison>(200, "The comparison")
        .refuses(&[409]),
        Endpoint::get(
            "/v1/evaluations/batch/{job_id}/verdict",
            "judge_batch",
            Action::ReadRuns,
            judge,
        )
        .about("baselines", "Whether a batch passes, and why", about)
        .query::<VerdictQuery>()
        .gives::<BatchVerdict>(200, "The verdict, also when it is not to pass"),
    ]
}

async fn compare(
    caller: Caller,
    PathParts(id): PathParts<Uuid>,
    Query(query): Query<ComparisonQuery>,
) -> Result<Json<Comparison>, Problem> {
    if query.margin.is_some_and(|margin| !(0.0..=1.0).contains(&margin)) {
        return Err(Problem::field("margin", "use 0 to 1"));
    }
    let run = batch_run(&caller.store, id).await?;
    let before = match (&query.with, run.order.baseline) {
        (Some(with), _) => match with.parse::<Uuid>() {
            Ok(id) => batch_run(&caller.store, id).await?,
            Err(_) => {
                let baseline = caller.store.baseline(with).await?;
                caller.store.run(baseline.run).await?
            }
        },
        (None, Some(baseline)) => caller.store.run(baseline).await?,
        (None, None) => {
            let problem = Problem::new(CONFLICT, "the batch was not started against a baseline");
            return Err(problem.hint("say what to compare it with: `?with=main`"));
        }
    };
    Ok(Json(comparison(&caller.store, &before, &run, query.margin).await?))
}

async fn judge(
    State(app): State<App>,
    caller: Caller,
    PathParts(id): PathParts<Uuid>,
    Query(query): Query<VerdictQuery>,
) -> Result<Json<BatchVerdict>, Problem> {
    if query.wait_seconds > MAX_WAIT {
        return Err(Problem::field("wait_seconds", format!("use 0 to {MAX_WAIT}")));
    }
    let deadline = Instant::now() + Duration::from_secs(query.wait_seconds);
    let mut run = batch_run(&caller.store, id).await?;
    while matches!(run.state, RunState::Pending | RunState::Running)
        && Instant::now() < deadline
        && !app.stop().is_cancelled()
    {
        tokio::time::sleep(LOOK).await;
        run = batch_run(&caller.store, id).await?;
    }
    Ok(Json(verdict(&app, &caller.store, run).await?))
}

async fn verdict(app: &App, store: &ScopedStore, run: RunRecord) -> Result<BatchVerdict, Problem> {
    let mut reasons = Vec::new();
    if run.state != RunState::Completed {
        reasons.push(format!("the batch is {}", run.state));
        reasons.extend(run.notes.iter().cloned());
    }
    let compared = match run.order.baseline {
        Some(baseline) => {
            let before = store.run(baseline).await?;
            Some(comparison(store, &before, &run, None).await?)
        }
        None => None,
    };
    for score in compared.iter().flat_map(|compared| &compared.scores) {
        if score.verdict == word(Verdict::Worse) {
            reasons.push(format!(
                "{} of {} is worse than in the baseline: {} instead of {}",
                score.scorer,
                score.model,
                number(score.after_mean),
                number(score.before_mean)
            ));
        }
    }
    let batch = shown(app, store, run).await?;
    for gate in batch.gates.iter().filter(|gate| !gate.passed) {
        reasons.push(format!("`{}` does not hold for {}: {}", gate.gate, gate.model, gate.detail));
    }
    let passed = reasons.is_empty();
    if passed {
        reasons.push(format!("{} gates hold, nothing is shown to be worse", batch.gates.len()));
    }
    let (job_id, status, gates) = (batch.job_id, batch.status, batch.gates);
    Ok(BatchVerdict { job_id, status, passed, reasons, gates, comparison: compared })
}

async fn comparison(
    store: &ScopedStore,
    before: &RunRecord,
    after: &RunRecord,
    margin: Option<f64>,
) -> Result<Comparison, Problem> {
    let options = DiffOptions { margin, changes: 0 };
    let report = compare_runs(store, before, after, options).await?;
    let DiffReport { counts, conclusion, other_data, notes, .. } = report;
    Ok(Comparison {
        before: before.id.0,
        after: after.id.0,
        scores: counts.into_iter().map(ComparedScore::from).collect(),
        conclusion,
        other_data,
        notes,
    })
}

impl From<DiffCounts> for ComparedScore {
    fn from(counts: DiffCounts) -> Self {
        let evidence = counts.evidence;
        let interval = evidence.interval.as_ref();
        Self {
            model: counts.model,
            scorer: counts.scorer,
            verdict: word(evidence.verdict),
            pairs: counts.pairs,
            before_mean: counts.before_mean,
            after_mean: counts.after_mean,
            difference: evidence.difference,
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
            test: evidence.test.map(Word::into_owned),
            p_value: evidence.p_value,
            adjusted_p_value: evidence.adjusted_p_value,
            undefined: evidence.undefined,
        }
    }
}

fn word(verdict: Verdict) -> String {
    verdict.words().replace(' ', "_")
}

fn number(mean: Option<f64>) -> String {
    mean.map_or_else(|| "nothing".to_owned(), |mean| format!("{mean:.4}"))
}
