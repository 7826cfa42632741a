//! Alerts: rules that watch what the organization does, and who is told.

mod check;
mod notifications;
mod view;
mod wanted;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Json, Response};
use fullbench_store::AlertRecord;
use fullbench_types::Action;
use uuid::Uuid;

use self::view::{Alert, Alerts, audited};
use self::wanted::{Change, Wanted};
use crate::access::Caller;
use crate::api::Endpoint;
use crate::app::App;
use crate::audit::AuditNote;
use crate::extract::{Body, Etagged, IfMatch, NewId, PageQuery, PathParts, Query, has_more, page};
use crate::problem::Problem;

const TAG: &str = "alerts";

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let one = "/v1/alerts/{alert_id}";
    let made = "The rule is looked at every 30 seconds, unless the server is set up otherwise. It fires when the value is over the \
        threshold, and is resolved when it is at or under it later. Without enough data it does neither.";
    let changed = "What is not said stays, and what the rule watches cannot be changed. A rule that fires and is disabled is \
        resolved, and told so; with another threshold, window or filter it is looked at anew at once.";
    let removed = "Its log goes with it. One that fires ends: webhooks are sent `alert.resolved`, others are not told.";
    let mut endpoints = vec![
        Endpoint::post("/v1/alerts", "create_alert", Action::ChangeAlerts, create)
            .about(TAG, "Watch something", made)
            .takes::<Wanted>()
            .gives::<Alert>(201, "The rule")
            .with_etag(),
        Endpoint::get("/v1/alerts", "list_alerts", Action::ReadAlerts, list)
            .about(TAG, "All rules", "The newest first, each with how it stands.")
            .query::<PageQuery>()
            .gives::<Alerts>(200, "A page of rules"),
        Endpoint::get(one, "get_alert", Action::ReadAlerts, get)
            .about(TAG, "A rule, and how it stands", "")
            .gives::<Alert>(200, "The rule")
            .with_etag(),
        Endpoint::patch(one, "change_alert", Action::ChangeAlerts, change)
            .about(TAG, "Change a rule", changed)
            .takes::<Change>()
            .gives::<Alert>(200, "The changed rule")
            .with_etag()
            .if_match(),
        Endpoint::delete(one, "delete_alert", Action::ChangeAlerts, remove)
            .about(TAG, "Remove a rule", removed)
            .gives_nothing(204, "It is removed")
            .if_match(),
    ];
    endpoints.extend(notifications::endpoints());
    endpoints
}

async fn create(
    State(app): State<App>,
    caller: Caller,
    note: AuditNote,
    NewId(id): NewId,
    Body(wanted): Body<Wanted>,
) -> Result<Response, Problem> {
    let new = wanted.checked(&app, id, caller.name)?;
    let record = caller.store.create_alert(new).await?;
    note.after(&audited(&record));
    Ok((StatusCode::CREATED, shown(record)).into_response())
}

async fn list(caller: Caller, Query(query): Query<PageQuery>) -> Result<Json<Alerts>, Problem> {
    let page = page(query.limit, query.offset)?;
    let (records, total) = caller.store.alerts(page).await?;
    let alerts = records.into_iter().map(Alert::from).collect();
    Ok(Json(Alerts { alerts, total, has_more: has_more(page, total) }))
}

async fn get(caller: Caller, PathParts(id): PathParts<Uuid>) -> Result<Etagged<Alert>, Problem> {
    Ok(shown(caller.store.alert(id).await?))
}

async fn change(
    State(app): State<App>,
    caller: Caller,
    note: AuditNote,
    PathParts(id): PathParts<Uuid>,
    IfMatch(seen): IfMatch,
    Body(change): Body<Change>,
) -> Result<Etagged<Alert>, Problem> {
    let before = caller.store.alert(id).await?;
    note.before(&audited(&before));
    let change = change.checked(&app, before.kind)?;
    let changed = caller.store.change_alert(id, seen, change).await?;
    note.after(&audited(&changed));
    Ok(shown(changed))
}

async fn remove(
    caller: Caller,
    note: AuditNote,
    PathParts(id): PathParts<Uuid>,
    IfMatch(seen): IfMatch,
) -> Result<StatusCode, Problem> {
    note.before(&audited(&caller.store.alert(id).await?));
    caller.store.remove_alert(id, seen).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn shown(record: AlertRecord) -> Etagged<Alert> {
    Etagged(record.revision, record.into())
}
