//! What the server does beside answering: it works on runs by their urgency, and writes single evaluations in groups.

mod launch;
mod queue;
mod runner;
mod singles;
mod streams;
mod writer;

pub(crate) use launch::{Wanted, frozen, launch};
pub(crate) use queue::{Cancelled, Queue};
pub(crate) use runner::{end, enqueue};
pub(crate) use singles::{AnswerSet, Singles, case_mapping};
pub(crate) use streams::{Streams, Told, written};
pub(crate) use writer::SingleWriter;

use fullbench_engine::EngineError;

use crate::app::App;

/// Takes up what was left to do, and starts everything that is done beside answering.
pub(crate) async fn start(app: &App) -> Result<(), EngineError> {
    streams::start(app);
    runner::start(app).await
}
