//! What the server does beside answering: it works on runs by their urgency, and writes single evaluations in groups.

mod queue;
mod runner;
mod singles;
mod writer;

pub(crate) use queue::{Cancelled, Queue};
pub(crate) use runner::{end, enqueue, start};
pub(crate) use singles::{AnswerSet, Singles, case_mapping};
pub(crate) use writer::SingleWriter;
