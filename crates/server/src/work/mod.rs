//! What the server does beside answering: it works on runs by their urgency, writes single evaluations in groups, and looks
//! through uploaded versions of data sets.

mod frozen;
mod launch;
mod queue;
mod runner;
mod singles;
mod streams;
mod validation;
mod writer;

pub(crate) use frozen::{check_valid, frozen, in_background};
pub(crate) use launch::{Wanted, launch};
pub(crate) use queue::{Cancelled, Queue};
pub(crate) use runner::{end, enqueue};
pub(crate) use singles::{AnswerSet, Singles, case_mapping};
pub(crate) use streams::{Streams, Told, written};
pub(crate) use validation::{Reading, engine_format, validate};
pub(crate) use writer::SingleWriter;

use fullbench_engine::EngineError;

use crate::app::App;

/// Takes up what was left to do, and starts everything that is done beside answering.
pub(crate) async fn start(app: &App) -> Result<(), EngineError> {
    streams::start(app);
    validation::start(app).await?;
    runner::start(app).await
}
