//! What was sent to webhooks, and what came of every try.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Json, Response};
use fullbench_store::{AttemptRecord, DeliveryFilter, DeliveryRecord, NewEvent};
use fullbench_types::{Action, DeliveryStatus, EventKind, RunId};
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use super::{TAG, check_url};
use crate::access::Caller;
use crate::api::Endpoint;
use crate::app::App;
use crate::extract::{PathParts, Query, has_more, page, usual_limit};
use crate::problem::{Problem, TOO_MANY};

/// How often a webhook is tried out at most.
const TEST_EVERY: SignedDuration = SignedDuration::from_secs(60);

/// Which deliveries to list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DeliveriesQuery")]
struct ListQuery {
    /// How many to give.
    #[serde(default = "usual_limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: u64,
    /// How many to leave out.
    #[serde(default)]
    #[schemars(range(max = 1_000_000_000))]
    offset: u64,
    /// To this webhook.
    #[serde(default)]
    webhook_id: Option<Uuid>,
    /// About this run.
    #[serde(default)]
    run_id: Option<Uuid>,
    /// That have come this far.
    #[serde(default)]
    status: Option<DeliveryStatus>,
}

/// An event on its way to a webhook.
#[derive(Serialize, JsonSchema)]
struct Delivery {
    /// The `webhook-id` of every try.
    delivery_id: Uuid,
    /// The webhook; null for the `webhook_url` of a batch.
    webhook_id: Option<Uuid>,
    run_id: Option<Uuid>,
    /// The event.
    event_id: u64,
    #[serde(rename = "type")]
    kind: EventKind,
    /// Where it is sent.
    url: String,
    status: DeliveryStatus,
    /// How often it was tried.
    attempts: u32,
    /// When it is tried again.
    next_attempt_at: Option<Timestamp>,
    created_at: Timestamp,
    delivered_at: Option<Timestamp>,
}

/// A page of deliveries.
#[derive(Serialize, JsonSchema)]
struct Deliveries {
    /// The newest first.
    deliveries: Vec<Delivery>,
    /// How many match in all.
    total: u64,
    /// There are more after these.
    has_more: bool,
}

/// One try to send an event.
#[derive(Serialize, JsonSchema)]
struct DeliveryAttempt {
    started_at: Timestamp,
    /// How long it took.
    duration_ms: u64,
    /// The status of the answer, if there was one.
    response_status: Option<u16>,
    /// What went wrong.
    problem: Option<String>,
}

/// An event on its way to a webhook, with every try to send it.
#[derive(Serialize, JsonSchema)]
struct DeliveryLog {
    #[serde(flatten)]
    delivery: Delivery,
    /// Every try, in order.
    log: Vec<DeliveryAttempt>,
}

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let one = "/v1/webhook-deliveries/{delivery_id}";
    let again =
        "It keeps its `webhook-id`, so that a receiver knows whether it has the event already.";
    vec![
        Endpoint::post(
            "/v1/webhooks/{webhook_id}/test",
            "test_webhook",
            Action::ChangeWebhooks,
            test,
        )
        .about(
            TAG,
            "Try a webhook out",
            "Sends it the event `webhook.test`. Once a minute at most.",
        )
        .gives::<Delivery>(202, "It is being sent"),
        Endpoint::get(
            "/v1/webhook-deliveries",
            "list_webhook_deliveries",
            Action::ReadWebhooks,
            list,
        )
        .about(TAG, "What was sent", "The newest first.")
        .query::<ListQuery>()
        .gives::<Deliveries>(200, "A page of deliveries"),
        Endpoint::get(one, "get_webhook_delivery", Action::ReadWebhooks, get)
            .about(TAG, "An event on its way, with every try", "")
            .gives::<DeliveryLog>(200, "The delivery"),
        Endpoint::post(
            "/v1/webhook-deliveries/{delivery_id}/retry",
            "retry_webhook_delivery",
            Action::ChangeWebhooks,
            retry,
        )
        .about(TAG, "Send an event again", again)
        .gives::<Delivery>(202, "It is being sent"),
    ]
}

async fn test(
    State(app): State<App>,
    caller: Caller,
    PathParts(id): PathParts<Uuid>,
) -> Result<Response, Problem> {
    let webhook = caller.store.webhook(id).await?;
    check_url(&app, "url", &webhook.url)?;
    let last = caller.store.last_webhook_test(id).await?;
    let rest = last.map(|last| TEST_EVERY - Timestamp::now().duration_since(last));
    if let Some(rest) = rest.filter(SignedDuration::is_positive) {
        let seconds = rest.as_secs().max(0) as u64 + 1;
        let problem = Problem::new(TOO_MANY, "the webhook was tried out a moment ago");
        return Err(problem.hint(format!("try again in {seconds} s")).retry_after(seconds));
    }
    let data = json!({ "webhook_id": id });
    let event = NewEvent { run: None, kind: EventKind::WebhookTest, data };
    let delivery = caller.store.deliver_to(event, id).await?;
    Ok((StatusCode::ACCEPTED, Json(Delivery::from(delivery))).into_response())
}

async fn list(caller: Caller, Query(query): Query<ListQuery>) -> Result<Json<Deliveries>, Problem> {
    let page = page(query.limit, query.offset)?;
    let filter = DeliveryFilter {
        webhook: query.webhook_id,
        run: query.run_id.map(RunId),
        status: query.status,
    };
    let (records, total) = caller.store.deliveries(filter, page).await?;
    let deliveries = records.into_iter().map(Delivery::from).collect();
    Ok(Json(Deliveries { deliveries, total, has_more: has_more(page, total) }))
}

async fn get(caller: Caller, PathParts(id): PathParts<Uuid>) -> Result<Json<DeliveryLog>, Problem> {
    let delivery = caller.store.delivery(id).await?.into();
    let log = caller.store.delivery_attempts(id).await?;
    Ok(Json(DeliveryLog { delivery, log: log.into_iter().map(DeliveryAttempt::from).collect() }))
}

async fn retry(caller: Caller, PathParts(id): PathParts<Uuid>) -> Result<Response, Problem> {
    let delivery = caller.store.retry_delivery(id).await?;
    Ok((StatusCode::ACCEPTED, Json(Delivery::from(delivery))).into_response())
}

impl From<DeliveryRecord> for Delivery {
    fn from(record: DeliveryRecord) -> Self {
        let is_open = record.status == DeliveryStatus::Pending;
        Self {
            delivery_id: record.id,
            webhook_id: record.webhook,
            run_id: record.run.map(|run| run.0),
            event_id: record.event,
            kind: record.kind,
            url: record.url,
            status: record.status,
            attempts: record.attempts,
            next_attempt_at: is_open.then_some(record.due_at),
            created_at: record.created_at,
            delivered_at: record.delivered_at,
        }
    }
}

impl From<AttemptRecord> for DeliveryAttempt {
    fn from(record: AttemptRecord) -> Self {
        Self {
            started_at: record.started_at,
            duration_ms: record.milliseconds,
            response_status: record.response_status,
            problem: record.problem,
        }
    }
}
