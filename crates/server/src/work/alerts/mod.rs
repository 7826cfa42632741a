//! Alerts: looks at what rules watch, and tells people by mail and Slack; webhooks are told of events like any other.
//!
//! What is to be looked at and what is to be sent is in the store. Whoever takes a rule or a message leases it, so that several
//! servers do it once, and after a kill somebody else does.

mod measure;
mod send;
mod wording;

use std::sync::Arc;
use std::time::{Duration, Instant};

use fullbench_engine::EngineError;
use fullbench_store::{DueAlert, StoreError};
use fullbench_types::{AlertChannel, NotificationStatus};
use jiff::{SignedDuration, Timestamp};

use super::webhooks::Outgoing;
use crate::app::App;
use crate::server::StartError;

/// Rules that are looked at at the same time.
const AT_ONCE: usize = 4;
/// How long looking at a rule may take.
const LONGEST: Duration = Duration::from_secs(240);
/// For how long whoever took a rule has it: longer than looking at it can take.
const LEASE: SignedDuration = SignedDuration::from_secs(LONGEST.as_secs() as i64 + 60);
/// The longest wait before looking whether a rule is due, since somebody may have made or changed one.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// How long a rule is left alone that could not be looked at.
const AFTER_FAILURE: Duration = Duration::from_secs(300);
/// How much longer than it took to look at a rule it is left alone at least.
const REST: u32 = 20;

/// Starts looking and telling.
pub(super) fn start(app: &App) -> Result<(), StartError> {
    let outgoing = Outgoing::new(app.config().allow_private_webhooks);
    let outgoing = Arc::new(outgoing.map_err(StartError::Webhooks)?);
    send::start(app, outgoing);
    for _ in 0..AT_ONCE {
        let app = app.clone();
        app.tasks().clone().spawn(async move { keep_looking(&app).await });
    }
    Ok(())
}

/// Looks at rules until the server stops. Whoever is at one that takes long holds up nobody else.
async fn keep_looking(app: &App) {
    let wait = app.config().alert_every.min(LOOK_AGAIN);
    loop {
        if let Err(error) = look_at_due(app).await {
            tracing::warn!(%error, "rules of alerts could not be read");
        }
        tokio::select! {
            () = app.stop().cancelled() => return,
            () = tokio::time::sleep(wait) => {}
        }
    }
}

/// Looks at one rule after the other until none is due.
async fn look_at_due(app: &App) -> Result<(), StoreError> {
    while !app.stop().is_cancelled() {
        let Some(due) = app.store().take_alert(LEASE).await? else { break };
        let store = app.store().scoped(due.organization);
        let looked = tokio::select! {
            // Another server, or the next one, looks at it.
            () = app.stop().cancelled() => return store.put_back_alert(&due, Timestamp::now()).await,
            looked = tokio::time::timeout(LONGEST, look_at(app, &due)) => looked,
        };
        let result = match looked {
            Ok(Ok(result)) => result,
            Ok(Err(error)) => {
                tracing::warn!(alert = %due.alert.id, %error, "a rule could not be looked at");
                "failed"
            }
            Err(_) => {
                tracing::warn!(alert = %due.alert.id, "looking at a rule took too long");
                "failed"
            }
        };
        metrics::counter!("fullbench_alert_evaluations_total", "result" => result).increment(1);
        if result == "failed" {
            store.put_back_alert(&due, after(AFTER_FAILURE)).await?;
        }
    }
    Ok(())
}

/// Looks at a rule, and keeps what follows; says in a word what came of it.
async fn look_at(app: &App, due: &DueAlert) -> Result<&'static str, EngineError> {
    let store = app.store().scoped(due.organization);
    let (now, started) = (Timestamp::now(), Instant::now());
    let measured = measure::measure(&store, &due.alert, now).await?;
    // A rule that takes long is looked at less often, so that it never takes much of the database's time.
    let next = after(app.config().alert_every.max(started.elapsed() * REST));
    let news = store.note_evaluation(due, measured.as_ref(), now, next).await?;
    if let Some(news) = news {
        tracing::info!(alert = %due.alert.id, %news, "an alert is told");
        if due.alert.to_webhooks {
            metrics::counter!("fullbench_alert_notifications_total",
                "channel" => AlertChannel::Webhooks.as_str(),
                "status" => NotificationStatus::HandedOver.as_str())
            .increment(1);
        }
    }
    Ok(if measured.is_some() { "measured" } else { "no_data" })
}

/// The moment after a wait.
fn after(wait: Duration) -> Timestamp {
    let wait = SignedDuration::try_from(wait).unwrap_or(SignedDuration::MAX);
    Timestamp::now().saturating_add(wait).unwrap_or(Timestamp::MAX)
}
