//! What happened in an organization, numbered without gaps in the order of its commits, so that a reader can go on where
//! it stopped.

use std::sync::Arc;

use fullbench_types::{EventKind, OrganizationId, RunId};
use jiff::Timestamp;
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder,
    QuerySelect, TransactionTrait,
};
use serde_json::Value;
use tokio::sync::{Notify, broadcast};

use super::{from_json, time, wait_briefly, word};
use crate::entity::platform::{event, organization};
use crate::runs::now_milliseconds;
use crate::{EntityKind, ScopedStore, Store, StoreError};

/// Events that a slow reader may be behind before it must read them from the database.
const BEHIND: usize = 4096;

/// Something that happened.
#[derive(Debug, Clone)]
pub struct NewEvent {
    /// The run it is about.
    pub run: Option<RunId>,
    /// What happened.
    pub kind: EventKind,
    /// The particulars.
    pub data: Value,
}

/// Something that happened, with its number.
#[derive(Debug, Clone, PartialEq)]
pub struct EventRecord {
    /// The organization.
    pub organization: OrganizationId,
    /// 1 for the organization's first.
    pub number: u64,
    /// The run it is about.
    pub run: Option<RunId>,
    /// What happened.
    pub kind: EventKind,
    /// The particulars.
    pub data: Value,
    /// When.
    pub created_at: Timestamp,
}

/// Events that were added in a transaction, to be told once it is committed.
#[derive(Debug, Default)]
#[must_use]
pub(crate) struct AddedEvents {
    events: Vec<EventRecord>,
    /// Some of them are to be sent to webhooks.
    has_deliveries: bool,
}

impl AddedEvents {
    /// The first of them.
    pub(crate) fn first(&self) -> Option<&EventRecord> {
        self.events.first()
    }
}

/// Tells readers in this process of events once they are committed.
#[derive(Debug, Clone)]
pub(crate) struct EventHub {
    readers: broadcast::Sender<Arc<EventRecord>>,
    deliveries: Arc<Notify>,
    notifications: Arc<Notify>,
}

impl EventHub {
    pub(crate) fn new() -> Self {
        let (deliveries, notifications) = Default::default();
        Self { readers: broadcast::Sender::new(BEHIND), deliveries, notifications }
    }

    pub(crate) fn tell(&self, added: AddedEvents) {
        for event in added.events {
            // Nobody need be listening.
            let _ = self.readers.send(Arc::new(event));
        }
        if added.has_deliveries {
            self.deliveries.notify_one();
        }
    }

    /// Something is to be sent to a webhook.
    pub(crate) fn tell_of_delivery(&self) {
        self.deliveries.notify_one();
    }

    /// Somebody is to be told of an alert.
    pub(crate) fn tell_of_notification(&self) {
        self.notifications.notify_one();
    }
}

impl Store {
    /// Events of all organizations of this process from now on, as they are committed.
    #[must_use]
    pub fn listen(&self) -> broadcast::Receiver<Arc<EventRecord>> {
        self.events().readers.subscribe()
    }

    /// Waits until something is to be sent to a webhook that was not before.
    pub async fn delivery_added(&self) {
        self.events().deliveries.notified().await;
    }

    /// Waits until somebody is to be told of an alert who was not before.
    pub async fn notification_added(&self) {
        self.events().notifications.notified().await;
    }
}

impl ScopedStore {
    /// Adds events and tells them to whoever listens.
    pub async fn add_events(&self, new: &[NewEvent]) -> Result<(), StoreError> {
        let transaction = self.database.begin().await?;
        let told = self.add_events_in(&transaction, new).await?;
        transaction.commit().await?;
        self.events.tell(told);
        Ok(())
    }

    /// Adds events in a transaction; they are to be told once it is committed.
    pub(crate) async fn add_events_in(
        &self,
        transaction: &impl ConnectionTrait,
        new: &[NewEvent],
    ) -> Result<AddedEvents, StoreError> {
        if new.is_empty() {
            return Ok(AddedEvents::default());
        }
        wait_briefly(transaction).await?;
        // The organization's row is held until the commit: numbers become visible in their order.
        let counted = organization::Entity::update_many()
            .col_expr(
                organization::Column::LastEvent,
                Expr::col(organization::Column::LastEvent).add(new.len() as i64),
            )
            .filter(organization::Column::Id.eq(self.organization.0))
            .exec_with_returning(transaction)
            .await?;
        let counted = counted.into_iter().next().ok_or_else(|| StoreError::NameNotFound {
            kind: EntityKind::Organization,
            name: self.organization.0.to_string(),
        })?;
        let first = counted.last_event - new.len() as i64 + 1;
        let now = now_milliseconds();
        let created_at = time(now)?;
        let mut rows = Vec::with_capacity(new.len());
        let mut told = Vec::with_capacity(new.len());
        for (index, event) in new.iter().enumerate() {
            let number = first + index as i64;
            rows.push(event::ActiveModel {
                organization_id: Set(self.organization.0),
                number: Set(number),
                run_id: Set(event.run.map(|run| run.0)),
                kind: Set(event.kind.as_str().to_owned()),
                data: Set(event.data.to_string()),
                created_at: Set(now),
            });
            told.push(EventRecord {
                organization: self.organization,
                number: number as u64,
                run: event.run,
                kind: event.kind,
                data: event.data.clone(),
                created_at,
            });
        }
        event::Entity::insert_many(rows).exec_without_returning(transaction).await?;
        let has_deliveries = self.add_deliveries_in(transaction, &told).await?;
        Ok(AddedEvents { events: told, has_deliveries })
    }

    /// Events after a number, of one run or of all, in order.
    pub async fn events_after(
        &self,
        number: u64,
        run: Option<RunId>,
        limit: u64,
    ) -> Result<Vec<EventRecord>, StoreError> {
        let mut rows = event::Entity::find()
            .filter(event::Column::OrganizationId.eq(self.organization.0))
            .filter(event::Column::Number.gt(i64::try_from(number).unwrap_or(i64::MAX)));
        if let Some(run) = run {
            rows = rows.filter(event::Column::RunId.eq(run.0));
        }
        let rows =
            rows.order_by_asc(event::Column::Number).limit(limit).all(&self.database).await?;
        rows.into_iter().map(record).collect()
    }

    /// The number of the newest event; 0 before the first.
    pub async fn last_event(&self) -> Result<u64, StoreError> {
        let found =
            organization::Entity::find_by_id(self.organization.0).one(&self.database).await?;
        Ok(found.map_or(0, |organization| organization.last_event as u64))
    }
}

fn record(row: event::Model) -> Result<EventRecord, StoreError> {
    Ok(EventRecord {
        organization: OrganizationId(row.organization_id),
        number: row.number as u64,
        run: row.run_id.map(RunId),
        data: from_json(&row.data)?,
        created_at: time(row.created_at)?,
        kind: word(&row.kind, EventKind::from_word)?,
    })
}
