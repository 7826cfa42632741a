//! What the server does beside answering: it works on runs by their urgency, writes single evaluations in groups, and looks
//! through uploaded versions of data sets.

mod queue;
mod runner;
mod singles;
mod validation;
mod writer;

pub(crate) use queue::{Cancelled, Queue};
pub(crate) use runner::{end, enqueue, start};
pub(crate) use singles::{AnswerSet, Singles, case_mapping};
pub(crate) use validation::{Reading, engine_format, validate};
pub(crate) use writer::SingleWriter;
