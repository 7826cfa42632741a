//! Data sets: named, uploaded in versions that are looked through, published, and never changed after that.

mod cases;
mod diff;
mod download;
mod entity;
mod form_heads;
mod ground_truth;
mod sample;
mod upload;
mod versions;

use std::sync::Arc;

use fullbench_store::{CaseReader, ScopedStore, VersionRecord};
use uuid::Uuid;

use crate::api::Endpoint;
use crate::problem::Problem;
use crate::work::check_valid;

/// The group that all of them are shown in.
const TAG: &str = "datasets";
/// How much of a list can be left out at most.
const MAX_OFFSET: u64 = 1_000_000_000;
/// The largest whole number that every reader of JSON keeps exactly.
const MAX_EXACT: u64 = (1 << 53) - 1;

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let mut endpoints = entity::endpoints();
    endpoints.extend(upload::endpoints());
    endpoints.extend(versions::endpoints());
    endpoints.extend(cases::endpoints());
    endpoints.extend(ground_truth::endpoints());
    endpoints.extend(sample::endpoints());
    endpoints.extend(download::endpoints());
    endpoints.extend(diff::endpoints());
    endpoints
}

/// Refuses a page that is larger or farther away than there are.
fn check_page(limit: u64, most: u64, offset: u64) -> Result<(), Problem> {
    if !(1..=most).contains(&limit) {
        return Err(Problem::field("limit", format!("use 1 to {most}")));
    }
    if offset > MAX_OFFSET {
        return Err(Problem::field("offset", format!("use 0 to {MAX_OFFSET}")));
    }
    Ok(())
}

/// Refuses a text that is too long, or too short.
fn check_text(field: &str, text: &str, least: usize, most: usize) -> Result<(), Problem> {
    let is_blank = least > 0 && text.trim().is_empty();
    if is_blank || text.chars().count() > most {
        return Err(Problem::field(field, format!("use {least} to {most} letters")));
    }
    Ok(())
}

/// A version whose rows are all cases.
async fn valid_version(
    store: &ScopedStore,
    dataset: Uuid,
    number: u32,
) -> Result<VersionRecord, Problem> {
    let version = store.version_of(dataset, number).await?;
    check_valid(&version)?;
    Ok(version)
}

/// A reader of the frozen cases of a version.
async fn reader(store: &ScopedStore, version: &VersionRecord) -> Result<CaseReader, Problem> {
    let content = check_valid(version)?;
    let mut cases = store.cases(Arc::new(store.dataset(&content).await?)).await?;
    if cases.version().cases > 0 {
        // What is gone is told before anything is given.
        cases.case(0)?;
    }
    Ok(cases)
}
