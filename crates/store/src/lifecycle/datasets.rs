//! A data set goes with everything that was made with it.

use fullbench_types::{EventKind, RunId, ValidationStatus, VersionStatus};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbBackend, EntityTrait, QueryFilter, TransactionTrait, Value,
};
use uuid::Uuid;

use super::catalogue;
use super::objects::blobs_of;
use super::runs::{Leftover, OPEN, places};
use super::{Removed, RemovedRows};
use crate::connection::ScopedTransaction;
use crate::entity::platform::dataset_version;
use crate::{
    EntityKind, ObjectStore, RunLock, ScopedStore, Store, StoreError, ground_truth_source,
};

/// What went with a data set.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct RemovedDataset {
    /// Rows, by table.
    pub rows: Vec<RemovedRows>,
    /// Uploaded files.
    pub files: u64,
    /// Blobs that nobody else had.
    pub blobs: u64,
}

impl Store {
    /// Removes a data set with its versions, files and cases, the runs on them, and their results, if it is still as the
    /// remover saw it, none of its versions is published, and none of the runs goes on.
    pub async fn remove_dataset(
        &self,
        scoped: &ScopedStore,
        id: Uuid,
        seen: Option<u32>,
    ) -> Result<RemovedDataset, StoreError> {
        let before = scoped.dataset_record(id).await?;
        let (kind, name) = (EntityKind::Dataset, before.name);
        if seen.is_some_and(|seen| seen != before.revision) {
            return Err(StoreError::ChangedMeanwhile { kind, name });
        }
        let tables = catalogue::tables().await?;
        let _held = scoped.lock_pending_versions(Some(id)).await?;
        let transaction = scoped.database.begin().await?;
        // Held until the end: nothing is added to it meanwhile.
        let sql = "UPDATE datasets SET revision = revision \
             WHERE organization_id = $1 AND id = $2 AND revision = $3";
        let values =
            vec![scoped.organization.0.into(), id.into(), i64::from(before.revision).into()];
        if scoped.deleted(&transaction, sql, values).await? == 0 {
            return Err(StoreError::ChangedMeanwhile { kind, name });
        }
        let versions = scoped.versions_in(&transaction, id).await?;
        if versions.iter().any(|version| version.is_published) {
            return Err(StoreError::Immutable { kind, name, reason: "it has a published version" });
        }
        let runs = scoped.runs_of_dataset_in(&transaction, id, &name).await?;
        let (mut removed, mut leftover) = (Removed::default(), Leftover::default());
        for some in runs.chunks(500) {
            let gone = (&mut removed, &mut leftover);
            scoped.remove_runs_in(&transaction, &tables, some, gone).await?;
        }
        scoped.remove_events_in(&transaction, id, &mut removed).await?;
        leftover.contents.extend(versions.iter().filter_map(|version| version.content.clone()));
        for version in &versions {
            leftover.contents.extend(scoped.with_ground_truths_in(&transaction, version).await?);
        }
        removed.add("dataset_versions", versions.len() as u64);
        let sql = "DELETE FROM datasets WHERE organization_id = $1 AND id = $2";
        let values = vec![scoped.organization.0.into(), id.into()];
        removed.add("datasets", scoped.deleted(&transaction, sql, values).await?);
        let manifests = scoped.remove_contents_in(&transaction, &leftover, &mut removed).await?;
        transaction.commit().await?;

        let mut files = 0;
        for version in &versions {
            let key = ObjectStore::dataset_file_key(scoped.organization, &version.file)?;
            scoped.objects.delete_file(&key).await?;
            files += 1;
        }
        let blobs = scoped.remove_unused_blocks(blobs_of(&manifests)).await?;
        Ok(RemovedDataset { rows: removed.sorted(), files, blobs })
    }
}

/// What is to be known of a version that goes.
struct Version {
    is_published: bool,
    file: String,
    content: Option<String>,
    /// How often answers were agreed on.
    ground_truths: u64,
}

impl ScopedStore {
    /// Holds the versions that are still to be looked through, of a data set or of all, so that nobody begins with them and writes
    /// what no longer belongs to anything; refuses where somebody is at it.
    pub(super) async fn lock_pending_versions(
        &self,
        dataset: Option<Uuid>,
    ) -> Result<Vec<RunLock>, StoreError> {
        let mut pending = dataset_version::Entity::find()
            .filter(dataset_version::Column::OrganizationId.eq(self.organization.0))
            .filter(
                dataset_version::Column::ValidationStatus.eq(ValidationStatus::Pending.as_str()),
            );
        if let Some(dataset) = dataset {
            pending = pending.filter(dataset_version::Column::DatasetId.eq(dataset));
        }
        let mut locks = Vec::new();
        for version in pending.all(&self.database).await? {
            let lock = self.lock_run(RunId(version.id)).await.map_err(|error| match error {
                StoreError::RunLocked(_) => StoreError::BeingValidated,
                other => other,
            });
            locks.push(lock?);
        }
        Ok(locks)
    }

    async fn versions_in(
        &self,
        transaction: &ScopedTransaction,
        dataset: Uuid,
    ) -> Result<Vec<Version>, StoreError> {
        let sql = "SELECT status, file_uri, content_hash, ground_truth_revision FROM dataset_versions \
             WHERE organization_id = $1 AND dataset_id = $2";
        let values = vec![self.organization.0.into(), dataset.into()];
        let rows = transaction.query_all_raw(self.statement(sql, values)).await?;
        let version = |row: &sea_orm::QueryResult| {
            let status: String = row.try_get_by_index(0)?;
            Ok(Version {
                is_published: status == VersionStatus::Published.as_str(),
                file: row.try_get_by_index(1)?,
                content: row.try_get_by_index(2)?,
                ground_truths: row.try_get_by_index::<i64>(3)?.max(0) as u64,
            })
        };
        rows.iter().map(version).collect()
    }

    /// The contents that were made of a version with the answers that were agreed on, at any time.
    async fn with_ground_truths_in(
        &self,
        transaction: &ScopedTransaction,
        version: &Version,
    ) -> Result<Vec<String>, StoreError> {
        let content = version.content.as_deref().and_then(|content| content.parse().ok());
        let Some(content) = content else { return Ok(Vec::new()) };
        let sources: Vec<Value> = (1..=version.ground_truths)
            .map(|revision| ground_truth_source(&content, revision).to_string().into())
            .collect();
        let mut made = Vec::new();
        for some in sources.chunks(500) {
            let sql = format!(
                "SELECT content_hash FROM dataset_contents WHERE organization_id = $1 \
                 AND source_hash IN ({})",
                places(2, some.len())
            );
            let mut values: Vec<Value> = vec![self.organization.0.into()];
            values.extend_from_slice(some);
            for row in transaction.query_all_raw(self.statement(sql, values)).await? {
                made.push(row.try_get_by_index(0)?);
            }
        }
        Ok(made)
    }

    /// The runs on versions of a data set, none of which may go on.
    async fn runs_of_dataset_in(
        &self,
        transaction: &ScopedTransaction,
        dataset: Uuid,
        name: &str,
    ) -> Result<Vec<Uuid>, StoreError> {
        let lock = match transaction.get_database_backend() {
            DbBackend::Postgres => "FOR UPDATE",
            _ => "",
        };
        let sql = format!(
            "SELECT id, state IN {OPEN} FROM runs WHERE organization_id = $1 AND dataset_version_id IN \
             (SELECT id FROM dataset_versions WHERE dataset_id = $2) ORDER BY id {lock}"
        );
        let values = vec![self.organization.0.into(), dataset.into()];
        let mut runs = Vec::new();
        for row in transaction.query_all_raw(self.statement(sql, values)).await? {
            if row.try_get_by_index::<bool>(1)? {
                let (kind, name) = (EntityKind::Dataset, name.to_owned());
                return Err(StoreError::InUse { kind, name });
            }
            runs.push(row.try_get_by_index(0)?);
        }
        Ok(runs)
    }

    /// Removes events that tell of a data set, and what is on its way to webhooks of them.
    async fn remove_events_in(
        &self,
        transaction: &ScopedTransaction,
        dataset: Uuid,
        removed: &mut Removed,
    ) -> Result<(), StoreError> {
        let about = "organization_id = $1 AND kind = $2 AND data LIKE $3";
        let values = vec![
            self.organization.0.into(),
            EventKind::DatasetValidated.as_str().into(),
            format!("%{dataset}%").into(),
        ];
        let sql = format!(
            "DELETE FROM webhook_deliveries WHERE organization_id = $1 AND event_number IN \
             (SELECT number FROM events WHERE {about})"
        );
        let deliveries = self.deleted(transaction, sql, values.clone()).await?;
        removed.add("webhook_deliveries", deliveries);
        let sql = format!("DELETE FROM events WHERE {about}");
        removed.add("events", self.deleted(transaction, sql, values).await?);
        Ok(())
    }
}
