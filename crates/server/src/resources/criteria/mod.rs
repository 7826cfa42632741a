//! Criteria: what is judged. Built-in ones are always there; those of the organization are kept revision by revision.

mod known;
mod view;

pub(crate) use known::{all_criteria, known_criterion, stored_criterion};

use axum::http::StatusCode;
use axum::response::{IntoResponse, Json, Response};
use fullbench_judge::builtin;
use fullbench_store::{CriterionSource, EntityKind, StoreError};
use fullbench_types::Action;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::access::Caller;
use crate::api::Endpoint;
use crate::extract::{
    Body, Etagged, IfMatch, NewId, PageQuery, PathParts, Query, page, slice, usual_limit,
};
use crate::problem::Problem;
use view::{CriteriaPage, CriterionView, NewCriterion, Revisions, Source};

const TAG: &str = "criteria";

/// Which criteria to list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CriteriaQuery")]
struct ListQuery {
    /// How many to give.
    #[serde(default = "usual_limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: u64,
    /// How many to leave out.
    #[serde(default)]
    #[schemars(range(max = 1_000_000_000))]
    offset: u64,
    /// From here.
    #[serde(default)]
    source: Option<Source>,
}

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let one = "/v1/criteria/{criterion_name}";
    let revised = "The earlier revisions stay, and judges that were made for one go on with it. What says the same makes no \
        new revision. Built-in criteria are not changed.";
    vec![
        Endpoint::get("/v1/criteria", "list_criteria", Action::ReadDefinitions, list)
            .about(TAG, "All criteria", "By name, each in its newest revision.")
            .query::<ListQuery>()
            .gives::<CriteriaPage>(200, "A page of criteria"),
        Endpoint::post("/v1/criteria", "create_criterion", Action::ChangeDefinitions, create)
            .about(TAG, "Add a criterion", "")
            .takes::<NewCriterion>()
            .gives::<CriterionView>(201, "The criterion")
            .with_etag(),
        Endpoint::get(one, "get_criterion", Action::ReadDefinitions, get)
            .about(TAG, "A criterion in its newest revision", "")
            .gives::<CriterionView>(200, "The criterion")
            .with_etag(),
        Endpoint::put(one, "revise_criterion", Action::ChangeDefinitions, revise)
            .about(TAG, "Make a new revision of a criterion", revised)
            .takes::<NewCriterion>()
            .gives::<CriterionView>(200, "The newest revision")
            .with_etag()
            .if_match(),
        Endpoint::get(
            "/v1/criteria/{criterion_name}/revisions",
            "list_criterion_revisions",
            Action::ReadDefinitions,
            revisions,
        )
        .about(TAG, "All revisions of a criterion", "The newest first.")
        .query::<PageQuery>()
        .gives::<Revisions>(200, "A page of revisions"),
    ]
}

async fn list(
    caller: Caller,
    Query(query): Query<ListQuery>,
) -> Result<Json<CriteriaPage>, Problem> {
    let page = page(query.limit, query.offset)?;
    let mut known = all_criteria(&caller.store).await?;
    known.retain(|one| query.source.is_none_or(|source| Source::from(one.source) == source));
    let (known, total, has_more) = slice(known, page);
    let mut criteria = Vec::with_capacity(known.len());
    for one in known {
        criteria.push(CriterionView::read(&caller.store, one).await?);
    }
    Ok(Json(CriteriaPage { criteria, total, has_more }))
}

async fn create(
    caller: Caller,
    NewId(id): NewId,
    Body(new): Body<NewCriterion>,
) -> Result<Response, Problem> {
    let criterion = new.checked()?;
    if builtin(&criterion.name).is_some() {
        let (kind, name) = (EntityKind::Criterion, criterion.name);
        return Err(StoreError::NameTaken { kind, name }.into());
    }
    let record = caller.store.create_criterion(id, &criterion).await?;
    let revision = record.revision;
    let shown = CriterionView::read(&caller.store, record.into()).await?;
    Ok((StatusCode::CREATED, Etagged(revision, shown)).into_response())
}

async fn get(
    caller: Caller,
    PathParts(name): PathParts<String>,
) -> Result<Etagged<CriterionView>, Problem> {
    let known = known_criterion(&caller.store, &name).await?;
    Ok(Etagged(known.revision, CriterionView::read(&caller.store, known).await?))
}

async fn revise(
    caller: Caller,
    PathParts(name): PathParts<String>,
    IfMatch(seen): IfMatch,
    Body(new): Body<NewCriterion>,
) -> Result<Etagged<CriterionView>, Problem> {
    let known = known_criterion(&caller.store, &name).await?;
    if known.source == CriterionSource::BuiltIn {
        let (kind, reason) = (EntityKind::Criterion, "it is built in");
        return Err(StoreError::Immutable { kind, name, reason }.into());
    }
    let criterion = new.checked()?;
    if criterion.name != name {
        let problem = Problem::field("name", format!("the path names the criterion `{name}`"));
        return Err(problem.hint("a criterion keeps its name; add another under a new one"));
    }
    let record = caller.store.revise_seen_criterion(&criterion, seen).await?;
    Ok(Etagged(record.revision, CriterionView::read(&caller.store, record.into()).await?))
}

async fn revisions(
    caller: Caller,
    PathParts(name): PathParts<String>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Revisions>, Problem> {
    let page = page(query.limit, query.offset)?;
    let newest = known_criterion(&caller.store, &name).await?;
    let all = match newest.id {
        Some(_) => caller.store.criterion_history(&name).await?,
        None => Vec::new(),
    };
    let mut all: Vec<_> = all.into_iter().map(known::KnownCriterion::from).collect();
    if all.is_empty() {
        all.push(newest);
    }
    let (known, total, has_more) = slice(all, page);
    let mut revisions = Vec::with_capacity(known.len());
    for one in known {
        revisions.push(CriterionView::read(&caller.store, one).await?);
    }
    Ok(Json(Revisions { revisions, total, has_more }))
}
