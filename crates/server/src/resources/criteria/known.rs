//! Criteria by their names: those in the store, and built-in ones that nobody has used yet.

use fullbench_judge::{builtin, builtin_criteria};
use fullbench_store::{CriterionRecord, CriterionSource, EntityKind, ScopedStore, StoreError};
use fullbench_types::Criterion;
use jiff::Timestamp;
use uuid::Uuid;

use crate::problem::Problem;

/// A criterion, in the store or not.
pub(crate) struct KnownCriterion {
    /// None for a built-in one that nobody has used yet.
    pub(crate) id: Option<Uuid>,
    pub(crate) criterion: Criterion,
    pub(crate) revision: u32,
    pub(crate) source: CriterionSource,
    pub(crate) created_at: Option<Timestamp>,
    pub(crate) updated_at: Option<Timestamp>,
}

impl From<CriterionRecord> for KnownCriterion {
    fn from(record: CriterionRecord) -> Self {
        Self {
            id: Some(record.id),
            criterion: record.criterion,
            revision: record.revision,
            source: record.source,
            created_at: Some(record.created_at),
            updated_at: Some(record.updated_at),
        }
    }
}

impl From<&Criterion> for KnownCriterion {
    fn from(criterion: &Criterion) -> Self {
        Self {
            id: None,
            criterion: criterion.clone(),
            revision: 1,
            source: CriterionSource::BuiltIn,
            created_at: None,
            updated_at: None,
        }
    }
}

/// All criteria by name.
pub(crate) async fn all_criteria(store: &ScopedStore) -> Result<Vec<KnownCriterion>, Problem> {
    let mut all: Vec<KnownCriterion> =
        store.criteria().await?.into_iter().map(KnownCriterion::from).collect();
    for criterion in builtin_criteria() {
        if !all.iter().any(|known| known.criterion.name == criterion.name) {
            all.push(criterion.into());
        }
    }
    all.sort_by(|first, second| first.criterion.name.cmp(&second.criterion.name));
    Ok(all)
}

/// The criterion of this name: the organization's, or a built-in one.
pub(crate) async fn known_criterion(
    store: &ScopedStore,
    name: &str,
) -> Result<KnownCriterion, Problem> {
    match store.criterion(name).await {
        Ok(record) => Ok(record.into()),
        Err(StoreError::NameNotFound { .. }) => {
            builtin(name).map(KnownCriterion::from).ok_or_else(|| not_found(name))
        }
        Err(error) => Err(error.into()),
    }
}

/// The criterion of this name in the store; a built-in one is put there when it is first needed.
pub(crate) async fn stored_criterion(
    store: &ScopedStore,
    name: &str,
) -> Result<CriterionRecord, Problem> {
    let missing = match store.criterion(name).await {
        Err(StoreError::NameNotFound { .. }) => builtin(name).ok_or_else(|| not_found(name))?,
        other => return Ok(other?),
    };
    match store.keep_built_in_criterion(missing).await {
        // Another request put it there.
        Err(StoreError::ChangedMeanwhile { .. }) => Ok(store.criterion(name).await?),
        other => Ok(other?),
    }
}

fn not_found(name: &str) -> Problem {
    let (kind, name) = (EntityKind::Criterion, name.to_owned());
    Problem::from(StoreError::NameNotFound { kind, name }).hint("GET /v1/criteria lists them")
}
