//! What the server does beside answering: it works on runs by their urgency, writes single evaluations in groups, looks
//! through uploaded versions of data sets, tells webhooks of events, looks at what alerts watch, and removes what is too old or to be erased.

mod again;
mod alerts;
mod erasure;
mod frozen;
mod launch;
mod ongoing;
mod queue;
mod reports;
mod retention;
mod runner;
mod singles;
mod streams;
mod validation;
pub(crate) mod webhooks;
mod writer;

pub(crate) use again::until_answered;
pub(crate) use erasure::erase;
pub(crate) use frozen::{check_valid, frozen, in_background};
pub(crate) use launch::{Wanted, go_on, launch, launched};
pub(crate) use ongoing::Ongoing;
pub(crate) use queue::Queue;
pub(crate) use reports::Reports;
pub(crate) use runner::{cancel, end, enqueue};
pub(crate) use singles::{AnswerSet, Singles, case_mapping};
pub(crate) use streams::{Listener, Streams, Told, written};
pub(crate) use validation::{Reading, engine_format, validate};
pub(crate) use writer::SingleWriter;

use crate::app::App;
use crate::server::StartError;

/// Takes up what was left to do, and starts everything that is done beside answering.
pub(crate) async fn start(app: &App) -> Result<(), StartError> {
    streams::start(app);
    webhooks::start(app)?;
    alerts::start(app)?;
    retention::start(app);
    validation::start(app).await?;
    Ok(runner::start(app).await?)
}
