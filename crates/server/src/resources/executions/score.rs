//! Scores of an execution's answer.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::Json;
use fullbench_engine::{
    Definitions, InputProblem, MetricRules, RunControl, RunEnd, execute, load_sent_scorers,
    prepare_rescore,
};
use fullbench_llm::CacheMode;
use fullbench_types::{Action, RunState};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tracing::Instrument;
use uuid::Uuid;

use super::execution_run;
use crate::access::Caller;
use crate::api::Endpoint;
use crate::app::App;
use crate::extract::{Body, PathParts};
use crate::problem::{CONFLICT, Problem, internal};
use crate::resources::evaluations::shapes::{Metric, Model};
use crate::resources::evaluations::{MetricResult, wanted_metrics};
use crate::resources::runs::RunReader;
use crate::work::end;

/// What an answer is to be scored by.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewScore {
    /// Names of scorers, of stored judges or of criteria, or scorers with their parameters. Default: the organization's own.
    #[serde(default)]
    #[schemars(with = "Vec<Metric>", length(max = 64))]
    metrics: Vec<Value>,
    /// The model that judges: `provider:model`, or an object.
    #[serde(default)]
    #[schemars(with = "Option<Model>")]
    evaluator_model: Option<Value>,
    /// Criteria of your own by metric.
    #[serde(default)]
    custom_rubrics: Map<String, Value>,
}

/// The scores of an execution's answer, those of earlier requests among them.
#[derive(Debug, Serialize, JsonSchema)]
struct ExecutionScore {
    execution_id: Uuid,
    /// The mean of all scores that there are.
    overall_score: Option<f64>,
    criterion_scores: BTreeMap<String, MetricResult>,
    scored_at: Timestamp,
    scored_by: String,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let about = "The model is not asked again. A metric that has scored the answer before is not asked again either; a score that is \
        missing, because a judge failed or the budget was used up, is asked for when its metric is sent again.";
    vec![
        Endpoint::post(
            "/v1/executions/{execution_id}/score",
            "score_execution",
            Action::StartRuns,
            score,
        )
        .refuses(&[402])
        .about("executions", "Score the answer of an execution", about)
        .takes::<NewScore>()
        .gives::<ExecutionScore>(200, "The scores"),
    ]
}

async fn score(
    State(app): State<App>,
    caller: Caller,
    PathParts(id): PathParts<Uuid>,
    Body(new): Body<NewScore>,
) -> Result<Json<ExecutionScore>, Problem> {
    let metrics = wanted_metrics(&caller, new.metrics).await?;
    let store = &caller.store;
    let run = execution_run(store, id).await?;
    // Scores that are missing leave it incomplete, and its answer is there all the same.
    let is_answered = run.state == RunState::Incomplete
        && store.lane_progress(run.id).await?.iter().any(|lane| lane.answered > 0);
    if run.state != RunState::Completed && !is_answered {
        let detail = format!("the execution is {}", run.state);
        return Err(Problem::new(CONFLICT, detail).hint("only an answer can be scored"));
    }
    let rules = MetricRules { evaluator: new.evaluator_model, rubrics: new.custom_rubrics };
    let definitions = Definitions::read(store).await?;
    let mut scorers = Vec::new();
    for (index, metric) in metrics.iter().enumerate() {
        scorers.push(rules.scorer(metric, &definitions).map_err(|problem| {
            let field = problem.field.clone().unwrap_or_else(|| format!("metrics[{index}]"));
            Problem::from(vec![InputProblem { field: Some(field), ..problem }])
        })?);
    }
    let scorers = load_sent_scorers(&scorers, &definitions, &app.config().rules)
        .map_err(|error| Problem::from(error).renamed("scorers", "metrics"))?;
    let prepared = prepare_rescore(run, store, &scorers, None, true).await?;
    let control = RunControl {
        stop: app.stop().clone(),
        cache_mode: CacheMode::Use,
        budget: None,
        provider_batch: false,
        leaves_end_to_caller: true,
    };
    // A task of its own: who asked may go away, and the run still comes to its end.
    let (scored, scoped) = (prepared.record.id, store.clone());
    let scoring = async move {
        let (state, notes) = match execute(prepared, control, |_| {}).await {
            Ok(RunEnd { record, .. }) => (record.state, record.notes),
            Err(error) => (RunState::Incomplete, vec![error.to_string()]),
        };
        end(&scoped, scored, state, &notes).await
    };
    let scoring = app.tasks().spawn(scoring.in_current_span());
    let run = scoring.await.map_err(|error| internal(&error))??;
    let reader = RunReader::open(store, &run).await?;
    let unit = reader.page(None, 1).await?.pop();
    let scores = unit.map(|unit| reader.view(&unit).into_scores()).unwrap_or_default();
    let values: Vec<f64> = scores.values().filter_map(MetricResult::value).collect();
    let overall = (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    Ok(Json(ExecutionScore {
        execution_id: id,
        overall_score: overall,
        criterion_scores: scores,
        scored_at: Timestamp::now(),
        scored_by: caller.name.clone(),
    }))
}
