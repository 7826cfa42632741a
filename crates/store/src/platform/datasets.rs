//! Data sets: named, with tags; their cases are in versions.

use fullbench_types::DatasetKind;
use jiff::Timestamp;
use sea_orm::sea_query::Expr;
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter,
    QueryOrder, QuerySelect, Select,
};
use uuid::Uuid;

use super::{Page, from_json, time, to_json, word};
use crate::entity::platform::dataset;
use crate::runs::now_milliseconds;
use crate::{EntityKind, ScopedStore, StoreError};

/// What is known of a data set when it is made.
#[derive(Debug, Clone)]
pub struct NewDataset {
    /// The id it gets.
    pub id: Uuid,
    /// A name that no other of the organization has.
    pub name: String,
    /// What it is about.
    pub description: Option<String>,
    /// What it is for.
    pub kind: DatasetKind,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Who made it.
    pub created_by: Option<String>,
}

/// What of a data set to change; none leaves a part as it is.
#[derive(Debug, Clone, Default)]
pub struct DatasetChange {
    /// Another name.
    pub name: Option<String>,
    /// Another description.
    pub description: Option<Option<String>>,
    /// Other tags.
    pub tags: Option<Vec<String>>,
}

/// A data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatasetRecord {
    /// Its id.
    pub id: Uuid,
    /// Its name.
    pub name: String,
    /// What it is about.
    pub description: Option<String>,
    /// What it is for.
    pub kind: DatasetKind,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Counts its changes.
    pub revision: u32,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Who made it.
    pub created_by: Option<String>,
}

impl ScopedStore {
    /// Makes a data set. The same id again gives what was made.
    pub async fn create_dataset(&self, new: NewDataset) -> Result<DatasetRecord, StoreError> {
        if let Some(made) =
            self.dataset_rows().filter(dataset::Column::Id.eq(new.id)).one(&self.database).await?
        {
            return record(made);
        }
        let now = now_milliseconds();
        let name = new.name.clone();
        let row = dataset::ActiveModel {
            id: Set(new.id),
            organization_id: Set(self.organization.0),
            name: Set(new.name),
            description: Set(new.description),
            kind: Set(new.kind.as_str().to_owned()),
            tags: Set(to_json(&new.tags)?),
            revision: Set(1),
            created_at: Set(now),
            updated_at: Set(now),
            created_by: Set(new.created_by),
        };
        let taken = || StoreError::NameTaken { kind: EntityKind::Dataset, name };
        let transaction = self.begin_adding().await?;
        let row = row.insert(&transaction).await.map_err(StoreError::when_taken(taken))?;
        self.check_count(EntityKind::Dataset, "datasets", &transaction).await?;
        transaction.commit().await?;
        record(row)
    }

    /// The data set of this id.
    pub async fn dataset_record(&self, id: Uuid) -> Result<DatasetRecord, StoreError> {
        let row =
            self.dataset_rows().filter(dataset::Column::Id.eq(id)).one(&self.database).await?;
        record(row.ok_or_else(|| not_found(id))?)
    }

    /// Data sets, the newest first, and how many there are; of one kind or with one tag only where asked for.
    pub async fn dataset_records(
        &self,
        kind: Option<DatasetKind>,
        name: Option<&str>,
        page: Page,
    ) -> Result<(Vec<DatasetRecord>, u64), StoreError> {
        let mut rows = self.dataset_rows();
        if let Some(kind) = kind {
            rows = rows.filter(dataset::Column::Kind.eq(kind.as_str()));
        }
        if let Some(name) = name {
            rows = rows.filter(dataset::Column::Name.eq(name));
        }
        let total = rows.clone().count(&self.database).await?;
        let rows = rows
            .order_by_desc(dataset::Column::CreatedAt)
            .order_by_desc(dataset::Column::Id)
            .offset(page.offset)
            .limit(page.limit)
            .all(&self.database)
            .await?;
        Ok((rows.into_iter().map(record).collect::<Result<_, _>>()?, total))
    }

    /// Changes a data set, if it is still as the changer saw it.
    pub async fn change_dataset(
        &self,
        id: Uuid,
        seen: Option<u32>,
        change: DatasetChange,
    ) -> Result<DatasetRecord, StoreError> {
        let before = self.dataset_record(id).await?;
        let seen = match seen {
            Some(seen) if seen != before.revision => return Err(meanwhile(id)),
            _ => before.revision,
        };
        let name = change.name.unwrap_or(before.name);
        let description = change.description.unwrap_or(before.description);
        let tags = to_json(&change.tags.unwrap_or(before.tags))?;
        let changed = dataset::Entity::update_many()
            .col_expr(dataset::Column::Name, Expr::value(name.clone()))
            .col_expr(dataset::Column::Description, Expr::value(description))
            .col_expr(dataset::Column::Tags, Expr::value(tags))
            .col_expr(dataset::Column::Revision, Expr::value(seen as i32 + 1))
            .col_expr(dataset::Column::UpdatedAt, Expr::value(now_milliseconds()))
            .filter(dataset::Column::Id.eq(id))
            .filter(dataset::Column::OrganizationId.eq(self.organization.0))
            .filter(dataset::Column::Revision.eq(seen as i32))
            .exec(&self.database)
            .await
            .map_err(StoreError::when_taken(|| StoreError::NameTaken {
                kind: EntityKind::Dataset,
                name,
            }))?;
        if changed.rows_affected == 0 {
            return Err(meanwhile(id));
        }
        self.dataset_record(id).await
    }

    fn dataset_rows(&self) -> Select<dataset::Entity> {
        dataset::Entity::find().filter(dataset::Column::OrganizationId.eq(self.organization.0))
    }
}

fn meanwhile(id: Uuid) -> StoreError {
    StoreError::ChangedMeanwhile { kind: EntityKind::Dataset, name: id.to_string() }
}

fn not_found(id: Uuid) -> StoreError {
    StoreError::NameNotFound { kind: EntityKind::Dataset, name: id.to_string() }
}

fn record(row: dataset::Model) -> Result<DatasetRecord, StoreError> {
    Ok(DatasetRecord {
        id: row.id,
        kind: word(&row.kind, DatasetKind::from_word)?,
        tags: from_json(&row.tags)?,
        revision: row.revision as u32,
        created_at: time(row.created_at)?,
        updated_at: time(row.updated_at)?,
        name: row.name,
        description: row.description,
        created_by: row.created_by,
    })
}
