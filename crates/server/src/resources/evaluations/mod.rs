//! Evaluations: of one answer at once, or of a data set as a batch.

mod batch;
mod list;
mod metrics;
mod scoring;
pub(crate) mod shapes;
mod single;
mod view;

pub(crate) use metrics::wanted_metrics;
pub(crate) use scoring::Single;
pub(crate) use single::USUAL_TIMEOUT_MS;
pub(crate) use view::MetricResult;

use crate::api::Endpoint;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let mut endpoints = single::endpoints();
    endpoints.extend(batch::endpoints());
    endpoints.extend(list::endpoints());
    endpoints
}
