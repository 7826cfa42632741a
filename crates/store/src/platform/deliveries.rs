//! Events on their way to webhooks, as they are listed: how far each has come, and every try.

use fullbench_types::{DeliveryStatus, EventKind, OrganizationId, RunId};
use jiff::Timestamp;
use sea_orm::{
    ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Select,
};
use uuid::Uuid;

use super::{Page, time, word};
use crate::entity::platform::{webhook_attempt, webhook_delivery as delivery};
use crate::{EntityKind, ScopedStore, StoreError};

/// An event on its way to a webhook.
#[derive(Debug, Clone, PartialEq)]
pub struct DeliveryRecord {
    /// Its id: the same for every try, so that a receiver knows what it has.
    pub id: Uuid,
    /// The organization.
    pub organization: OrganizationId,
    /// The webhook; none where a run named the address itself.
    pub webhook: Option<Uuid>,
    /// The run that the event is about.
    pub run: Option<RunId>,
    /// The number of the event.
    pub event: u64,
    /// What happened.
    pub kind: EventKind,
    /// Where it is sent.
    pub url: String,
    /// How far it has come.
    pub status: DeliveryStatus,
    /// How often it was tried.
    pub attempts: u32,
    /// How often it had been tried when it was last asked for by hand.
    pub attempts_before: u32,
    /// When it is tried next.
    pub due_at: Timestamp,
    /// When the event happened.
    pub created_at: Timestamp,
    /// When it arrived.
    pub delivered_at: Option<Timestamp>,
}

/// One try to send an event.
#[derive(Debug, Clone, PartialEq)]
pub struct AttemptRecord {
    /// When it began.
    pub started_at: Timestamp,
    /// How long it took.
    pub milliseconds: u64,
    /// The status of the answer, if there was one.
    pub response_status: Option<u16>,
    /// What went wrong.
    pub problem: Option<String>,
}

/// Which deliveries are wanted.
#[derive(Debug, Clone, Copy, Default)]
pub struct DeliveryFilter {
    /// Of this webhook.
    pub webhook: Option<Uuid>,
    /// About this run.
    pub run: Option<RunId>,
    /// That have come this far.
    pub status: Option<DeliveryStatus>,
}

impl ScopedStore {
    /// The delivery of this id.
    pub async fn delivery(&self, id: Uuid) -> Result<DeliveryRecord, StoreError> {
        let row = self.delivery_rows().filter(delivery::Column::Id.eq(id)).one(&self.database);
        record(row.await?.ok_or_else(|| StoreError::NameNotFound {
            kind: EntityKind::Delivery,
            name: id.to_string(),
        })?)
    }

    /// Deliveries that match, the newest first, and how many there are.
    pub async fn deliveries(
        &self,
        filter: DeliveryFilter,
        page: Page,
    ) -> Result<(Vec<DeliveryRecord>, u64), StoreError> {
        let mut rows = self.delivery_rows();
        if let Some(webhook) = filter.webhook {
            rows = rows.filter(delivery::Column::WebhookId.eq(webhook));
        }
        if let Some(run) = filter.run {
            rows = rows.filter(delivery::Column::RunId.eq(run.0));
        }
        if let Some(status) = filter.status {
            rows = rows.filter(delivery::Column::Status.eq(status.as_str()));
        }
        let total = rows.clone().count(&self.database).await?;
        let rows = rows
            .order_by_desc(delivery::Column::CreatedAt)
            .order_by_desc(delivery::Column::Id)
            .offset(page.offset)
            .limit(page.limit)
            .all(&self.database)
            .await?;
        Ok((rows.into_iter().map(record).collect::<Result<_, _>>()?, total))
    }

    /// Every try of a delivery, in order.
    pub async fn delivery_attempts(&self, id: Uuid) -> Result<Vec<AttemptRecord>, StoreError> {
        let rows = webhook_attempt::Entity::find()
            .filter(webhook_attempt::Column::OrganizationId.eq(self.organization.0))
            .filter(webhook_attempt::Column::DeliveryId.eq(id))
            .order_by_asc(webhook_attempt::Column::Number)
            .all(&self.database)
            .await?;
        rows.into_iter().map(attempt_record).collect()
    }

    fn delivery_rows(&self) -> Select<delivery::Entity> {
        delivery::Entity::find().filter(delivery::Column::OrganizationId.eq(self.organization.0))
    }
}

pub(super) fn record(row: delivery::Model) -> Result<DeliveryRecord, StoreError> {
    Ok(DeliveryRecord {
        id: row.id,
        organization: OrganizationId(row.organization_id),
        webhook: row.webhook_id,
        run: row.run_id.map(RunId),
        event: row.event_number as u64,
        kind: word(&row.event_kind, EventKind::from_word)?,
        status: word(&row.status, DeliveryStatus::from_word)?,
        attempts: row.attempts as u32,
        attempts_before: row.attempts_before as u32,
        due_at: time(row.due_at)?,
        created_at: time(row.created_at)?,
        delivered_at: row.delivered_at.map(time).transpose()?,
        url: row.url,
    })
}

fn attempt_record(row: webhook_attempt::Model) -> Result<AttemptRecord, StoreError> {
    Ok(AttemptRecord {
        started_at: time(row.started_at)?,
        milliseconds: row.milliseconds as u64,
        response_status: row.response_status.and_then(|status| u16::try_from(status).ok()),
        problem: row.problem,
    })
}
