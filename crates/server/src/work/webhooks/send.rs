//! One try to send an event, signed.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use fullbench_store::{AttemptRecord, DueDelivery, ScopedStore, StoreError, WebhookRecord};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::client::Outgoing;
use crate::secrets::WebhookSecret;

/// For how long the secret before a change signs as well.
const OVERLAP: SignedDuration = SignedDuration::from_hours(24);

/// What came of a try.
pub(super) struct Outcome {
    pub(super) attempt: AttemptRecord,
    pub(super) url: String,
    /// The receiver wants nothing more.
    pub(super) is_gone: bool,
    /// For how long the receiver asks to be left alone.
    pub(super) wish: Option<SignedDuration>,
}

impl Outcome {
    pub(super) fn is_delivered(&self) -> bool {
        self.attempt.problem.is_none()
    }
}

/// Sends an event once.
pub(super) async fn send(
    outgoing: &Outgoing,
    store: &ScopedStore,
    due: &DueDelivery,
) -> Result<Outcome, StoreError> {
    let secrets = secrets_that_sign(store, due).await?;
    let started_at = Timestamp::now();
    let url = due.webhook.as_ref().map_or(&due.delivery.url, |webhook| &webhook.url).clone();
    let body = body_of(due);
    let headers = signed(due, started_at, &secrets, &body);
    let posted = outgoing.post(&url, headers, body).await;
    let is_gone = posted.is_gone();
    let attempt = AttemptRecord {
        started_at,
        milliseconds: posted.milliseconds,
        response_status: posted.status.map(|status| status.as_u16()),
        problem: posted.problem,
    };
    Ok(Outcome { attempt, url, is_gone, wish: posted.wish })
}

fn body_of(due: &DueDelivery) -> Vec<u8> {
    let event = &due.event;
    let body = json!({
        "type": event.kind,
        "timestamp": event.created_at,
        "event_id": event.number,
        "run_id": event.run,
        "data": event.data,
    });
    body.to_string().into_bytes()
}

/// The headers of Standard Webhooks.
fn signed(due: &DueDelivery, now: Timestamp, secrets: &[WebhookSecret], body: &[u8]) -> HeaderMap {
    let id = due.delivery.id.to_string();
    let sign = |secret: &WebhookSecret| secret.signature(&id, now.as_second(), body);
    let signatures = secrets.iter().map(sign).collect::<Vec<_>>().join(" ");
    let mut headers = HeaderMap::new();
    for (name, value) in [
        (HeaderName::from_static("webhook-timestamp"), now.as_second().to_string()),
        (HeaderName::from_static("webhook-signature"), signatures),
        (HeaderName::from_static("webhook-id"), id),
    ] {
        // Numbers, UUIDs and Base64 are always values of headers.
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
    headers
}

/// The secret of the webhook, and the one before for a while after a change.
async fn secrets_that_sign(
    store: &ScopedStore,
    due: &DueDelivery,
) -> Result<Vec<WebhookSecret>, StoreError> {
    let Some(webhook) = &due.webhook else {
        return Ok(vec![WebhookSecret::of_batches(store).await?]);
    };
    let mut secrets = Vec::new();
    for number in numbers_that_sign(webhook, Timestamp::now()) {
        secrets.push(WebhookSecret::of_webhook(store, webhook.id, number).await?);
    }
    Ok(secrets)
}

fn numbers_that_sign(webhook: &WebhookRecord, now: Timestamp) -> impl Iterator<Item = u32> + use<> {
    let number = webhook.secret_number;
    let is_fresh =
        webhook.secret_changed_at.is_some_and(|changed| now.duration_since(changed) < OVERLAP);
    [Some(number), (is_fresh && number > 1).then(|| number - 1)].into_iter().flatten()
}
