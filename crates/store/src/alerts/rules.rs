//! Rules: made, listed, found and removed.

use fullbench_types::{AlertKind, AlertNews, AlertState};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, PaginatorTrait,
    QueryFilter, QueryOrder, QuerySelect, Select, TransactionTrait,
};
use uuid::Uuid;

use super::{AlertMessage, AlertRecord, NewAlert, SlackAddress};
use crate::entity::platform::alert_rule as rule;
use crate::platform::{AddedEvents, from_json, time, to_json, word};
use crate::runs::now_milliseconds;
use crate::{EntityKind, Page, ScopedStore, Store, StoreError};

impl Store {
    /// How many rules of all organizations fire, by what they watch.
    pub async fn firing_alerts(&self) -> Result<Vec<(AlertKind, u64)>, StoreError> {
        let mut counts = Vec::with_capacity(AlertKind::ALL.len());
        for kind in AlertKind::ALL {
            let firing = rule::Entity::find()
                .filter(rule::Column::Kind.eq(kind.as_str()))
                .filter(rule::Column::State.eq(AlertState::Firing.as_str()))
                .count(self.system());
            counts.push((*kind, firing.await?));
        }
        Ok(counts)
    }
}

impl ScopedStore {
    /// Makes a rule. The same id again gives what was made.
    pub async fn create_alert(&self, new: NewAlert) -> Result<AlertRecord, StoreError> {
        let made = self.alert_rows().filter(rule::Column::Id.eq(new.id));
        if let Some(made) = made.one(&self.database).await? {
            return record(made);
        }
        let now = now_milliseconds();
        let slack = self.sealed_address(new.id, new.slack_url.as_ref()).await?;
        let name = new.name.clone();
        let row = rule::ActiveModel {
            id: Set(new.id),
            organization_id: Set(self.organization.0),
            name: Set(new.name),
            kind: Set(new.kind.as_str().to_owned()),
            threshold: Set(new.threshold),
            window_seconds: Set(new.window_seconds.into()),
            minimum_count: Set(new.minimum_count.into()),
            filter: Set(to_json(&new.filter)?),
            repeat_seconds: Set(new.repeat_seconds.map(Into::into)),
            to_webhooks: Set(new.to_webhooks),
            emails: Set(to_json(&new.emails)?),
            slack_sealed: Set(slack.sealed),
            slack_host: Set(slack.host),
            slack_last_four: Set(slack.last_four),
            enabled: Set(new.enabled),
            state: Set(AlertState::NoData.as_str().to_owned()),
            since: Set(now),
            last_value: Set(None),
            last_count: Set(None),
            last_subject: Set(None),
            evaluated_at: Set(None),
            notified_at: Set(None),
            due_at: Set(now),
            revision: Set(1),
            created_at: Set(now),
            updated_at: Set(now),
            created_by: Set(new.created_by),
        };
        let taken = || StoreError::NameTaken { kind: EntityKind::AlertRule, name };
        let transaction = self.begin_adding().await?;
        let row = row.insert(&transaction).await.map_err(StoreError::when_taken(taken))?;
        self.check_count(EntityKind::AlertRule, "alert_rules", &transaction).await?;
        transaction.commit().await?;
        record(row)
    }

    /// The rule of this id.
    pub async fn alert(&self, id: Uuid) -> Result<AlertRecord, StoreError> {
        record(self.alert_row_in(&self.database, id).await?)
    }

    /// Rules, the newest first, and how many there are.
    pub async fn alerts(&self, page: Page) -> Result<(Vec<AlertRecord>, u64), StoreError> {
        let rows = self.alert_rows();
        let total = rows.clone().count(&self.database).await?;
        let rows = rows
            .order_by_desc(rule::Column::CreatedAt)
            .order_by_desc(rule::Column::Id)
            .offset(page.offset)
            .limit(page.limit)
            .all(&self.database)
            .await?;
        Ok((rows.into_iter().map(record).collect::<Result<_, _>>()?, total))
    }

    /// Removes a rule with its log. One that fires ends for webhooks; mail and Slack are not told, whose addresses go with it.
    pub async fn remove_alert(&self, id: Uuid, seen: Option<u32>) -> Result<(), StoreError> {
        let transaction = self.database.begin().await?;
        // A write comes first, so that nobody writes between what is read here and the end.
        let removed = rule::Entity::delete_many()
            .filter(rule::Column::Id.eq(id))
            .filter(rule::Column::OrganizationId.eq(self.organization.0))
            .exec_with_returning(&transaction)
            .await?;
        let found = removed.into_iter().next().ok_or_else(|| not_found(id))?;
        let found = record(found)?;
        if seen.is_some_and(|seen| seen != found.revision) {
            return Err(meanwhile(id));
        }
        let mut told = AddedEvents::default();
        if found.state == AlertState::Firing && found.to_webhooks {
            let message = AlertMessage::of(&found, AlertNews::Resolved, time(now_milliseconds())?);
            let event = message.because("deleted").event()?;
            told = self.add_events_in(&transaction, &[event]).await?;
        }
        transaction.commit().await?;
        self.events.tell(told);
        Ok(())
    }

    pub(super) async fn alert_row_in(
        &self,
        connection: &impl ConnectionTrait,
        id: Uuid,
    ) -> Result<rule::Model, StoreError> {
        let found = self.alert_rows().filter(rule::Column::Id.eq(id)).one(connection).await?;
        found.ok_or_else(|| not_found(id))
    }

    fn alert_rows(&self) -> Select<rule::Entity> {
        rule::Entity::find().filter(rule::Column::OrganizationId.eq(self.organization.0))
    }
}

fn not_found(id: Uuid) -> StoreError {
    StoreError::NameNotFound { kind: EntityKind::AlertRule, name: id.to_string() }
}

pub(super) fn meanwhile(id: Uuid) -> StoreError {
    StoreError::ChangedMeanwhile { kind: EntityKind::AlertRule, name: id.to_string() }
}

pub(super) fn record(row: rule::Model) -> Result<AlertRecord, StoreError> {
    let last_four = row.slack_last_four;
    Ok(AlertRecord {
        id: row.id,
        name: row.name,
        kind: word(&row.kind, AlertKind::from_word)?,
        threshold: row.threshold,
        window_seconds: row.window_seconds as u32,
        minimum_count: row.minimum_count as u32,
        filter: from_json(&row.filter)?,
        repeat_seconds: row.repeat_seconds.map(|seconds| seconds as u32),
        to_webhooks: row.to_webhooks,
        emails: from_json(&row.emails)?,
        slack: row.slack_host.map(|host| SlackAddress { host, last_four }),
        enabled: row.enabled,
        state: word(&row.state, AlertState::from_word)?,
        since: time(row.since)?,
        last_value: row.last_value,
        last_count: row.last_count.map(|count| count as u64),
        last_subject: row.last_subject,
        evaluated_at: row.evaluated_at.map(time).transpose()?,
        notified_at: row.notified_at.map(time).transpose()?,
        revision: row.revision as u32,
        created_at: time(row.created_at)?,
        updated_at: time(row.updated_at)?,
        created_by: row.created_by,
    })
}
