//! Evaluations: of one answer at once, or of a data set as a batch.

mod list;
mod shapes;
mod single;
mod view;

use crate::api::Endpoint;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let mut endpoints = single::endpoints();
    endpoints.extend(list::endpoints());
    endpoints
}
