//! Judgements: what one judge says of one document. Each is an evaluation of a single answer.

mod view;

use std::time::{Duration, Instant};

use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::response::Json;
use fullbench_store::{
    DocumentRecord, InlineCase, JudgeRecord, RunFilter, RunOrder, RunRecord, ScopedStore,
    StoreError,
};
use fullbench_types::{Action, Generation, JudgeId, RunId, RunOrigin, RunState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::access::Caller;
use crate::api::Endpoint;
use crate::app::App;
use crate::extract::{Body, InProgress, NewId, PathParts, Query, has_more, page, usual_limit};
use crate::problem::{NOT_FOUND, Problem, found};
use crate::resources::evaluations::{Single, USUAL_TIMEOUT_MS};
use view::Judgement;

/// A document to be judged.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewJudgement")]
struct Wanted {
    /// The judge, exactly as it was made; this or `judge`.
    #[serde(default)]
    judge_id: Option<Uuid>,
    /// The name of the judge, of which the newest is asked; this or `judge_id`.
    #[serde(default)]
    #[schemars(length(min = 1, max = 100))]
    judge: Option<String>,
    /// What is judged.
    document_id: Uuid,
    /// Anything to find the judgement by.
    #[serde(default)]
    metadata: Map<String, Value>,
}

/// Which judgements to list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "JudgementsQuery")]
struct ListQuery {
    /// How many to give.
    #[serde(default = "usual_limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: u64,
    /// How many to leave out.
    #[serde(default)]
    #[schemars(range(max = 1_000_000_000))]
    offset: u64,
    /// By this judge.
    #[serde(default)]
    judge_id: Option<Uuid>,
    /// By the judge of this name or one of its predecessors.
    #[serde(default)]
    judge: Option<String>,
    /// Of this document.
    #[serde(default)]
    document_id: Option<Uuid>,
    /// In this state.
    #[serde(default)]
    status: Option<RunState>,
}

/// A page of judgements.
#[derive(Serialize, JsonSchema)]
struct Judgements {
    /// The newest first.
    judgements: Vec<Judgement>,
    /// How many match in all.
    total: u64,
    /// There are more after these.
    has_more: bool,
}

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let asked = "The judge is asked at once, and its judgement kept. One that takes longer than half a minute is given as \
        `running`, and finished later. One whose provider failed is `incomplete`: it can be resumed as the evaluation of the \
        same id.";
    vec![
        Endpoint::post("/v1/judgements", "create_judgement", Action::StartRuns, create)
            .refuses(&[402])
            .about("judgements", "Let a judge judge a document", asked)
            .takes::<Wanted>()
            .gives::<Judgement>(201, "The judgement")
            .unaudited("a judgement is a run, which says who made it and when"),
        Endpoint::get("/v1/judgements", "list_judgements", Action::ReadRuns, list)
            .about("judgements", "Judgements of documents", "The newest first.")
            .query::<ListQuery>()
            .gives::<Judgements>(200, "A page of judgements"),
        Endpoint::get("/v1/judgements/{judgement_id}", "get_judgement", Action::ReadRuns, get)
            .about("judgements", "A judgement", "")
            .gives::<Judgement>(200, "The judgement"),
    ]
}

async fn create(
    State(app): State<App>,
    caller: Caller,
    NewId(id): NewId,
    in_progress: Option<Extension<InProgress>>,
    Body(wanted): Body<Wanted>,
) -> Result<(StatusCode, Json<Judgement>), Problem> {
    let started = Instant::now();
    let (caller_name, quotas, store) = (caller.name, caller.quotas, caller.store);
    // A request that is sent again finds what it began.
    if let Some(run) = found(judged_run(&store, id).await)? {
        return Ok((StatusCode::CREATED, Json(Judgement::read(&store, run).await?)));
    }
    let judge = judge_of(&store, &wanted).await?;
    let document = store.document(wanted.document_id).await.map_err(in_field("document_id"))?;
    let order = RunOrder {
        origin: RunOrigin::Evaluation,
        labels: wanted.metadata,
        created_by: Some(caller_name),
        judge: Some(judge.id),
        document: Some(document.id),
        ..RunOrder::default()
    };
    let place = app.records().place(quotas, &store).await?;
    let single = Single {
        set: app.singles().judge(&app, &store, &judge).await?,
        app,
        store: store.clone(),
        id: RunId(id),
        case: case_of(&document),
        generation: Generation::recorded(document.actual_output),
        order,
        started,
        in_progress: in_progress.map(|Extension(in_progress)| in_progress),
        place: Some(place),
    };
    single.score(Duration::from_millis(USUAL_TIMEOUT_MS)).await?;
    let run = judged_run(&store, id).await?;
    Ok((StatusCode::CREATED, Json(Judgement::read(&store, run).await?)))
}

async fn list(caller: Caller, Query(query): Query<ListQuery>) -> Result<Json<Judgements>, Problem> {
    let page = page(query.limit, query.offset)?;
    let mut judges = query.judge_id.map(|id| vec![JudgeId(id)]);
    if let Some(name) = &query.judge {
        let named = match caller.store.judge_history(name).await {
            Err(StoreError::NameNotFound { .. }) => Vec::new(),
            other => other?,
        };
        let named = named.into_iter().map(|judge| judge.id);
        judges = Some(match judges {
            Some(one) => named.filter(|judge| one.contains(judge)).collect(),
            None => named.collect(),
        });
    }
    let filter = RunFilter {
        state: query.status,
        is_judgement: true,
        judges,
        document: query.document_id,
        ..RunFilter::default()
    };
    let (runs, total) = caller.store.find_runs(&filter, page).await?;
    let mut judgements = Vec::with_capacity(runs.len());
    for run in runs {
        judgements.push(Judgement::read(&caller.store, run).await?);
    }
    Ok(Json(Judgements { judgements, total, has_more: has_more(page, total) }))
}

async fn get(caller: Caller, PathParts(id): PathParts<Uuid>) -> Result<Json<Judgement>, Problem> {
    let run = judged_run(&caller.store, id).await?;
    Ok(Json(Judgement::read(&caller.store, run).await?))
}

/// The run that the judgement of this id is.
async fn judged_run(store: &ScopedStore, id: Uuid) -> Result<RunRecord, Problem> {
    let none = || Problem::new(NOT_FOUND, format!("there is no judgement `{id}`"));
    match store.run(RunId(id)).await {
        Ok(run) if run.order.judge.is_some() => Ok(run),
        Ok(_) | Err(StoreError::RunNotFound(_)) => Err(none()),
        Err(error) => Err(error.into()),
    }
}

async fn judge_of(store: &ScopedStore, wanted: &Wanted) -> Result<JudgeRecord, Problem> {
    match (wanted.judge_id, &wanted.judge) {
        (Some(id), None) => store.judge_of_id(JudgeId(id)).await.map_err(in_field("judge_id")),
        (None, Some(name)) => store.judge(name).await.map_err(in_field("judge")),
        (Some(_), Some(_)) => Err(Problem::field("judge", "there are both `judge_id` and `judge`")
            .hint("keep one of them")),
        (None, None) => Err(Problem::field("judge", "there is no judge")
            .hint("give `judge_id`, or the name of a judge as `judge`")),
    }
}

fn in_field(field: &'static str) -> impl FnOnce(StoreError) -> Problem {
    move |error| Problem::from(error).in_field(field)
}

/// The document as a case: its metadata are fields, so that judges find the context there.
fn case_of(document: &DocumentRecord) -> InlineCase {
    let mut fields = document.metadata.clone();
    fields.insert("input".to_owned(), json!(document.input.as_deref().unwrap_or_default()));
    fields.remove("reference");
    if let Some(expected) = &document.expected_output {
        fields.insert("reference".to_owned(), json!(expected));
    }
    InlineCase { key: document.id.to_string(), fields }
}
