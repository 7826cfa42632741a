//! `fullbench criterion`, `fullbench threshold` and `fullbench judge`: what is judged, where the mark is, and by whom.

mod analytics;
mod check;
pub(crate) mod criterion;
pub(crate) mod judge;
mod suggest;
pub(crate) mod threshold;

use fullbench_judge::{builtin, builtin_criteria};
use fullbench_store::{CriterionRecord, ScopedStore, StoreError};
use fullbench_types::Criterion;
use jiff::Timestamp;

use crate::failure::CliError;

/// A criterion by its name: the user's, or a built-in one.
async fn criterion_of(store: &ScopedStore, name: &str) -> Result<Criterion, CliError> {
    match store.criterion(name).await {
        Ok(record) => Ok(record.criterion),
        Err(StoreError::NameNotFound { .. }) => built_in_criterion(name),
        Err(other) => Err(other.into()),
    }
}

fn built_in_criterion(name: &str) -> Result<Criterion, CliError> {
    builtin(name).cloned().ok_or_else(|| {
        let names: Vec<&str> = builtin_criteria().iter().map(|one| one.name.as_str()).collect();
        let names = names.join(", ");
        let hint = format!("built in are {names}; add yours with `fullbench criterion add`");
        CliError::input(format!("there is no criterion `{name}`"), Some(hint))
    })
}

/// A criterion in the store; a built-in one is put there when it is first needed.
async fn stored_criterion(store: &ScopedStore, name: &str) -> Result<CriterionRecord, CliError> {
    let criterion = criterion_of(store, name).await?;
    match store.criterion(name).await {
        Ok(record) => Ok(record),
        Err(StoreError::NameNotFound { .. }) => {
            Ok(store.keep_built_in_criterion(&criterion).await?)
        }
        Err(other) => Err(other.into()),
    }
}

/// A time as tables show it.
fn time(time: Timestamp) -> String {
    time.to_string().chars().take(19).collect::<String>().replace('T', " ")
}
