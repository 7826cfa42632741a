//! Events to be sent to webhooks: noted in the transaction of the event, so that none is forgotten, and tried until they arrive.

use fullbench_types::{DeliveryStatus, OrganizationId};
use jiff::{SignedDuration, Timestamp};
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter,
    QueryOrder, QuerySelect, TransactionTrait,
};
use uuid::Uuid;

use super::deliveries::record;
use super::{AttemptRecord, DeliveryRecord, EventRecord, NewEvent, WebhookRecord, time};
use crate::entity::platform::{webhook_attempt, webhook_delivery as delivery};
use crate::entity::run;
use crate::runs::now_milliseconds;
use crate::{ScopedStore, Store, StoreError};

/// Deliveries that are written with one statement: SQLite takes 32,766 values in it.
const TOGETHER: usize = 500;

/// What follows from a try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterAttempt {
    /// It arrived.
    Delivered,
    /// It is tried again then.
    RetryAt(Timestamp),
    /// It is not tried again.
    GivenUp,
}

/// A delivery to be tried now, with what is sent.
#[derive(Debug, Clone)]
pub struct DueDelivery {
    /// The delivery.
    pub delivery: DeliveryRecord,
    /// Its webhook, unless that was removed or a run named the address.
    pub webhook: Option<WebhookRecord>,
    /// The event.
    pub event: EventRecord,
}

impl Store {
    /// Takes deliveries that are due, so that nobody else tries them before the lease has ended.
    pub async fn take_deliveries(
        &self,
        limit: u64,
        lease: SignedDuration,
    ) -> Result<Vec<DueDelivery>, StoreError> {
        let now = now_milliseconds();
        let due = delivery::Entity::find()
            .filter(delivery::Column::Status.eq(DeliveryStatus::Pending.as_str()))
            .filter(delivery::Column::DueAt.lte(now))
            .order_by_asc(delivery::Column::DueAt)
            .limit(limit)
            .all(self.system())
            .await?;
        let mut taken = Vec::with_capacity(due.len());
        for row in due {
            let scoped = self.scoped(OrganizationId(row.organization_id));
            let leased = now.saturating_add(lease.as_millis() as i64);
            if scoped.lease_delivery(&row, leased).await? {
                taken.extend(scoped.due_delivery(row).await?);
            }
        }
        Ok(taken)
    }

    /// When the next delivery is due.
    pub async fn next_delivery_at(&self) -> Result<Option<Timestamp>, StoreError> {
        let next = delivery::Entity::find()
            .filter(delivery::Column::Status.eq(DeliveryStatus::Pending.as_str()))
            .order_by_asc(delivery::Column::DueAt)
            .one(self.system())
            .await?;
        next.map(|row| time(row.due_at)).transpose()
    }
}

impl ScopedStore {
    /// Notes in the transaction of new events who is to be told of them.
    pub(super) async fn add_deliveries_in(
        &self,
        transaction: &impl ConnectionTrait,
        events: &[EventRecord],
    ) -> Result<bool, StoreError> {
        let webhooks = self.enabled_webhooks_in(transaction).await?;
        let mut rows = Vec::new();
        for event in events {
            for webhook in webhooks.iter().filter(|webhook| webhook.events.contains(&event.kind)) {
                rows.push(new_delivery(event, Some(webhook.id), webhook.url.clone()));
            }
            if let Some(url) = self.webhook_of_run_in(transaction, event).await? {
                rows.push(new_delivery(event, None, url));
            }
        }
        let has_some = !rows.is_empty();
        let mut rows = rows.into_iter().peekable();
        while rows.peek().is_some() {
            let some: Vec<_> = rows.by_ref().take(TOGETHER).collect();
            delivery::Entity::insert_many(some).exec_without_returning(transaction).await?;
        }
        Ok(has_some)
    }

    /// Sends an event to one webhook, whatever it is told of otherwise.
    pub async fn deliver_to(
        &self,
        event: NewEvent,
        webhook: Uuid,
    ) -> Result<DeliveryRecord, StoreError> {
        let webhook = self.webhook(webhook).await?;
        let transaction = self.database.begin().await?;
        let added = self.add_events_in(&transaction, &[event]).await?;
        let event = added.first().ok_or_else(|| StoreError::Damaged("no event".to_owned()))?;
        let row = new_delivery(event, Some(webhook.id), webhook.url).insert(&transaction).await?;
        transaction.commit().await?;
        self.events.tell(added);
        self.events.tell_of_delivery();
        record(row)
    }

    /// Keeps a try and what follows from it.
    pub async fn note_attempt(
        &self,
        delivery: &DeliveryRecord,
        url: &str,
        attempt: AttemptRecord,
        after: AfterAttempt,
    ) -> Result<(), StoreError> {
        let transaction = self.database.begin().await?;
        let number = delivery.attempts as i32 + 1;
        let row = webhook_attempt::ActiveModel {
            delivery_id: Set(delivery.id),
            number: Set(number),
            organization_id: Set(self.organization.0),
            started_at: Set(attempt.started_at.as_millisecond()),
            milliseconds: Set(attempt.milliseconds as i64),
            response_status: Set(attempt.response_status.map(i32::from)),
            problem: Set(attempt.problem),
        };
        webhook_attempt::Entity::insert(row).exec_without_returning(&transaction).await?;
        let (status, due, arrived) = match after {
            AfterAttempt::Delivered => (DeliveryStatus::Delivered, None, Some(now_milliseconds())),
            AfterAttempt::RetryAt(at) => (DeliveryStatus::Pending, Some(at.as_millisecond()), None),
            AfterAttempt::GivenUp => (DeliveryStatus::Failed, None, None),
        };
        let mut change = delivery::Entity::update_many()
            .col_expr(delivery::Column::Status, Expr::value(status.as_str()))
            .col_expr(delivery::Column::Attempts, Expr::value(number))
            .col_expr(delivery::Column::Url, Expr::value(url))
            .col_expr(delivery::Column::DeliveredAt, Expr::value(arrived))
            .filter(delivery::Column::Id.eq(delivery.id))
            .filter(delivery::Column::OrganizationId.eq(self.organization.0));
        if let Some(due) = due {
            change = change.col_expr(delivery::Column::DueAt, Expr::value(due));
        }
        change.exec(&transaction).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Has a delivery tried again now, with all its tries before it.
    pub async fn retry_delivery(&self, id: Uuid) -> Result<DeliveryRecord, StoreError> {
        self.delivery(id).await?;
        delivery::Entity::update_many()
            .col_expr(delivery::Column::Status, Expr::value(DeliveryStatus::Pending.as_str()))
            .col_expr(delivery::Column::DueAt, Expr::value(now_milliseconds()))
            .col_expr(
                delivery::Column::AttemptsBefore,
                Expr::col(delivery::Column::Attempts).add(0),
            )
            .filter(delivery::Column::Id.eq(id))
            .filter(delivery::Column::OrganizationId.eq(self.organization.0))
            .exec(&self.database)
            .await?;
        self.events.tell_of_delivery();
        self.delivery(id).await
    }

    /// The address that a run wants to be told at, if the event ends it.
    async fn webhook_of_run_in(
        &self,
        transaction: &impl ConnectionTrait,
        event: &EventRecord,
    ) -> Result<Option<String>, StoreError> {
        let Some(run) = event.run.filter(|_| event.kind.is_end_of_run()) else { return Ok(None) };
        let found: Option<Option<String>> = run::Entity::find()
            .select_only()
            .column(run::Column::WebhookUrl)
            .filter(run::Column::OrganizationId.eq(self.organization.0))
            .filter(run::Column::Id.eq(run.0))
            .into_tuple()
            .one(transaction)
            .await?;
        Ok(found.flatten())
    }

    /// Whether the delivery, as it was seen, is now ours until then.
    async fn lease_delivery(&self, row: &delivery::Model, until: i64) -> Result<bool, StoreError> {
        let done = delivery::Entity::update_many()
            .col_expr(delivery::Column::DueAt, Expr::value(until))
            .filter(delivery::Column::Id.eq(row.id))
            .filter(delivery::Column::OrganizationId.eq(self.organization.0))
            .filter(delivery::Column::Status.eq(DeliveryStatus::Pending.as_str()))
            .filter(delivery::Column::DueAt.eq(row.due_at))
            .exec(&self.database)
            .await?;
        Ok(done.rows_affected > 0)
    }

    async fn due_delivery(&self, row: delivery::Model) -> Result<Option<DueDelivery>, StoreError> {
        let delivery = record(row)?;
        let webhook = match delivery.webhook {
            Some(webhook) => self.webhook_if_there(webhook).await?,
            None => None,
        };
        let event = self.events_after(delivery.event.saturating_sub(1), None, 1).await?;
        let event = event.into_iter().find(|event| event.number == delivery.event);
        Ok(event.map(|event| DueDelivery { delivery, webhook, event }))
    }
}

fn new_delivery(event: &EventRecord, webhook: Option<Uuid>, url: String) -> delivery::ActiveModel {
    let now = now_milliseconds();
    delivery::ActiveModel {
        id: Set(Uuid::now_v7()),
        organization_id: Set(event.organization.0),
        webhook_id: Set(webhook),
        run_id: Set(event.run.map(|run| run.0)),
        event_number: Set(event.number as i64),
        event_kind: Set(event.kind.as_str().to_owned()),
        url: Set(url),
        status: Set(DeliveryStatus::Pending.as_str().to_owned()),
        attempts: Set(0),
        attempts_before: Set(0),
        due_at: Set(now),
        created_at: Set(now),
        delivered_at: Set(None),
    }
}
