//! Runs as lists and statuses show them, whatever asked for them.

mod view;

pub(crate) use view::{RunView, progress_of, views};
