//! One try to send an event.

use std::time::{Duration, Instant};

use axum::http::{HeaderMap, StatusCode, header};
use fullbench_store::{AttemptRecord, DueDelivery, ScopedStore, StoreError, WebhookRecord};
use jiff::{SignedDuration, Timestamp};
use reqwest::{Client, redirect};
use serde_json::json;

use super::address::{self, PublicNames};
use crate::secrets::WebhookSecret;

/// How long a receiver may take.
pub(super) const TIMEOUT: Duration = Duration::from_secs(15);
/// For how long the secret before a change signs as well.
const OVERLAP: SignedDuration = SignedDuration::from_hours(24);
/// The longest that a receiver can ask to be left alone for.
const LONGEST_WISH: SignedDuration = SignedDuration::from_hours(1);

/// Sends events to webhooks.
pub(super) struct Sender {
    client: Client,
    allow_private: bool,
}

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

impl Sender {
    pub(super) fn new(allow_private: bool) -> Result<Self, String> {
        // Another part of the program may have been first.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .user_agent(concat!("fullbench/", env!("CARGO_PKG_VERSION")))
            .timeout(TIMEOUT)
            .connect_timeout(Duration::from_secs(5))
            // A proxy or another address would be reached without having been checked.
            .no_proxy()
            .redirect(redirect::Policy::none())
            .dns_resolver(PublicNames { allow_private })
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Self { client, allow_private })
    }

    /// Sends an event once.
    pub(super) async fn send(
        &self,
        store: &ScopedStore,
        due: &DueDelivery,
    ) -> Result<Outcome, StoreError> {
        let secrets = secrets_that_sign(store, due).await?;
        let started_at = Timestamp::now();
        let started = Instant::now();
        let url = due.webhook.as_ref().map_or(&due.delivery.url, |webhook| &webhook.url).clone();
        let answer = match address::problem_of(&url, self.allow_private) {
            Some(problem) => Err(problem.to_owned()),
            None => self.post(&url, due, started_at, &secrets).await,
        };
        let milliseconds = started.elapsed().as_millis() as u64;
        let (status, problem, wish) = match answer {
            Ok((status, _)) if status.is_success() => (Some(status), None, None),
            Ok((status, wish)) if status.is_redirection() => {
                (Some(status), Some("the answer is a redirect, which is not followed".into()), wish)
            }
            Ok((status, wish)) => (Some(status), Some(format!("the answer is {status}")), wish),
            Err(problem) => (None, Some(problem), None),
        };
        let response_status = status.map(|status| status.as_u16());
        Ok(Outcome {
            attempt: AttemptRecord { started_at, milliseconds, response_status, problem },
            url,
            is_gone: status == Some(StatusCode::GONE),
            wish,
        })
    }

    async fn post(
        &self,
        url: &str,
        due: &DueDelivery,
        now: Timestamp,
        secrets: &[WebhookSecret],
    ) -> Result<(StatusCode, Option<SignedDuration>), String> {
        let DueDelivery { delivery, event, .. } = due;
        let body = json!({
            "type": event.kind,
            "timestamp": event.created_at,
            "event_id": event.number,
            "run_id": event.run,
            "data": event.data,
        });
        let body = body.to_string().into_bytes();
        let id = delivery.id.to_string();
        let sign = |secret: &WebhookSecret| secret.signature(&id, now.as_second(), &body);
        let signatures = secrets.iter().map(sign).collect::<Vec<_>>().join(" ");
        let request = self
            .client
            .post(url)
            .header(header::CONTENT_TYPE, "application/json")
            .header("webhook-id", &id)
            .header("webhook-timestamp", now.as_second().to_string())
            .header("webhook-signature", signatures)
            .body(body);
        let response = request.send().await.map_err(|error| said(&error))?;
        Ok((response.status(), wish_of(response.headers())))
    }
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

fn wish_of(headers: &HeaderMap) -> Option<SignedDuration> {
    let seconds: u32 = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(SignedDuration::from_secs(seconds.into()).min(LONGEST_WISH))
}

/// What went wrong, without the URL, which may hold a token.
fn said(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return format!("no answer within {} s", TIMEOUT.as_secs());
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    match error.is_connect() {
        true => format!("no connection: {cause}"),
        false => format!("no answer: {cause}"),
    }
}
