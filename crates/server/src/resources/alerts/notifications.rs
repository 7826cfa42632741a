//! What was told of a rule, and trying its channels out.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Json, Response};
use fullbench_store::NotificationRecord;
use fullbench_types::{Action, AlertChannel, AlertNews, NotificationStatus};
use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::TAG;
use crate::access::Caller;
use crate::api::Endpoint;
use crate::extract::{PageQuery, PathParts, Query, has_more, page};
use crate::problem::{CONFLICT, Problem, TOO_MANY};

/// How often the channels of a rule can be tried out: nobody's mailbox is filled by it.
const TEST_EVERY: SignedDuration = SignedDuration::from_secs(60);

/// What was told of a rule in one way, or is to be.
#[derive(Serialize, JsonSchema)]
struct AlertNotification {
    notification_id: Uuid,
    /// What is told.
    news: AlertNews,
    channel: AlertChannel,
    /// Whom mail goes to.
    recipient: Option<String>,
    /// The value when it was told; null where it was not known.
    value: Option<f64>,
    status: NotificationStatus,
    /// How often it was tried.
    attempts: u32,
    /// When it is tried again.
    next_attempt_at: Option<Timestamp>,
    /// What went wrong the last time.
    problem: Option<String>,
    /// The event that webhooks are sent; `/v1/webhook-deliveries` has what came of it.
    event_id: Option<u64>,
    created_at: Timestamp,
    delivered_at: Option<Timestamp>,
}

/// A page of what was told.
#[derive(Serialize, JsonSchema)]
struct AlertNotifications {
    /// The newest first.
    notifications: Vec<AlertNotification>,
    /// How many there are in all.
    total: u64,
    /// There are more after these.
    has_more: bool,
}

/// What was asked to be sent.
#[derive(Serialize, JsonSchema)]
struct AlertTest {
    /// Messages: one for webhooks, one for each address of mail, one for Slack.
    notifications: u64,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let tested = "Sends a message that says it is a test to every channel of the rule, as it would be if it fired; webhooks are sent \
        `alert.firing` with `news` being `test`. Once a minute at most.";
    let log = "The newest first. What is older than 90 days is removed when something new is told.";
    vec![
        Endpoint::post("/v1/alerts/{alert_id}/test", "test_alert", Action::ChangeAlerts, test)
            .about(TAG, "Try the channels of a rule out", tested)
            .gives::<AlertTest>(202, "It is being sent"),
        Endpoint::get(
            "/v1/alerts/{alert_id}/notifications",
            "list_alert_notifications",
            Action::ReadAlerts,
            list,
        )
        .about(TAG, "What was told of a rule", log)
        .query::<PageQuery>()
        .gives::<AlertNotifications>(200, "A page of what was told"),
    ]
}

async fn test(caller: Caller, PathParts(id): PathParts<Uuid>) -> Result<Response, Problem> {
    let alert = caller.store.alert(id).await?;
    if !alert.to_webhooks && alert.emails.is_empty() && alert.slack.is_none() {
        let problem = Problem::new(CONFLICT, "the rule tells nobody");
        return Err(problem.hint("give it `channels` first"));
    }
    let last = caller.store.last_alert_test(id).await?;
    let rest = last.map(|last| TEST_EVERY - Timestamp::now().duration_since(last));
    if let Some(rest) = rest.filter(SignedDuration::is_positive) {
        let seconds = rest.as_secs().max(0) as u64 + 1;
        let problem = Problem::new(TOO_MANY, "the channels were tried out a moment ago");
        return Err(problem.hint(format!("try again in {seconds} s")).retry_after(seconds));
    }
    let notifications = caller.store.test_alert(id).await?;
    Ok((StatusCode::ACCEPTED, Json(AlertTest { notifications })).into_response())
}

async fn list(
    caller: Caller,
    PathParts(id): PathParts<Uuid>,
    Query(query): Query<PageQuery>,
) -> Result<Json<AlertNotifications>, Problem> {
    let page = page(query.limit, query.offset)?;
    let (records, total) = caller.store.alert_notifications(id, page).await?;
    let notifications = records.into_iter().map(AlertNotification::from).collect();
    Ok(Json(AlertNotifications { notifications, total, has_more: has_more(page, total) }))
}

impl From<NotificationRecord> for AlertNotification {
    fn from(record: NotificationRecord) -> Self {
        let is_open = record.status == NotificationStatus::Pending;
        Self {
            notification_id: record.id,
            news: record.news,
            channel: record.channel,
            recipient: record.recipient,
            value: record.message.value,
            status: record.status,
            attempts: record.attempts,
            next_attempt_at: is_open.then_some(record.due_at),
            problem: record.problem,
            event_id: record.event,
            created_at: record.created_at,
            delivered_at: record.delivered_at,
        }
    }
}
