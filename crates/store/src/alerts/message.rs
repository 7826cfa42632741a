//! What is told of a rule: the same for every channel, fixed at the moment it happened.

use fullbench_types::{AlertChannel, AlertKind, AlertNews, EventKind, NotificationStatus};
use jiff::Timestamp;
use sea_orm::sea_query::Expr;
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{AlertFilter, AlertRecord};
use crate::connection::ScopedTransaction;
use crate::entity::platform::alert_notification as notification;
use crate::platform::{AddedEvents, NewEvent, to_json};
use crate::{ScopedStore, StoreError};

/// For how long the log of a rule goes back, in milliseconds: 90 days.
const LOGGED: i64 = 90 * 86_400_000;

/// Why a message is given up that came too late.
const OUTDATED: &str = "it was not true any more before it could be told";

/// What is told of a rule. It holds no texts of cases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AlertMessage {
    /// The rule.
    pub alert_id: Uuid,
    /// Its name.
    pub name: String,
    /// What it watches.
    pub kind: AlertKind,
    /// What is told.
    pub news: AlertNews,
    /// The value; none where it is not known.
    pub value: Option<f64>,
    /// What it is compared with.
    pub threshold: f64,
    /// The observations it is made of.
    pub count: Option<u64>,
    /// What it is the value of, where the rule does not say it.
    pub subject: Option<String>,
    /// How far back the rule looks.
    pub window_seconds: u32,
    /// What it looks at.
    pub filter: AlertFilter,
    /// Since when it fires, or fired.
    pub since: Option<Timestamp>,
    /// When this happened.
    pub at: Timestamp,
    /// Why it ended, where the value is not the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

impl AlertMessage {
    /// What is told of a rule as it was last looked at.
    #[must_use]
    pub fn of(alert: &AlertRecord, news: AlertNews, at: Timestamp) -> Self {
        Self {
            alert_id: alert.id,
            name: alert.name.clone(),
            kind: alert.kind,
            news,
            value: alert.last_value,
            threshold: alert.threshold,
            count: alert.last_count,
            subject: alert.last_subject.clone(),
            window_seconds: alert.window_seconds,
            filter: alert.filter.clone(),
            since: (news != AlertNews::Test).then_some(alert.since),
            at,
            because: None,
        }
    }

    pub(super) fn because(self, reason: &str) -> Self {
        Self { because: Some(reason.to_owned()), ..self }
    }

    /// The event that webhooks are sent.
    pub(super) fn event(&self) -> Result<NewEvent, StoreError> {
        let kind = match self.news.is_bad() {
            true => EventKind::AlertFiring,
            false => EventKind::AlertResolved,
        };
        let data =
            serde_json::to_value(self).map_err(|error| StoreError::Damaged(error.to_string()))?;
        Ok(NewEvent { run: None, kind, data })
    }
}

impl ScopedStore {
    /// Notes in a transaction who is to be told of a rule; events are to be told once it is committed.
    pub(super) async fn tell_in(
        &self,
        transaction: &ScopedTransaction,
        alert: &AlertRecord,
        message: &AlertMessage,
    ) -> Result<AddedEvents, StoreError> {
        let mut rows = Vec::new();
        let mut added = AddedEvents::default();
        if alert.to_webhooks {
            added = self.add_events_in(transaction, &[message.event()?]).await?;
            let number = added.first().map(|event| event.number as i64);
            let row = self.new_notification(message, AlertChannel::Webhooks)?;
            rows.push(notification::ActiveModel {
                status: Set(NotificationStatus::HandedOver.as_str().to_owned()),
                event_number: Set(number),
                ..row
            });
        }
        for address in &alert.emails {
            let row = self.new_notification(message, AlertChannel::Email)?;
            rows.push(notification::ActiveModel { recipient: Set(Some(address.clone())), ..row });
        }
        if alert.slack.is_some() {
            rows.push(self.new_notification(message, AlertChannel::Slack)?);
        }
        notification::Entity::delete_many()
            .filter(notification::Column::OrganizationId.eq(self.organization.0))
            .filter(notification::Column::RuleId.eq(alert.id))
            .filter(notification::Column::CreatedAt.lt(message.at.as_millisecond() - LOGGED))
            .exec(transaction)
            .await?;
        self.drop_outdated_in(transaction, message).await?;
        if !rows.is_empty() {
            notification::Entity::insert_many(rows).exec_without_returning(transaction).await?;
        }
        Ok(added)
    }

    /// Gives up what is still to be told and is not true any more: that a rule fires after it was resolved, or the other way round.
    async fn drop_outdated_in(
        &self,
        transaction: &ScopedTransaction,
        message: &AlertMessage,
    ) -> Result<(), StoreError> {
        let outdated: &[AlertNews] = match message.news {
            AlertNews::Resolved => &[AlertNews::Firing, AlertNews::Repeated],
            AlertNews::Firing => &[AlertNews::Resolved],
            AlertNews::Repeated | AlertNews::Test => return Ok(()),
        };
        let outdated = outdated.iter().map(|news| news.as_str());
        notification::Entity::update_many()
            .col_expr(
                notification::Column::Status,
                Expr::value(NotificationStatus::Failed.as_str()),
            )
            .col_expr(notification::Column::Problem, Expr::value(OUTDATED))
            .filter(notification::Column::OrganizationId.eq(self.organization.0))
            .filter(notification::Column::RuleId.eq(message.alert_id))
            .filter(notification::Column::Status.eq(NotificationStatus::Pending.as_str()))
            .filter(notification::Column::News.is_in(outdated))
            .exec(transaction)
            .await?;
        Ok(())
    }

    fn new_notification(
        &self,
        message: &AlertMessage,
        channel: AlertChannel,
    ) -> Result<notification::ActiveModel, StoreError> {
        let now = message.at.as_millisecond();
        Ok(notification::ActiveModel {
            id: Set(Uuid::now_v7()),
            organization_id: Set(self.organization.0),
            rule_id: Set(message.alert_id),
            news: Set(message.news.as_str().to_owned()),
            channel: Set(channel.as_str().to_owned()),
            recipient: Set(None),
            message: Set(to_json(message)?),
            status: Set(NotificationStatus::Pending.as_str().to_owned()),
            attempts: Set(0),
            due_at: Set(now),
            problem: Set(None),
            event_number: Set(None),
            created_at: Set(now),
            delivered_at: Set(None),
        })
    }
}
