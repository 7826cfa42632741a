//! Runs, whatever asked for them: whole evaluations, their numbers, and how lists and statuses show them.

mod create;
mod reader;
mod report;
mod view;

use crate::api::Endpoint;

pub(crate) use reader::{ResultView, RunReader};
pub(crate) use view::{RunView, completed_units, progress_of, views};

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let mut endpoints = create::endpoints();
    endpoints.extend(report::endpoints());
    endpoints
}
