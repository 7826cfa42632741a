//! Documents: texts to be judged, with what they answer. They are never changed, so that judgements stay true.

use jiff::Timestamp;
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter,
    QueryOrder, QuerySelect, Select,
};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{Page, from_json, time, to_json};
use crate::entity::platform::document;
use crate::runs::now_milliseconds;
use crate::{EntityKind, ScopedStore, StoreError};

/// What is known of a document when it is made.
#[derive(Debug, Clone)]
pub struct NewDocument {
    /// The id it gets.
    pub id: Uuid,
    /// What was asked.
    pub input: Option<String>,
    /// The text to be judged.
    pub actual_output: String,
    /// The accepted text.
    pub expected_output: Option<String>,
    /// What its maker wrote beside it.
    pub metadata: Map<String, Value>,
    /// Who made it.
    pub created_by: Option<String>,
}

/// A document.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentRecord {
    /// Its id.
    pub id: Uuid,
    /// What was asked.
    pub input: Option<String>,
    /// The text to be judged.
    pub actual_output: String,
    /// The accepted text.
    pub expected_output: Option<String>,
    /// What its maker wrote beside it.
    pub metadata: Map<String, Value>,
    /// Who made it.
    pub created_by: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
}

impl ScopedStore {
    /// Keeps a document. The same id again gives what is kept.
    pub async fn create_document(
        &self,
        mut new: NewDocument,
    ) -> Result<DocumentRecord, StoreError> {
        let made = self.document_rows().filter(document::Column::Id.eq(new.id));
        if let Some(made) = made.one(&self.database).await? {
            return record(made);
        }
        let scrubber = self.scrubber().await?;
        let others = new.input.iter_mut().chain(&mut new.expected_output);
        others.chain([&mut new.actual_output]).for_each(|text| scrubber.change(text));
        new.metadata.values_mut().for_each(|value| scrubber.change_value(value));
        let row = document::ActiveModel {
            id: Set(new.id),
            organization_id: Set(self.organization.0),
            input: Set(new.input),
            actual_output: Set(new.actual_output),
            expected_output: Set(new.expected_output),
            metadata: Set(to_json(&new.metadata)?),
            created_by: Set(new.created_by),
            created_at: Set(now_milliseconds()),
        };
        record(row.insert(&self.database).await?)
    }

    /// The document of this id.
    pub async fn document(&self, id: Uuid) -> Result<DocumentRecord, StoreError> {
        let row = self.document_rows().filter(document::Column::Id.eq(id));
        record(row.one(&self.database).await?.ok_or_else(|| StoreError::NameNotFound {
            kind: EntityKind::Document,
            name: id.to_string(),
        })?)
    }

    /// Documents, the newest first, and how many there are.
    pub async fn documents(&self, page: Page) -> Result<(Vec<DocumentRecord>, u64), StoreError> {
        let rows = self.document_rows();
        let total = rows.clone().count(&self.database).await?;
        let rows = rows
            .order_by_desc(document::Column::CreatedAt)
            .order_by_desc(document::Column::Id)
            .offset(page.offset)
            .limit(page.limit)
            .all(&self.database)
            .await?;
        Ok((rows.into_iter().map(record).collect::<Result<_, _>>()?, total))
    }

    fn document_rows(&self) -> Select<document::Entity> {
        document::Entity::find().filter(document::Column::OrganizationId.eq(self.organization.0))
    }
}

fn record(row: document::Model) -> Result<DocumentRecord, StoreError> {
    Ok(DocumentRecord {
        id: row.id,
        input: row.input,
        actual_output: row.actual_output,
        expected_output: row.expected_output,
        metadata: from_json(&row.metadata)?,
        created_by: row.created_by,
        created_at: time(row.created_at)?,
    })
}
