//! Versions of data sets: uploaded, looked through, published, deprecated.

use fullbench_types::{ContentHash, FileFormat, ValidationStatus, VersionStatus};
use jiff::Timestamp;
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter,
    QueryOrder, QuerySelect, Select, TransactionTrait,
};
use serde_json::Value;
use uuid::Uuid;

use super::organizations::lock_organization;
use super::{Page, from_json, time, to_json, word};
use crate::entity::platform::dataset_version;
use crate::runs::now_milliseconds;
use crate::sealed_text::TextOpener;
use crate::sealed_text::catalogue::VERSION_ERRORS;
use crate::{EntityKind, ScopedStore, Store, StoreError};

/// An uploaded file that becomes a version.
#[derive(Debug, Clone)]
pub struct NewVersion {
    /// The id it gets.
    pub id: Uuid,
    /// The data set.
    pub dataset: Uuid,
    /// What is new in it.
    pub description: Option<String>,
    /// Where the file is.
    pub file_uri: String,
    /// How it holds its rows.
    pub file_format: FileFormat,
    /// Its size.
    pub file_bytes: u64,
    /// SHA-256 of the file, in hexadecimal digits.
    pub file_hash: String,
    /// How its rows are to be read, in the words of who looks through them.
    pub reading: Value,
    /// Who uploaded it.
    pub created_by: Option<String>,
    /// Bytes that all files of the organization may have together.
    pub quota: Option<u64>,
}

/// What looking through the rows of a version has found.
#[derive(Debug, Clone, Default)]
pub struct VersionValidation {
    /// Rows of the file.
    pub rows: u64,
    /// The columns.
    pub columns: Value,
    /// SHA-256 over their names and types.
    pub schema_hash: String,
    /// The problems that are shown: a list.
    pub errors: Value,
    /// How many problems there are.
    pub error_count: u64,
    /// The frozen cases; none where there are problems.
    pub content: Option<ContentHash>,
}

/// A version of a data set.
#[derive(Debug, Clone, PartialEq)]
pub struct VersionRecord {
    /// Its id.
    pub id: Uuid,
    /// The data set.
    pub dataset: Uuid,
    /// 1 for the first.
    pub number: u32,
    /// Where it stands.
    pub status: VersionStatus,
    /// What is new in it.
    pub description: Option<String>,
    /// Where the file is.
    pub file_uri: String,
    /// How it holds its rows.
    pub file_format: FileFormat,
    /// Its size.
    pub file_bytes: u64,
    /// SHA-256 of the file.
    pub file_hash: String,
    /// How its rows are to be read, in the words of who looks through them.
    pub reading: Value,
    /// Rows, once counted.
    pub rows: Option<u64>,
    /// The columns, once known.
    pub columns: Option<Value>,
    /// SHA-256 over the names and types of the columns.
    pub schema_hash: Option<String>,
    /// Whether the rows have been looked at.
    pub validation: ValidationStatus,
    /// The problems that are shown: a list.
    pub errors: Option<Value>,
    /// The problems that were shown are gone with the key that they were sealed with.
    pub texts_deleted: bool,
    /// How many problems there are.
    pub error_count: u64,
    /// The frozen cases, once valid.
    pub content: Option<ContentHash>,
    /// The number of its newest agreed answer.
    pub ground_truth_revision: u64,
    /// Counts its changes.
    pub revision: u32,
    /// When it was uploaded.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Who uploaded it.
    pub created_by: Option<String>,
}

impl Store {
    /// Versions whose rows were not looked through to the end, with their organizations, the oldest first.
    pub async fn unvalidated_versions(
        &self,
    ) -> Result<Vec<(fullbench_types::OrganizationId, Uuid)>, StoreError> {
        let rows = dataset_version::Entity::find()
            .filter(
                dataset_version::Column::ValidationStatus.eq(ValidationStatus::Pending.as_str()),
            )
            .order_by_asc(dataset_version::Column::Id)
            .all(self.system())
            .await?;
        let pair = |row: dataset_version::Model| {
            (fullbench_types::OrganizationId(row.organization_id), row.id)
        };
        Ok(rows.into_iter().map(pair).collect())
    }
}

impl ScopedStore {
    /// Adds a version with the next number. The same id again gives what was added.
    pub async fn add_version(&self, new: NewVersion) -> Result<VersionRecord, StoreError> {
        self.dataset_record(new.dataset).await?;
        let transaction = self.database.begin().await?;
        // One upload after the other gets a number, and what is left of the room.
        lock_organization(&transaction, self.organization).await?;
        let made = self.version_rows().filter(dataset_version::Column::Id.eq(new.id));
        if let Some(made) = made.one(&transaction).await? {
            drop(transaction);
            return self.version_record(made).await;
        }
        if let Some(quota) = new.quota {
            let left = quota.saturating_sub(self.stored_bytes_in(&transaction).await?);
            if new.file_bytes > left {
                return Err(StoreError::NoRoom { quota, left });
            }
        }
        let newest = self
            .version_rows()
            .filter(dataset_version::Column::DatasetId.eq(new.dataset))
            .order_by_desc(dataset_version::Column::VersionNumber)
            .one(&transaction)
            .await?;
        let number = newest.map_or(1, |newest| newest.version_number + 1);
        let row = self.version_row(&new, number).insert(&transaction).await?;
        self.check_count(EntityKind::DatasetVersion, "dataset_versions", &transaction).await?;
        transaction.commit().await?;
        self.version_record(row).await
    }

    fn version_row(&self, new: &NewVersion, number: i32) -> dataset_version::ActiveModel {
        let now = now_milliseconds();
        dataset_version::ActiveModel {
            id: Set(new.id),
            organization_id: Set(self.organization.0),
            dataset_id: Set(new.dataset),
            version_number: Set(number),
            status: Set(VersionStatus::Draft.as_str().to_owned()),
            description: Set(new.description.clone()),
            file_uri: Set(new.file_uri.clone()),
            file_format: Set(new.file_format.as_str().to_owned()),
            file_bytes: Set(new.file_bytes as i64),
            file_hash: Set(new.file_hash.clone()),
            reading: Set(new.reading.to_string()),
            row_count: Set(None),
            columns: Set(None),
            schema_hash: Set(None),
            validation_status: Set(ValidationStatus::Pending.as_str().to_owned()),
            validation_attempts: Set(0),
            validation_errors: Set(None),
            error_count: Set(0),
            content_hash: Set(None),
            ground_truth_revision: Set(0),
            revision: Set(1),
            created_at: Set(now),
            updated_at: Set(now),
            created_by: Set(new.created_by.clone()),
        }
    }

    /// The version of this id.
    pub async fn version(&self, id: Uuid) -> Result<VersionRecord, StoreError> {
        let row = self
            .version_rows()
            .filter(dataset_version::Column::Id.eq(id))
            .one(&self.database)
            .await?;
        self.version_record(row.ok_or_else(|| not_found(id.to_string()))?).await
    }

    /// The version of a data set with this number.
    pub async fn version_of(
        &self,
        dataset: Uuid,
        number: u32,
    ) -> Result<VersionRecord, StoreError> {
        self.dataset_record(dataset).await?;
        let number = i32::try_from(number).unwrap_or(i32::MAX);
        let row = self
            .version_rows()
            .filter(dataset_version::Column::DatasetId.eq(dataset))
            .filter(dataset_version::Column::VersionNumber.eq(number))
            .one(&self.database)
            .await?;
        self.version_record(row.ok_or_else(|| not_found(number.to_string()))?).await
    }

    /// Versions of a data set, the newest first, and how many there are.
    pub async fn versions(
        &self,
        dataset: Uuid,
        page: Page,
    ) -> Result<(Vec<VersionRecord>, u64), StoreError> {
        self.dataset_record(dataset).await?;
        let rows = self.version_rows().filter(dataset_version::Column::DatasetId.eq(dataset));
        let total = rows.clone().count(&self.database).await?;
        let rows = rows
            .order_by_desc(dataset_version::Column::VersionNumber)
            .offset(page.offset)
            .limit(page.limit)
            .all(&self.database)
            .await?;
        let texts = rows.iter().filter_map(|row| row.validation_errors.as_deref());
        let opener = self.opener(texts).await?;
        let versions = rows.into_iter().map(|row| record(row, &opener));
        Ok((versions.collect::<Result<_, _>>()?, total))
    }

    /// Times that it was begun to look through the rows of a version, and neither finished nor given up: whoever did it was
    /// killed, or is at it.
    pub async fn validation_attempts(&self, id: Uuid) -> Result<u32, StoreError> {
        let rows = self.version_rows().filter(dataset_version::Column::Id.eq(id));
        let row = rows.one(&self.database).await?.ok_or_else(|| not_found(id.to_string()))?;
        Ok(row.validation_attempts as u32)
    }

    /// Notes that it is begun to look through the rows of a version, before it is: the process may not live to say it afterwards.
    pub async fn begin_validation(&self, id: Uuid) -> Result<(), StoreError> {
        self.count_validation(id, 1).await
    }

    /// Takes back that it was begun, for a reason that is none of the file.
    pub async fn give_up_validation(&self, id: Uuid) -> Result<(), StoreError> {
        self.count_validation(id, -1).await
    }

    async fn count_validation(&self, id: Uuid, more: i32) -> Result<(), StoreError> {
        let attempts = dataset_version::Column::ValidationAttempts;
        dataset_version::Entity::update_many()
            .col_expr(attempts, Expr::col(attempts).add(more))
            .filter(dataset_version::Column::Id.eq(id))
            .filter(dataset_version::Column::OrganizationId.eq(self.organization.0))
            .exec(&self.database)
            .await?;
        Ok(())
    }

    /// Keeps what was found in the rows of a version.
    pub async fn set_validation(
        &self,
        id: Uuid,
        found: VersionValidation,
    ) -> Result<VersionRecord, StoreError> {
        let status = match found.content {
            Some(_) => ValidationStatus::Valid,
            None => ValidationStatus::Invalid,
        };
        let content = found.content.map(|hash| hash.to_string());
        let keeper = self.text_keeper().await?;
        let errors = keeper.kept(&VERSION_ERRORS, &[&id], to_json(&found.errors)?)?;
        dataset_version::Entity::update_many()
            .col_expr(dataset_version::Column::RowCount, Expr::value(found.rows as i64))
            .col_expr(dataset_version::Column::Columns, Expr::value(found.columns.to_string()))
            .col_expr(dataset_version::Column::SchemaHash, Expr::value(found.schema_hash))
            .col_expr(dataset_version::Column::ValidationStatus, Expr::value(status.as_str()))
            .col_expr(dataset_version::Column::ValidationErrors, Expr::value(errors))
            .col_expr(dataset_version::Column::ErrorCount, Expr::value(found.error_count as i64))
            .col_expr(dataset_version::Column::ContentHash, Expr::value(content))
            .col_expr(dataset_version::Column::UpdatedAt, Expr::value(now_milliseconds()))
            .col_expr(
                dataset_version::Column::Revision,
                Expr::col(dataset_version::Column::Revision).add(1),
            )
            .filter(dataset_version::Column::Id.eq(id))
            .filter(dataset_version::Column::OrganizationId.eq(self.organization.0))
            .exec(&self.database)
            .await?;
        self.version(id).await
    }

    /// Sets where a version stands, if it is still as the changer saw it: a draft that is valid may be published, a
    /// published one deprecated, and nothing else.
    pub async fn set_version_status(
        &self,
        id: Uuid,
        seen: Option<u32>,
        status: VersionStatus,
    ) -> Result<VersionRecord, StoreError> {
        let before = self.version(id).await?;
        if before.status == status {
            return Ok(before);
        }
        let refused = match (before.status, status) {
            (VersionStatus::Draft, VersionStatus::Published) => match before.validation {
                ValidationStatus::Valid => None,
                ValidationStatus::Pending => Some("its rows are still being looked at"),
                ValidationStatus::Invalid => Some("some of its rows are no cases"),
            },
            (VersionStatus::Published, VersionStatus::Deprecated) => None,
            (VersionStatus::Draft, _) => Some("it is a draft"),
            (VersionStatus::Published, _) => Some("it is published"),
            (VersionStatus::Deprecated, _) => Some("it is deprecated"),
        };
        let kind = EntityKind::DatasetVersion;
        if let Some(reason) = refused {
            return Err(StoreError::Immutable { kind, name: before.number.to_string(), reason });
        }
        let seen = match seen {
            Some(seen) if seen != before.revision => return Err(meanwhile(id)),
            _ => before.revision,
        };
        let changed = dataset_version::Entity::update_many()
            .col_expr(dataset_version::Column::Status, Expr::value(status.as_str()))
            .col_expr(dataset_version::Column::Revision, Expr::value(seen as i32 + 1))
            .col_expr(dataset_version::Column::UpdatedAt, Expr::value(now_milliseconds()))
            .filter(dataset_version::Column::Id.eq(id))
            .filter(dataset_version::Column::OrganizationId.eq(self.organization.0))
            .filter(dataset_version::Column::Revision.eq(seen as i32))
            .exec(&self.database)
            .await?;
        if changed.rows_affected == 0 { Err(meanwhile(id)) } else { self.version(id).await }
    }

    async fn version_record(
        &self,
        row: dataset_version::Model,
    ) -> Result<VersionRecord, StoreError> {
        let opener = self.opener(row.validation_errors.as_deref()).await?;
        record(row, &opener)
    }

    fn version_rows(&self) -> Select<dataset_version::Entity> {
        dataset_version::Entity::find()
            .filter(dataset_version::Column::OrganizationId.eq(self.organization.0))
    }
}

fn not_found(name: String) -> StoreError {
    StoreError::NameNotFound { kind: EntityKind::DatasetVersion, name }
}

fn meanwhile(id: Uuid) -> StoreError {
    StoreError::ChangedMeanwhile { kind: EntityKind::DatasetVersion, name: id.to_string() }
}

fn record(row: dataset_version::Model, opener: &TextOpener) -> Result<VersionRecord, StoreError> {
    let hash = |text: String| text.parse().map_err(StoreError::Damaged);
    let errors = opener.open_some(&VERSION_ERRORS, &[&row.id], row.validation_errors)?;
    let texts_deleted = errors.as_ref().is_some_and(|errors| errors.is_deleted);
    let errors = errors.filter(|errors| !errors.is_deleted);
    Ok(VersionRecord {
        id: row.id,
        dataset: row.dataset_id,
        number: row.version_number as u32,
        status: word(&row.status, VersionStatus::from_word)?,
        file_format: word(&row.file_format, FileFormat::from_word)?,
        file_bytes: row.file_bytes as u64,
        rows: row.row_count.map(|rows| rows as u64),
        columns: row.columns.as_deref().map(from_json).transpose()?,
        reading: from_json(&row.reading)?,
        validation: word(&row.validation_status, ValidationStatus::from_word)?,
        errors: errors.map(|errors| from_json(&errors.text)).transpose()?,
        texts_deleted,
        error_count: row.error_count as u64,
        content: row.content_hash.map(hash).transpose()?,
        ground_truth_revision: row.ground_truth_revision as u64,
        revision: row.revision as u32,
        created_at: time(row.created_at)?,
        updated_at: time(row.updated_at)?,
        description: row.description,
        file_uri: row.file_uri,
        file_hash: row.file_hash,
        schema_hash: row.schema_hash,
        created_by: row.created_by,
    })
}
