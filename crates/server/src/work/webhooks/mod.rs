//! Sends events to webhooks: several at a time, again and again with longer and longer waits until they arrive.
//!
//! What is to be sent is in the store. Whoever takes a delivery leases it, so that after a kill somebody else takes it: an event
//! may be sent twice, with the same id, and is never forgotten.

mod address;
mod client;
mod send;

use std::sync::Arc;
use std::time::Duration;

use fullbench_store::{AfterAttempt, AttemptRecord, DueDelivery, StoreError};
use jiff::{SignedDuration, Timestamp};
use tokio::sync::Semaphore;

pub(crate) use address::problem_of;
pub(crate) use client::{Outgoing, TIMEOUT};
use send::{Outcome, send};
use uuid::Uuid;

use crate::app::App;
use crate::server::StartError;

/// Events that are sent at the same time.
const AT_ONCE: usize = 64;
/// For how long whoever took a delivery has it: longer than a try can last.
const LEASE: SignedDuration = SignedDuration::from_secs(TIMEOUT.as_secs() as i64 + 15);
/// The longest wait before looking again, since another process may have added something.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// Starts the sending.
pub(super) fn start(app: &App) -> Result<(), StartError> {
    let outgoing = Outgoing::new(app.config().allow_private_webhooks);
    let outgoing = Arc::new(outgoing.map_err(StartError::Webhooks)?);
    let app = app.clone();
    app.tasks().clone().spawn(async move {
        let places = Arc::new(Semaphore::new(AT_ONCE));
        loop {
            let wait = match send_due(&app, &outgoing, &places).await {
                Ok(wait) => wait,
                Err(error) => {
                    tracing::warn!(%error, "deliveries could not be read");
                    LOOK_AGAIN
                }
            };
            tokio::select! {
                () = app.stop().cancelled() => return,
                () = app.store().delivery_added() => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
    });
    Ok(())
}

/// Sends what is due as far as there is room, and says how long there is nothing to do.
async fn send_due(
    app: &App,
    outgoing: &Arc<Outgoing>,
    places: &Arc<Semaphore>,
) -> Result<Duration, StoreError> {
    loop {
        let Ok(first) = places.clone().acquire_owned().await else { return Ok(LOOK_AGAIN) };
        if app.stop().is_cancelled() {
            return Ok(LOOK_AGAIN);
        }
        let room = 1 + places.available_permits();
        let due = app.store().take_deliveries(room as u64, LEASE).await?;
        if due.is_empty() {
            break;
        }
        let mut first = Some(first);
        for one in due {
            let place = match first.take() {
                Some(place) => place,
                None => match places.clone().acquire_owned().await {
                    Ok(place) => place,
                    Err(_) => return Ok(LOOK_AGAIN),
                },
            };
            let (app, outgoing) = (app.clone(), outgoing.clone());
            app.tasks().clone().spawn(async move {
                if let Err(error) = try_once(&app, &outgoing, &one).await {
                    tracing::warn!(delivery = %one.delivery.id, %error, "a try could not be kept");
                }
                drop(place);
            });
        }
    }
    let next = app.store().next_delivery_at().await?;
    let wait = next.map_or(SignedDuration::MAX, |next| next.duration_since(Timestamp::now()));
    let wait = Duration::try_from(wait).unwrap_or(Duration::ZERO);
    Ok(wait.clamp(Duration::from_millis(10), LOOK_AGAIN))
}

async fn try_once(app: &App, outgoing: &Outgoing, due: &DueDelivery) -> Result<(), StoreError> {
    let store = app.store().scoped(due.delivery.organization);
    if let Some(problem) = unwanted(due) {
        let attempt = AttemptRecord {
            started_at: Timestamp::now(),
            milliseconds: 0,
            response_status: None,
            problem: Some(problem.to_owned()),
        };
        let url = due.delivery.url.as_str();
        return store.note_attempt(&due.delivery, url, attempt, AfterAttempt::GivenUp).await;
    }
    let outcome = send(outgoing, &store, due).await?;
    let result = if outcome.attempt.problem.is_none() { "taken" } else { "failed" };
    metrics::counter!("fullbench_webhook_tries_total", "result" => result).increment(1);
    let after = after(app, due, &outcome);
    store.note_attempt(&due.delivery, &outcome.url, outcome.attempt, after).await?;
    if let (true, Some(webhook)) = (outcome.is_gone, &due.webhook) {
        store.disable_webhook(webhook.id, "the receiver answered 410 Gone").await?;
    }
    Ok(())
}

/// Why a delivery is not sent at all.
fn unwanted(due: &DueDelivery) -> Option<&'static str> {
    match (&due.webhook, due.delivery.webhook) {
        (None, Some(_)) => Some("the webhook was removed"),
        (Some(webhook), _) if !webhook.enabled => Some("the webhook is disabled"),
        _ => None,
    }
}

fn after(app: &App, due: &DueDelivery, outcome: &Outcome) -> AfterAttempt {
    if outcome.is_delivered() {
        return AfterAttempt::Delivered;
    }
    let tried = due.delivery.attempts.saturating_sub(due.delivery.attempts_before);
    match outcome.is_gone {
        true => AfterAttempt::GivenUp,
        false => again(app, due.delivery.id, tried, outcome.wish),
    }
}

/// When something is tried again that was tried so often before, after a longer and longer wait, or as late as the receiver
/// wishes; in the end it is given up.
pub(crate) fn again(app: &App, id: Uuid, tried: u32, wish: Option<SignedDuration>) -> AfterAttempt {
    let Some(wait) = app.config().webhook_waits.get(tried as usize) else {
        return AfterAttempt::GivenUp;
    };
    // Up to a tenth more, so that not everything comes again at once: the last bits of an id are random.
    let share = f64::from(id.as_bytes()[15]) / 255.0;
    let wait = SignedDuration::try_from(wait.mul_f64(1.0 + 0.1 * share));
    let wait = wait.unwrap_or(SignedDuration::MAX).max(wish.unwrap_or(SignedDuration::ZERO));
    AfterAttempt::RetryAt(Timestamp::now().saturating_add(wait).unwrap_or(Timestamp::MAX))
}
