//! Webhooks: who is told of events by a signed POST.

mod deliveries;
mod secret;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Json, Response};
use fullbench_store::{NewWebhook, WebhookChange, WebhookRecord};
use fullbench_types::{Action, EventKind};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::Caller;
use crate::api::Endpoint;
use crate::app::App;
use crate::audit::AuditNote;
use crate::extract::{
    Body, Etagged, IfMatch, NewId, PageQuery, PathParts, Query, given, has_more, page,
};
use crate::problem::Problem;
use crate::work::webhooks::problem_of;

const TAG: &str = "webhooks";
/// Letters that a URL may have.
pub(crate) const MAX_URL: usize = 2048;
/// Letters that a description may have.
const MAX_DESCRIPTION: usize = 1000;

/// Who is to be told of events.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewWebhook")]
struct Wanted {
    /// Where events are sent; an address of the public internet, unless the server allows others.
    #[schemars(length(min = 1, max = 2048), url)]
    url: String,
    /// The events. Default: the ends of runs, and versions of data sets that were looked through.
    #[serde(default = "usual_events")]
    #[schemars(length(min = 1, max = 16))]
    events: Vec<EventKind>,
    /// What it is for.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    description: Option<String>,
}

/// What is to be changed; what is not said stays.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "WebhookChange")]
struct Change {
    /// Where events are sent.
    #[serde(default)]
    #[schemars(length(min = 1, max = 2048), url)]
    url: Option<String>,
    /// The events.
    #[serde(default)]
    #[schemars(length(min = 1, max = 16))]
    events: Option<Vec<EventKind>>,
    /// What it is for; null for nothing.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<String>", length(max = 1000))]
    description: Option<Option<String>>,
    /// Whether it is told of anything.
    #[serde(default)]
    enabled: Option<bool>,
}

/// Who is told of events.
#[derive(Serialize, JsonSchema)]
struct Webhook {
    webhook_id: Uuid,
    /// Where events are sent.
    url: String,
    /// The events.
    events: Vec<EventKind>,
    /// What it is for.
    description: Option<String>,
    /// Whether it is told of anything.
    enabled: bool,
    /// Why it was disabled, where the server did it.
    disabled_because: Option<String>,
    created_at: Timestamp,
    updated_at: Timestamp,
    /// Who made it.
    created_by: Option<String>,
}

/// A page of webhooks.
#[derive(Serialize, JsonSchema)]
struct Webhooks {
    /// The newest first.
    webhooks: Vec<Webhook>,
    /// How many there are in all.
    total: u64,
    /// There are more after these.
    has_more: bool,
}

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let one = "/v1/webhooks/{webhook_id}";
    let signed = "Each event is sent as a POST with the headers `webhook-id`, `webhook-timestamp` and \
        `webhook-signature` of the Standard Webhooks specification; `GET …/secret` has the secret to check it with. What is \
        not answered with 2xx within 15 seconds is sent again with longer and longer waits, for about a day. An event may \
        come twice, with the same `webhook-id`.";
    let mut endpoints = vec![
        Endpoint::post("/v1/webhooks", "create_webhook", Action::ChangeWebhooks, create)
            .about(TAG, "Be told of events", signed)
            .takes::<Wanted>()
            .gives::<Webhook>(201, "The webhook")
            .with_etag(),
        Endpoint::get("/v1/webhooks", "list_webhooks", Action::ReadWebhooks, list)
            .about(TAG, "All webhooks", "The newest first.")
            .query::<PageQuery>()
            .gives::<Webhooks>(200, "A page of webhooks"),
        Endpoint::get(one, "get_webhook", Action::ReadWebhooks, get)
            .about(TAG, "A webhook", "")
            .gives::<Webhook>(200, "The webhook")
            .with_etag(),
        Endpoint::patch(one, "change_webhook", Action::ChangeWebhooks, change)
            .about(TAG, "Change a webhook", "Events that are on their way go to the new address.")
            .takes::<Change>()
            .gives::<Webhook>(200, "The changed webhook")
            .with_etag()
            .if_match(),
        Endpoint::delete(one, "delete_webhook", Action::ChangeWebhooks, remove)
            .about(TAG, "Remove a webhook", "Events that are on their way to it are not sent.")
            .gives_nothing(204, "It is removed")
            .if_match(),
    ];
    endpoints.extend(secret::endpoints());
    endpoints.extend(deliveries::endpoints());
    endpoints
}

async fn create(
    State(app): State<App>,
    caller: Caller,
    note: AuditNote,
    NewId(id): NewId,
    Body(wanted): Body<Wanted>,
) -> Result<Response, Problem> {
    let Wanted { url, events, description } = wanted;
    check(&app, Some(&url), Some(&events), description.as_deref())?;
    let new = NewWebhook { id, url, events, description, created_by: Some(caller.name) };
    let record = caller.store.create_webhook(new).await?;
    note.after(&audited(&record));
    Ok((StatusCode::CREATED, shown(record)).into_response())
}

async fn list(caller: Caller, Query(query): Query<PageQuery>) -> Result<Json<Webhooks>, Problem> {
    let page = page(query.limit, query.offset)?;
    let (records, total) = caller.store.webhooks(page).await?;
    let webhooks = records.into_iter().map(Webhook::from).collect();
    Ok(Json(Webhooks { webhooks, total, has_more: has_more(page, total) }))
}

async fn get(caller: Caller, PathParts(id): PathParts<Uuid>) -> Result<Etagged<Webhook>, Problem> {
    Ok(shown(caller.store.webhook(id).await?))
}

async fn change(
    State(app): State<App>,
    caller: Caller,
    note: AuditNote,
    PathParts(id): PathParts<Uuid>,
    IfMatch(seen): IfMatch,
    Body(change): Body<Change>,
) -> Result<Etagged<Webhook>, Problem> {
    let Change { url, events, description, enabled } = change;
    let text = description.as_ref().and_then(Option::as_deref);
    check(&app, url.as_deref(), events.as_deref(), text)?;
    let change = WebhookChange { url, description, events, enabled };
    note.before(&audited(&caller.store.webhook(id).await?));
    let changed = caller.store.change_webhook(id, seen, change).await?;
    note.after(&audited(&changed));
    Ok(shown(changed))
}

async fn remove(
    caller: Caller,
    note: AuditNote,
    PathParts(id): PathParts<Uuid>,
    IfMatch(seen): IfMatch,
) -> Result<StatusCode, Problem> {
    note.before(&audited(&caller.store.webhook(id).await?));
    caller.store.remove_webhook(id, seen).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Refuses a URL that events cannot be sent to.
pub(crate) fn check_url(app: &App, field: &str, url: &str) -> Result<(), Problem> {
    if url.len() > MAX_URL {
        return Err(Problem::field(field, format!("use at most {MAX_URL} letters")));
    }
    match problem_of(url, app.config().allow_private_webhooks) {
        Some(problem) => Err(Problem::field(field, problem)),
        None => Ok(()),
    }
}

fn check(
    app: &App,
    url: Option<&str>,
    events: Option<&[EventKind]>,
    description: Option<&str>,
) -> Result<(), Problem> {
    if let Some(url) = url {
        check_url(app, "url", url)?;
    }
    if events.is_some_and(|events| events.is_empty() || events.len() > 16) {
        return Err(Problem::field("events", "name 1 to 16 kinds of events"));
    }
    if events.is_some_and(|events| events.contains(&EventKind::WebhookTest)) {
        return Err(Problem::field("events", "`webhook.test` is sent when it is asked for"));
    }
    if description.is_some_and(|text| text.chars().count() > MAX_DESCRIPTION) {
        let message = format!("use at most {MAX_DESCRIPTION} letters");
        return Err(Problem::field("description", message));
    }
    Ok(())
}

/// What the audit log says of a webhook: the path and the query of its address may be a secret of the receiver.
fn audited(webhook: &WebhookRecord) -> serde_json::Value {
    let address = reqwest::Url::parse(&webhook.url).map(|url| url.origin().ascii_serialization());
    serde_json::json!({
        "webhook_id": webhook.id,
        "address": address.unwrap_or_default(),
        "events": webhook.events,
        "enabled": webhook.enabled,
    })
}

fn usual_events() -> Vec<EventKind> {
    let is_usual = |kind: &EventKind| kind.is_end_of_run() || *kind == EventKind::DatasetValidated;
    EventKind::ALL.iter().copied().filter(is_usual).collect()
}

fn shown(record: WebhookRecord) -> Etagged<Webhook> {
    Etagged(record.revision, record.into())
}

impl From<WebhookRecord> for Webhook {
    fn from(record: WebhookRecord) -> Self {
        Self {
            webhook_id: record.id,
            url: record.url,
            events: record.events,
            description: record.description,
            enabled: record.enabled,
            disabled_because: record.disabled_because,
            created_at: record.created_at,
            updated_at: record.updated_at,
            created_by: record.created_by,
        }
    }
}
