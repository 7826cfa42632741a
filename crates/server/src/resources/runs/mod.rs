//! Runs as lists and statuses show them, whatever asked for them.

mod reader;
mod view;

pub(crate) use reader::{ResultView, RunReader};
pub(crate) use view::{RunView, completed_units, progress_of, views};
