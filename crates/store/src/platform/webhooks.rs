//! Webhooks: who wants to be told of which events. Their secrets are not kept here.

use fullbench_types::EventKind;
use jiff::Timestamp;
use sea_orm::sea_query::Expr;
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, PaginatorTrait,
    QueryFilter, QueryOrder, QuerySelect, Select,
};
use uuid::Uuid;

use super::{Page, from_json, time, to_json};
use crate::entity::platform::{webhook, webhook_delivery};
use crate::runs::now_milliseconds;
use crate::{EntityKind, ScopedStore, StoreError};

/// What is known of a webhook when it is made.
#[derive(Debug, Clone)]
pub struct NewWebhook {
    /// The id it gets.
    pub id: Uuid,
    /// Where events are sent.
    pub url: String,
    /// What it is for.
    pub description: Option<String>,
    /// The kinds of events it is told of.
    pub events: Vec<EventKind>,
    /// Who made it.
    pub created_by: Option<String>,
}

/// What is to be changed; what is not said stays.
#[derive(Debug, Clone, Default)]
pub struct WebhookChange {
    /// Where events are sent.
    pub url: Option<String>,
    /// What it is for.
    pub description: Option<Option<String>>,
    /// The kinds of events it is told of.
    pub events: Option<Vec<EventKind>>,
    /// Whether it is told of anything.
    pub enabled: Option<bool>,
}

/// A webhook.
#[derive(Debug, Clone, PartialEq)]
pub struct WebhookRecord {
    /// Its id.
    pub id: Uuid,
    /// Where events are sent.
    pub url: String,
    /// What it is for.
    pub description: Option<String>,
    /// The kinds of events it is told of.
    pub events: Vec<EventKind>,
    /// Whether it is told of anything.
    pub enabled: bool,
    /// Why it was disabled, where the server did it.
    pub disabled_because: Option<String>,
    /// Which of its secrets signs, counted from 1.
    pub secret_number: u32,
    /// When that secret replaced the one before.
    pub secret_changed_at: Option<Timestamp>,
    /// Counts changes.
    pub revision: u32,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Who made it.
    pub created_by: Option<String>,
}

impl ScopedStore {
    /// Makes a webhook. The same id again gives what was made.
    pub async fn create_webhook(&self, new: NewWebhook) -> Result<WebhookRecord, StoreError> {
        let made = self.webhook_rows().filter(webhook::Column::Id.eq(new.id));
        if let Some(made) = made.one(&self.database).await? {
            return record(made);
        }
        let now = now_milliseconds();
        let row = webhook::ActiveModel {
            id: Set(new.id),
            organization_id: Set(self.organization.0),
            url: Set(new.url),
            description: Set(new.description),
            events: Set(to_json(&new.events)?),
            enabled: Set(true),
            disabled_because: Set(None),
            secret_number: Set(1),
            secret_changed_at: Set(None),
            revision: Set(1),
            created_at: Set(now),
            updated_at: Set(now),
            created_by: Set(new.created_by),
        };
        let transaction = self.begin_adding().await?;
        let row = row.insert(&transaction).await?;
        self.check_count(EntityKind::Webhook, "webhooks", &transaction).await?;
        transaction.commit().await?;
        record(row)
    }

    /// When a webhook was last tried out.
    pub async fn last_webhook_test(&self, id: Uuid) -> Result<Option<Timestamp>, StoreError> {
        let last = webhook_delivery::Entity::find()
            .filter(webhook_delivery::Column::OrganizationId.eq(self.organization.0))
            .filter(webhook_delivery::Column::WebhookId.eq(id))
            .filter(webhook_delivery::Column::EventKind.eq(EventKind::WebhookTest.as_str()))
            .order_by_desc(webhook_delivery::Column::CreatedAt)
            .one(&self.database)
            .await?;
        last.map(|row| time(row.created_at)).transpose()
    }

    /// The webhook of this id.
    pub async fn webhook(&self, id: Uuid) -> Result<WebhookRecord, StoreError> {
        self.webhook_if_there(id).await?.ok_or_else(|| not_found(id))
    }

    pub(super) async fn webhook_if_there(
        &self,
        id: Uuid,
    ) -> Result<Option<WebhookRecord>, StoreError> {
        let row = self.webhook_rows().filter(webhook::Column::Id.eq(id)).one(&self.database);
        row.await?.map(record).transpose()
    }

    /// Webhooks, the newest first, and how many there are.
    pub async fn webhooks(&self, page: Page) -> Result<(Vec<WebhookRecord>, u64), StoreError> {
        let rows = self.webhook_rows();
        let total = rows.clone().count(&self.database).await?;
        let rows = rows
            .order_by_desc(webhook::Column::CreatedAt)
            .order_by_desc(webhook::Column::Id)
            .offset(page.offset)
            .limit(page.limit)
            .all(&self.database)
            .await?;
        Ok((rows.into_iter().map(record).collect::<Result<_, _>>()?, total))
    }

    /// Changes a webhook, if it is still as the changer saw it.
    pub async fn change_webhook(
        &self,
        id: Uuid,
        seen: Option<u32>,
        change: WebhookChange,
    ) -> Result<WebhookRecord, StoreError> {
        let mut changed = self.webhook(id).await?;
        if seen.is_some_and(|seen| seen != changed.revision) {
            return Err(meanwhile(id));
        }
        changed.url = change.url.unwrap_or(changed.url);
        changed.description = change.description.unwrap_or(changed.description);
        changed.events = change.events.unwrap_or(changed.events);
        if let Some(enabled) = change.enabled {
            changed.enabled = enabled;
            changed.disabled_because = None;
        }
        self.keep_webhook(changed).await
    }

    /// Disables a webhook whose receiver wants nothing more.
    pub async fn disable_webhook(&self, id: Uuid, because: &str) -> Result<(), StoreError> {
        let mut changed = self.webhook(id).await?;
        changed.enabled = false;
        changed.disabled_because = Some(because.to_owned());
        self.keep_webhook(changed).await?;
        Ok(())
    }

    /// Lets the next secret sign.
    pub async fn change_webhook_secret(&self, id: Uuid) -> Result<WebhookRecord, StoreError> {
        let mut changed = self.webhook(id).await?;
        changed.secret_number += 1;
        changed.secret_changed_at = Some(time(now_milliseconds())?);
        self.keep_webhook(changed).await
    }

    /// Removes a webhook; what is on its way to it is not sent any more.
    pub async fn remove_webhook(&self, id: Uuid, seen: Option<u32>) -> Result<(), StoreError> {
        let found = self.webhook(id).await?;
        if seen.is_some_and(|seen| seen != found.revision) {
            return Err(meanwhile(id));
        }
        webhook::Entity::delete_many()
            .filter(webhook::Column::Id.eq(id))
            .filter(webhook::Column::OrganizationId.eq(self.organization.0))
            .exec(&self.database)
            .await?;
        Ok(())
    }

    /// Webhooks that want to be told of anything.
    pub(super) async fn enabled_webhooks_in(
        &self,
        connection: &impl ConnectionTrait,
    ) -> Result<Vec<WebhookRecord>, StoreError> {
        let rows = self.webhook_rows().filter(webhook::Column::Enabled.eq(true)).all(connection);
        rows.await?.into_iter().map(record).collect()
    }

    /// Writes a changed webhook over the revision it was made from.
    async fn keep_webhook(&self, changed: WebhookRecord) -> Result<WebhookRecord, StoreError> {
        let seen = changed.revision as i32;
        let done = webhook::Entity::update_many()
            .col_expr(webhook::Column::Url, Expr::value(changed.url))
            .col_expr(webhook::Column::Description, Expr::value(changed.description))
            .col_expr(webhook::Column::Events, Expr::value(to_json(&changed.events)?))
            .col_expr(webhook::Column::Enabled, Expr::value(changed.enabled))
            .col_expr(webhook::Column::DisabledBecause, Expr::value(changed.disabled_because))
            .col_expr(webhook::Column::SecretNumber, Expr::value(changed.secret_number as i32))
            .col_expr(
                webhook::Column::SecretChangedAt,
                Expr::value(changed.secret_changed_at.map(Timestamp::as_millisecond)),
            )
            .col_expr(webhook::Column::Revision, Expr::value(seen + 1))
            .col_expr(webhook::Column::UpdatedAt, Expr::value(now_milliseconds()))
            .filter(webhook::Column::Id.eq(changed.id))
            .filter(webhook::Column::OrganizationId.eq(self.organization.0))
            .filter(webhook::Column::Revision.eq(seen))
            .exec(&self.database)
            .await?;
        match done.rows_affected {
            0 => Err(meanwhile(changed.id)),
            _ => self.webhook(changed.id).await,
        }
    }

    fn webhook_rows(&self) -> Select<webhook::Entity> {
        webhook::Entity::find().filter(webhook::Column::OrganizationId.eq(self.organization.0))
    }
}

fn not_found(id: Uuid) -> StoreError {
    StoreError::NameNotFound { kind: EntityKind::Webhook, name: id.to_string() }
}

fn meanwhile(id: Uuid) -> StoreError {
    StoreError::ChangedMeanwhile { kind: EntityKind::Webhook, name: id.to_string() }
}

fn record(row: webhook::Model) -> Result<WebhookRecord, StoreError> {
    Ok(WebhookRecord {
        id: row.id,
        url: row.url,
        description: row.description,
        events: from_json(&row.events)?,
        enabled: row.enabled,
        disabled_because: row.disabled_because,
        secret_number: row.secret_number as u32,
        secret_changed_at: row.secret_changed_at.map(time).transpose()?,
        revision: row.revision as u32,
        created_at: time(row.created_at)?,
        updated_at: time(row.updated_at)?,
        created_by: row.created_by,
    })
}
