//! What was told of a rule, as it is listed.

use fullbench_types::{AlertChannel, AlertNews, NotificationStatus};
use jiff::Timestamp;
use sea_orm::sea_query::Expr;
use sea_orm::{
    ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, Select,
    TransactionTrait,
};
use uuid::Uuid;

use super::AlertMessage;
use super::rules::record as rule_record;
use crate::entity::platform::{alert_notification as notification, alert_rule as rule};
use crate::platform::{from_json, time, word};
use crate::runs::now_milliseconds;
use crate::{Page, ScopedStore, StoreError};

/// What was told of a rule in one way, or is to be.
#[derive(Debug, Clone, PartialEq)]
pub struct NotificationRecord {
    /// Its id.
    pub id: Uuid,
    /// The rule.
    pub alert: Uuid,
    /// What is told.
    pub news: AlertNews,
    /// How.
    pub channel: AlertChannel,
    /// Whom mail goes to.
    pub recipient: Option<String>,
    /// All of it.
    pub message: AlertMessage,
    /// How far it has come.
    pub status: NotificationStatus,
    /// How often it was tried.
    pub attempts: u32,
    /// When it is tried next.
    pub due_at: Timestamp,
    /// What went wrong the last time.
    pub problem: Option<String>,
    /// The event that webhooks are sent.
    pub event: Option<u64>,
    /// When it happened.
    pub created_at: Timestamp,
    /// When it was taken.
    pub delivered_at: Option<Timestamp>,
}

impl ScopedStore {
    /// What was told of a rule, the newest first, and how much there is.
    pub async fn alert_notifications(
        &self,
        alert: Uuid,
        page: Page,
    ) -> Result<(Vec<NotificationRecord>, u64), StoreError> {
        self.alert(alert).await?;
        let rows = self.notification_rows().filter(notification::Column::RuleId.eq(alert));
        let total = rows.clone().count(&self.database).await?;
        let rows = rows
            .order_by_desc(notification::Column::CreatedAt)
            .order_by_desc(notification::Column::Id)
            .offset(page.offset)
            .limit(page.limit)
            .all(&self.database)
            .await?;
        Ok((rows.into_iter().map(record).collect::<Result<_, _>>()?, total))
    }

    /// When the channels of a rule were last tried out.
    pub async fn last_alert_test(&self, alert: Uuid) -> Result<Option<Timestamp>, StoreError> {
        let last = self
            .notification_rows()
            .filter(notification::Column::RuleId.eq(alert))
            .filter(notification::Column::News.eq(AlertNews::Test.as_str()))
            .order_by_desc(notification::Column::CreatedAt)
            .one(&self.database)
            .await?;
        last.map(|row| time(row.created_at)).transpose()
    }

    /// Tells everybody of a rule that this is a test, whatever its state; gives how many messages there are.
    pub async fn test_alert(&self, id: Uuid) -> Result<u64, StoreError> {
        let now = time(now_milliseconds())?;
        let transaction = self.database.begin().await?;
        // A transaction that reads first cannot write any more once somebody else has written.
        rule::Entity::update_many()
            .col_expr(rule::Column::Revision, Expr::col(rule::Column::Revision))
            .filter(rule::Column::Id.eq(id))
            .filter(rule::Column::OrganizationId.eq(self.organization.0))
            .exec(&transaction)
            .await?;
        let alert = rule_record(self.alert_row_in(&transaction, id).await?)?;
        let message = AlertMessage::of(&alert, AlertNews::Test, now);
        let told = self.tell_in(&transaction, &alert, &message).await?;
        transaction.commit().await?;
        self.events.tell(told);
        self.events.tell_of_notification();
        let others = alert.emails.len() as u64 + u64::from(alert.slack.is_some());
        Ok(u64::from(alert.to_webhooks) + others)
    }

    pub(super) fn notification_rows(&self) -> Select<notification::Entity> {
        let own = notification::Column::OrganizationId.eq(self.organization.0);
        notification::Entity::find().filter(own)
    }
}

pub(super) fn record(row: notification::Model) -> Result<NotificationRecord, StoreError> {
    Ok(NotificationRecord {
        id: row.id,
        alert: row.rule_id,
        news: word(&row.news, AlertNews::from_word)?,
        channel: word(&row.channel, AlertChannel::from_word)?,
        recipient: row.recipient,
        message: from_json(&row.message)?,
        status: word(&row.status, NotificationStatus::from_word)?,
        attempts: row.attempts as u32,
        due_at: time(row.due_at)?,
        problem: row.problem,
        event: row.event_number.map(|number| number as u64),
        created_at: time(row.created_at)?,
        delivered_at: row.delivered_at.map(time).transpose()?,
    })
}
