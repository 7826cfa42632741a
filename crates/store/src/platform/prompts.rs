//! Prompts: named, with a description; their texts are in versions that never change.

use fullbench_types::ContentHash;
use jiff::Timestamp;
use sea_orm::sea_query::Expr;
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter,
    QueryOrder, QuerySelect, Select,
};
use serde_json::Value;
use uuid::Uuid;

use super::{Page, from_json, time};
use crate::entity::platform::{prompt, prompt_version};
use crate::runs::now_milliseconds;
use crate::sealed_text::catalogue::{PROMPT_MESSAGES, PROMPT_TEMPLATE};
use crate::sealed_text::{Opened, RowKey, TextKeeper, TextOpener};
use crate::{EntityKind, ScopedStore, StoreError};

/// What is known of a prompt when it is made.
#[derive(Debug, Clone)]
pub struct NewPrompt {
    /// The id it gets.
    pub id: Uuid,
    /// A name that no other of the organization has.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Who made it.
    pub created_by: Option<String>,
}

/// What of a prompt to change; none leaves a part as it is.
#[derive(Debug, Clone, Default)]
pub struct PromptChange {
    /// Another name.
    pub name: Option<String>,
    /// Another description.
    pub description: Option<Option<String>>,
}

/// A prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptRecord {
    /// Its id.
    pub id: Uuid,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Counts its changes.
    pub revision: u32,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Who made it.
    pub created_by: Option<String>,
}

/// The text of a prompt.
#[derive(Debug, Clone, PartialEq)]
pub enum PromptContent {
    /// One template.
    Template(String),
    /// Templates by role, as JSON.
    Messages(Value),
    /// It is gone with the key that it was sealed with.
    Deleted,
}

/// What is known of a version when it is made.
#[derive(Debug, Clone)]
pub struct NewPromptVersion {
    /// The id it gets.
    pub id: Uuid,
    /// The prompt it is a version of.
    pub prompt: Uuid,
    /// Its text.
    pub content: PromptContent,
    /// What is new in it.
    pub description: Option<String>,
    /// Who made it.
    pub created_by: Option<String>,
}

/// A version of a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptVersionRecord {
    /// Its id.
    pub id: Uuid,
    /// The prompt it is a version of.
    pub prompt: Uuid,
    /// 1 for the first.
    pub number: u32,
    /// Its text.
    pub content: PromptContent,
    /// BLAKE3 of the template, or of the messages as JSON.
    pub content_hash: ContentHash,
    /// What is new in it.
    pub description: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// Who made it.
    pub created_by: Option<String>,
}

impl ScopedStore {
    /// Makes a prompt. The same id again gives what was made.
    pub async fn create_prompt(&self, new: NewPrompt) -> Result<PromptRecord, StoreError> {
        let made = self.prompt_rows().filter(prompt::Column::Id.eq(new.id));
        if let Some(made) = made.one(&self.database).await? {
            return record(made);
        }
        let now = now_milliseconds();
        let name = new.name.clone();
        let row = prompt::ActiveModel {
            id: Set(new.id),
            organization_id: Set(self.organization.0),
            name: Set(new.name),
            description: Set(new.description),
            revision: Set(1),
            created_at: Set(now),
            updated_at: Set(now),
            created_by: Set(new.created_by),
        };
        let taken = || StoreError::NameTaken { kind: EntityKind::Prompt, name };
        let transaction = self.begin_adding().await?;
        let row = row.insert(&transaction).await.map_err(StoreError::when_taken(taken))?;
        self.check_count(EntityKind::Prompt, "prompts", &transaction).await?;
        transaction.commit().await?;
        record(row)
    }

    /// The prompt of this id.
    pub async fn prompt(&self, id: Uuid) -> Result<PromptRecord, StoreError> {
        let row = self.prompt_rows().filter(prompt::Column::Id.eq(id)).one(&self.database).await?;
        record(row.ok_or_else(|| not_found(EntityKind::Prompt, id))?)
    }

    /// Prompts, the newest first, and how many there are; of one name only where asked for.
    pub async fn prompts(
        &self,
        name: Option<&str>,
        page: Page,
    ) -> Result<(Vec<PromptRecord>, u64), StoreError> {
        let mut rows = self.prompt_rows();
        if let Some(name) = name {
            rows = rows.filter(prompt::Column::Name.eq(name));
        }
        let total = rows.clone().count(&self.database).await?;
        let rows = rows
            .order_by_desc(prompt::Column::CreatedAt)
            .order_by_desc(prompt::Column::Id)
            .offset(page.offset)
            .limit(page.limit)
            .all(&self.database)
            .await?;
        Ok((rows.into_iter().map(record).collect::<Result<_, _>>()?, total))
    }

    /// Changes a prompt, if it is still as the changer saw it.
    pub async fn change_prompt(
        &self,
        id: Uuid,
        seen: Option<u32>,
        change: PromptChange,
    ) -> Result<PromptRecord, StoreError> {
        let before = self.prompt(id).await?;
        let meanwhile =
            || StoreError::ChangedMeanwhile { kind: EntityKind::Prompt, name: id.to_string() };
        if seen.is_some_and(|seen| seen != before.revision) {
            return Err(meanwhile());
        }
        let name = change.name.unwrap_or(before.name);
        let description = change.description.unwrap_or(before.description);
        let revision = before.revision as i32;
        let taken = || StoreError::NameTaken { kind: EntityKind::Prompt, name: name.clone() };
        let changed = prompt::Entity::update_many()
            .col_expr(prompt::Column::Name, Expr::value(name.clone()))
            .col_expr(prompt::Column::Description, Expr::value(description))
            .col_expr(prompt::Column::Revision, Expr::value(revision + 1))
            .col_expr(prompt::Column::UpdatedAt, Expr::value(now_milliseconds()))
            .filter(prompt::Column::Id.eq(id))
            .filter(prompt::Column::OrganizationId.eq(self.organization.0))
            .filter(prompt::Column::Revision.eq(revision))
            .exec(&self.database)
            .await
            .map_err(StoreError::when_taken(taken))?;
        if changed.rows_affected == 0 {
            return Err(meanwhile());
        }
        self.prompt(id).await
    }

    /// Adds a version with the next number. The same id again gives what was made.
    pub async fn add_prompt_version(
        &self,
        new: NewPromptVersion,
    ) -> Result<PromptVersionRecord, StoreError> {
        self.prompt(new.prompt).await?;
        let keeper = self.text_keeper().await?;
        loop {
            let of_prompt =
                self.prompt_version_rows().filter(prompt_version::Column::PromptId.eq(new.prompt));
            let made = of_prompt.clone().filter(prompt_version::Column::Id.eq(new.id));
            if let Some(made) = made.one(&self.database).await? {
                return self.whole_version(made).await;
            }
            let newest = of_prompt
                .order_by_desc(prompt_version::Column::VersionNumber)
                .one(&self.database)
                .await?;
            let number = newest.map_or(1, |newest| newest.version_number + 1);
            let taken = || StoreError::ChangedMeanwhile {
                kind: EntityKind::PromptVersion,
                name: new.id.to_string(),
            };
            let transaction = self.begin_adding().await?;
            match self.prompt_version_row(&new, number, &keeper)?.insert(&transaction).await {
                Ok(row) => {
                    let (kind, table) = (EntityKind::PromptVersion, "prompt_versions");
                    self.check_count(kind, table, &transaction).await?;
                    transaction.commit().await?;
                    return self.whole_version(row).await;
                }
                // Another version took the number.
                Err(error) => match StoreError::when_taken(taken)(error) {
                    StoreError::ChangedMeanwhile { .. } => {}
                    other => return Err(other),
                },
            }
        }
    }

    /// The version of a prompt with this number.
    pub async fn prompt_version(
        &self,
        prompt: Uuid,
        number: u32,
    ) -> Result<PromptVersionRecord, StoreError> {
        self.prompt(prompt).await?;
        let row = self
            .prompt_version_rows()
            .filter(prompt_version::Column::PromptId.eq(prompt))
            .filter(
                prompt_version::Column::VersionNumber.eq(i32::try_from(number).unwrap_or(i32::MAX)),
            )
            .one(&self.database)
            .await?;
        let row = row.ok_or_else(|| not_found(EntityKind::PromptVersion, number))?;
        self.whole_version(row).await
    }

    /// Versions of a prompt, the newest first, and how many there are, those whose text is gone among them.
    pub async fn prompt_versions(
        &self,
        prompt: Uuid,
        page: Page,
    ) -> Result<(Vec<PromptVersionRecord>, u64), StoreError> {
        self.prompt(prompt).await?;
        let rows = self.prompt_version_rows().filter(prompt_version::Column::PromptId.eq(prompt));
        let total = rows.clone().count(&self.database).await?;
        let rows = rows
            .order_by_desc(prompt_version::Column::VersionNumber)
            .offset(page.offset)
            .limit(page.limit)
            .all(&self.database)
            .await?;
        let opener = self.opener(rows.iter().flat_map(texts)).await?;
        let versions = rows.into_iter().map(|row| version_record(row, &opener));
        Ok((versions.collect::<Result<_, _>>()?, total))
    }

    fn prompt_version_row(
        &self,
        new: &NewPromptVersion,
        number: i32,
        keeper: &TextKeeper,
    ) -> Result<prompt_version::ActiveModel, StoreError> {
        let (template, messages) = match &new.content {
            PromptContent::Template(template) => (Some(template.clone()), None),
            PromptContent::Messages(messages) => (None, Some(messages.to_string())),
            PromptContent::Deleted => return Err(StoreError::TextsDeleted),
        };
        let text = template.as_ref().or(messages.as_ref()).map_or("", String::as_str);
        let content_hash = ContentHash::of(text.as_bytes());
        let key: RowKey<'_> = &[&new.id];
        Ok(prompt_version::ActiveModel {
            id: Set(new.id),
            organization_id: Set(self.organization.0),
            prompt_id: Set(new.prompt),
            version_number: Set(number),
            content_hash: Set(content_hash.to_string()),
            template: Set(keeper.kept_some(&PROMPT_TEMPLATE, key, template)?),
            messages: Set(keeper.kept_some(&PROMPT_MESSAGES, key, messages)?),
            description: Set(new.description.clone()),
            created_at: Set(now_milliseconds()),
            created_by: Set(new.created_by.clone()),
        })
    }

    /// A version whose text is there.
    async fn whole_version(
        &self,
        row: prompt_version::Model,
    ) -> Result<PromptVersionRecord, StoreError> {
        let opener = self.opener(texts(&row)).await?;
        let record = version_record(row, &opener)?;
        match record.content {
            PromptContent::Deleted => Err(StoreError::TextsDeleted),
            _ => Ok(record),
        }
    }

    fn prompt_rows(&self) -> Select<prompt::Entity> {
        prompt::Entity::find().filter(prompt::Column::OrganizationId.eq(self.organization.0))
    }

    fn prompt_version_rows(&self) -> Select<prompt_version::Entity> {
        prompt_version::Entity::find()
            .filter(prompt_version::Column::OrganizationId.eq(self.organization.0))
    }
}

fn not_found(kind: EntityKind, name: impl ToString) -> StoreError {
    StoreError::NameNotFound { kind, name: name.to_string() }
}

fn record(row: prompt::Model) -> Result<PromptRecord, StoreError> {
    Ok(PromptRecord {
        id: row.id,
        name: row.name,
        description: row.description,
        revision: row.revision as u32,
        created_at: time(row.created_at)?,
        updated_at: time(row.updated_at)?,
        created_by: row.created_by,
    })
}

fn texts(row: &prompt_version::Model) -> impl Iterator<Item = &str> {
    [&row.template, &row.messages].into_iter().flatten().map(String::as_str)
}

fn version_record(
    row: prompt_version::Model,
    opener: &TextOpener,
) -> Result<PromptVersionRecord, StoreError> {
    let damaged = |what: &str| StoreError::Damaged(format!("a version of a prompt: {what}"));
    let key: RowKey<'_> = &[&row.id];
    let template = opener.open_some(&PROMPT_TEMPLATE, key, row.template)?;
    let messages = opener.open_some(&PROMPT_MESSAGES, key, row.messages)?;
    let content = match (template, messages) {
        (Some(Opened { is_deleted: true, .. }), None)
        | (None, Some(Opened { is_deleted: true, .. })) => PromptContent::Deleted,
        (Some(template), None) => PromptContent::Template(template.text),
        (None, Some(messages)) => PromptContent::Messages(from_json(&messages.text)?),
        _ => return Err(damaged("neither a template nor messages")),
    };
    Ok(PromptVersionRecord {
        id: row.id,
        prompt: row.prompt_id,
        number: row.version_number as u32,
        content,
        content_hash: row.content_hash.parse().map_err(|error: String| damaged(&error))?,
        description: row.description,
        created_at: time(row.created_at)?,
        created_by: row.created_by,
    })
}
