//! Evaluations of a data set: started, watched, stopped, gone on with, read and exported.

mod control;
mod export;
mod request;
mod results;
mod status;
mod verdict;

use crate::api::Endpoint;
use crate::problem::{NOT_FOUND, Problem};
use fullbench_store::{RunRecord, ScopedStore, StoreError};
use fullbench_types::{RunId, RunOrigin};
use uuid::Uuid;

pub(super) fn endpoints() -> Vec<Endpoint> {
    let mut endpoints = request::endpoints();
    endpoints.extend(status::endpoints());
    endpoints.extend(control::endpoints());
    endpoints.extend(results::endpoints());
    endpoints.extend(export::endpoints());
    endpoints.extend(verdict::endpoints());
    endpoints
}

/// The batch of this id; runs of the command line on the same store are shown as well.
async fn batch_run(store: &ScopedStore, id: Uuid) -> Result<RunRecord, Problem> {
    let none = || Problem::new(NOT_FOUND, format!("there is no batch `{id}`"));
    match store.run(RunId(id)).await {
        Ok(run) if matches!(run.order.origin, RunOrigin::Batch | RunOrigin::CommandLine) => Ok(run),
        Ok(_) | Err(StoreError::RunNotFound(_)) => Err(none()),
        Err(error) => Err(error.into()),
    }
}
