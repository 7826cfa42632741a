//! Messages by mail and to Slack that are to be sent: leased by one server at a time, and tried until they are taken.

use fullbench_llm::Secret;
use fullbench_types::{NotificationStatus, OrganizationId};
use jiff::{SignedDuration, Timestamp};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};
use uuid::Uuid;

use super::NotificationRecord;
use super::notifications::record;
use crate::entity::platform::alert_notification as notification;
use crate::platform::time;
use crate::runs::now_milliseconds;
use crate::{AfterAttempt, ScopedStore, Store, StoreError};

/// A message to be tried now.
#[derive(Debug, Clone)]
pub struct DueNotification {
    /// Whose it is.
    pub organization: OrganizationId,
    /// The message.
    pub notification: NotificationRecord,
}

/// What the partial index is about.
const IS_PENDING: &str = "status = 'pending'";

impl Store {
    /// Takes messages that are due, so that nobody else tries them before the lease has ended.
    pub async fn take_notifications(
        &self,
        limit: u64,
        lease: SignedDuration,
    ) -> Result<Vec<DueNotification>, StoreError> {
        let now = now_milliseconds();
        let due = notification::Entity::find()
            .filter(Expr::cust(IS_PENDING))
            .filter(notification::Column::DueAt.lte(now))
            .order_by_asc(notification::Column::DueAt)
            .limit(limit)
            .all(self.system())
            .await?;
        let mut taken = Vec::with_capacity(due.len());
        for row in due {
            let organization = OrganizationId(row.organization_id);
            let until = now.saturating_add(lease.as_millis() as i64);
            if self.scoped(organization).lease_notification(&row, until).await? {
                taken.push(DueNotification { organization, notification: record(row)? });
            }
        }
        Ok(taken)
    }

    /// When the next message is due.
    pub async fn next_notification_at(&self) -> Result<Option<Timestamp>, StoreError> {
        let next = notification::Entity::find()
            .filter(Expr::cust(IS_PENDING))
            .order_by_asc(notification::Column::DueAt)
            .one(self.system())
            .await?;
        next.map(|row| time(row.due_at)).transpose()
    }
}

impl ScopedStore {
    /// The address of the channel of Slack that a rule tells; none where it tells none, or is gone.
    pub async fn alert_slack_url(&self, rule: Uuid) -> Result<Option<Secret>, StoreError> {
        let row = match self.alert_row_in(&self.database, rule).await {
            Err(StoreError::NameNotFound { .. }) => return Ok(None),
            found => found?,
        };
        match row.slack_sealed {
            Some(sealed) => Ok(Some(self.opened_address(rule, &sealed).await?)),
            None => Ok(None),
        }
    }

    /// Keeps what came of a try and what follows from it.
    pub async fn note_notification(
        &self,
        tried: &NotificationRecord,
        problem: Option<String>,
        after: AfterAttempt,
    ) -> Result<(), StoreError> {
        let (status, due, delivered) = match after {
            AfterAttempt::Delivered => {
                (NotificationStatus::Delivered, None, Some(now_milliseconds()))
            }
            AfterAttempt::RetryAt(at) => {
                (NotificationStatus::Pending, Some(at.as_millisecond()), None)
            }
            AfterAttempt::GivenUp => (NotificationStatus::Failed, None, None),
        };
        let seen = tried.attempts as i32;
        let mut change = notification::Entity::update_many()
            .col_expr(notification::Column::Status, Expr::value(status.as_str()))
            .col_expr(notification::Column::Attempts, Expr::value(seen + 1))
            .col_expr(notification::Column::Problem, Expr::value(problem))
            .col_expr(notification::Column::DeliveredAt, Expr::value(delivered))
            .filter(notification::Column::Id.eq(tried.id))
            .filter(notification::Column::OrganizationId.eq(self.organization.0))
            .filter(notification::Column::Attempts.eq(seen));
        if let Some(due) = due {
            // What was given up meanwhile is not tried again.
            change = change
                .col_expr(notification::Column::DueAt, Expr::value(due))
                .filter(Expr::cust(IS_PENDING));
        }
        change.exec(&self.database).await?;
        Ok(())
    }

    /// Whether the message, as it was seen, is now ours until then.
    async fn lease_notification(
        &self,
        row: &notification::Model,
        until: i64,
    ) -> Result<bool, StoreError> {
        let done = notification::Entity::update_many()
            .col_expr(notification::Column::DueAt, Expr::value(until))
            .filter(notification::Column::Id.eq(row.id))
            .filter(notification::Column::OrganizationId.eq(self.organization.0))
            .filter(Expr::cust(IS_PENDING))
            .filter(notification::Column::DueAt.eq(row.due_at))
            .exec(&self.database)
            .await?;
        Ok(done.rows_affected > 0)
    }
}
