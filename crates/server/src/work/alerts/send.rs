//! Sends messages of alerts by mail and to Slack: several at a time, again and again with longer and longer waits.

use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;
use fullbench_store::{AfterAttempt, DueNotification, NotificationRecord, ScopedStore, StoreError};
use fullbench_types::AlertChannel;
use futures::StreamExt;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::super::webhooks::{Outgoing, TIMEOUT, again};
use super::wording;
use crate::app::App;
use crate::mail::{Letter, WHOLE_TRY};

/// Messages that are sent at the same time.
const AT_ONCE: usize = 16;
/// For how long whoever took a message has it: longer than trying all that were taken with it can last.
const LEASE: SignedDuration =
    SignedDuration::from_secs(WHOLE_TRY.as_secs() as i64 + TIMEOUT.as_secs() as i64);
/// The longest wait before looking again, since another process may have added something.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// Letters of what went wrong that are kept.
const KEPT: usize = 500;

/// What came of a try.
struct Tried {
    problem: Option<String>,
    after: AfterAttempt,
}

/// Starts the sending.
pub(super) fn start(app: &App, outgoing: Arc<Outgoing>) {
    let app = app.clone();
    app.tasks().clone().spawn(async move {
        loop {
            let wait = match send_due(&app, &outgoing).await {
                Ok(wait) => wait,
                Err(error) => {
                    tracing::warn!(%error, "messages of alerts could not be read");
                    LOOK_AGAIN
                }
            };
            tokio::select! {
                () = app.stop().cancelled() => return,
                () = app.store().notification_added() => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
    });
}

/// Sends everything that is due, and says how long there is nothing to do.
async fn send_due(app: &App, outgoing: &Outgoing) -> Result<Duration, StoreError> {
    while !app.stop().is_cancelled() {
        let due = app.store().take_notifications(AT_ONCE as u64, LEASE).await?;
        if due.is_empty() {
            break;
        }
        let sending = futures::stream::iter(due).for_each_concurrent(AT_ONCE, async |one| {
            if let Err(error) = try_once(app, outgoing, &one).await {
                let notification = one.notification.id;
                tracing::warn!(%notification, %error, "a try to tell of an alert could not be kept");
            }
        });
        sending.await;
    }
    let next = app.store().next_notification_at().await?;
    let wait = next.map_or(SignedDuration::MAX, |next| next.duration_since(Timestamp::now()));
    let wait = Duration::try_from(wait).unwrap_or(Duration::ZERO);
    Ok(wait.clamp(Duration::from_millis(10), LOOK_AGAIN))
}

async fn try_once(app: &App, outgoing: &Outgoing, due: &DueNotification) -> Result<(), StoreError> {
    let store = app.store().scoped(due.organization);
    let notification = &due.notification;
    let Tried { problem, after } = match notification.channel {
        AlertChannel::Email => by_mail(app, notification).await,
        AlertChannel::Slack => to_slack(app, outgoing, &store, notification).await,
        AlertChannel::Webhooks => given_up("webhooks are sent events"),
    };
    let status = match after {
        AfterAttempt::Delivered => "delivered",
        AfterAttempt::RetryAt(_) => "retried",
        AfterAttempt::GivenUp => "failed",
    };
    let channel = notification.channel.as_str();
    metrics::counter!("fullbench_alert_notifications_total",
        "channel" => channel, "status" => status)
    .increment(1);
    if let Some(problem) = &problem {
        let (alert, tries) = (notification.alert, notification.attempts + 1);
        tracing::warn!(%alert, channel, tries, status, problem, "an alert could not be told");
    }
    store.note_notification(notification, problem, after).await
}

async fn by_mail(app: &App, notification: &NotificationRecord) -> Tried {
    let Some(mailer) = app.mailer() else { return given_up("no mail is set up") };
    let message = &notification.message;
    let to = notification.recipient.as_deref().unwrap_or_default();
    let letter = Letter::news(to, &wording::subject(message), wording::text(message));
    match mailer.deliver(letter).await {
        Ok(()) => Tried { problem: None, after: AfterAttempt::Delivered },
        Err(undelivered) if undelivered.is_permanent => given_up(&undelivered.problem),
        Err(undelivered) => {
            let after = again(app, notification.id, notification.attempts, None);
            Tried { problem: Some(shortened(&undelivered.problem)), after }
        }
    }
}

async fn to_slack(
    app: &App,
    outgoing: &Outgoing,
    store: &ScopedStore,
    notification: &NotificationRecord,
) -> Tried {
    let url = match store.alert_slack_url(notification.alert).await {
        Ok(Some(url)) => url,
        Ok(None) => return given_up("the rule tells no channel of Slack any more"),
        Err(StoreError::KeysDeleted) => return given_up("the key that sealed the address is gone"),
        Err(error) => {
            let after = again(app, notification.id, notification.attempts, None);
            return Tried { problem: Some(shortened(&error.to_string())), after };
        }
    };
    let body = json!({ "text": wording::slack_text(&notification.message) });
    let body = body.to_string().into_bytes();
    let posted = outgoing.post(url.reveal(), HeaderMap::new(), body).await;
    let is_gone = posted.is_gone();
    match posted.problem {
        None => Tried { problem: None, after: AfterAttempt::Delivered },
        Some(problem) if is_gone => given_up(&problem),
        Some(problem) => {
            let after = again(app, notification.id, notification.attempts, posted.wish);
            Tried { problem: Some(shortened(&problem)), after }
        }
    }
}

fn given_up(problem: &str) -> Tried {
    Tried { problem: Some(shortened(problem)), after: AfterAttempt::GivenUp }
}

fn shortened(problem: &str) -> String {
    problem.chars().take(KEPT).collect()
}
