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
use crate::sealed_text::catalogue::{
    DOCUMENT_EXPECTED, DOCUMENT_INPUT, DOCUMENT_METADATA, DOCUMENT_OUTPUT,
};
use crate::sealed_text::{Opened, RowKey, TextOpener};
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
    /// The texts are gone with the key that they were sealed with.
    pub texts_deleted: bool,
}

impl ScopedStore {
    /// Keeps a document. The same id again gives what is kept.
    pub async fn create_document(
        &self,
        mut new: NewDocument,
    ) -> Result<DocumentRecord, StoreError> {
        let made = self.document_rows().filter(document::Column::Id.eq(new.id));
        if let Some(made) = made.one(&self.database).await? {
            return self.whole_document(made).await;
        }
        let keeper = self.text_keeper().await?;
        let scrubber = &keeper.scrubber;
        let others = new.input.iter_mut().chain(&mut new.expected_output);
        others.chain([&mut new.actual_output]).for_each(|text| scrubber.change(text));
        new.metadata.values_mut().for_each(|value| scrubber.change_value(value));
        let row = document::ActiveModel {
            id: Set(new.id),
            organization_id: Set(self.organization.0),
            input: Set(keeper.kept_some(&DOCUMENT_INPUT, &[&new.id], new.input)?),
            actual_output: Set(keeper.kept(&DOCUMENT_OUTPUT, &[&new.id], new.actual_output)?),
            expected_output: Set(keeper.kept_some(
                &DOCUMENT_EXPECTED,
                &[&new.id],
                new.expected_output,
            )?),
            metadata: Set(keeper.kept(&DOCUMENT_METADATA, &[&new.id], to_json(&new.metadata)?)?),
            created_by: Set(new.created_by),
            created_at: Set(now_milliseconds()),
        };
        self.whole_document(row.insert(&self.database).await?).await
    }

    /// The document of this id.
    pub async fn document(&self, id: Uuid) -> Result<DocumentRecord, StoreError> {
        let row = self.document_rows().filter(document::Column::Id.eq(id));
        let missing =
            || StoreError::NameNotFound { kind: EntityKind::Document, name: id.to_string() };
        self.whole_document(row.one(&self.database).await?.ok_or_else(missing)?).await
    }

    /// Documents, the newest first, and how many there are. Those whose texts are gone have none.
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
        let opener = self.opener(rows.iter().flat_map(texts)).await?;
        let documents = rows.into_iter().map(|row| record(row, &opener));
        Ok((documents.collect::<Result<_, _>>()?, total))
    }

    /// A document whose texts are there.
    async fn whole_document(&self, row: document::Model) -> Result<DocumentRecord, StoreError> {
        let opener = self.opener(texts(&row)).await?;
        let record = record(row, &opener)?;
        if record.texts_deleted { Err(StoreError::TextsDeleted) } else { Ok(record) }
    }

    fn document_rows(&self) -> Select<document::Entity> {
        document::Entity::find().filter(document::Column::OrganizationId.eq(self.organization.0))
    }
}

fn texts(row: &document::Model) -> impl Iterator<Item = &str> {
    let optional = [&row.input, &row.expected_output].into_iter().flatten();
    optional.chain([&row.actual_output, &row.metadata]).map(String::as_str)
}

fn record(row: document::Model, opener: &TextOpener) -> Result<DocumentRecord, StoreError> {
    let key: RowKey<'_> = &[&row.id];
    let mut texts_deleted = false;
    let mut text = |opened: Opened| {
        texts_deleted |= opened.is_deleted;
        opened.text
    };
    let input = opener.open_some(&DOCUMENT_INPUT, key, row.input)?.map(&mut text);
    let expected_output =
        opener.open_some(&DOCUMENT_EXPECTED, key, row.expected_output)?.map(&mut text);
    let actual_output = text(opener.open(&DOCUMENT_OUTPUT, key, row.actual_output)?);
    let metadata = text(opener.open(&DOCUMENT_METADATA, key, row.metadata)?);
    Ok(DocumentRecord {
        id: row.id,
        input,
        actual_output,
        expected_output,
        metadata: if metadata.is_empty() { Map::new() } else { from_json(&metadata)? },
        created_by: row.created_by,
        created_at: time(row.created_at)?,
        texts_deleted,
    })
}
