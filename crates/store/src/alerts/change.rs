//! Changes of a rule. One that fires and is disabled is resolved, and told so; with other numbers it is looked at anew at once.

use fullbench_types::{AlertNews, AlertState};
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, TransactionTrait};
use uuid::Uuid;

use super::rules::{meanwhile, record};
use super::{AlertChange, AlertMessage, AlertRecord};
use crate::entity::platform::alert_rule as rule;
use crate::platform::{AddedEvents, time, to_json};
use crate::runs::now_milliseconds;
use crate::{EntityKind, ScopedStore, StoreError};

impl ScopedStore {
    /// Changes a rule, if it is still as the changer saw it.
    pub async fn change_alert(
        &self,
        id: Uuid,
        seen: Option<u32>,
        change: AlertChange,
    ) -> Result<AlertRecord, StoreError> {
        // Keys are looked up before the transaction, which would be in their way.
        let slack = match &change.slack_url {
            Some(url) => Some(self.sealed_address(id, url.as_ref()).await?),
            None => None,
        };
        let transaction = self.database.begin().await?;
        // A write comes first, so that what is read next stays as it is until the end.
        let mut holding = rule::Entity::update_many()
            .col_expr(rule::Column::Revision, Expr::col(rule::Column::Revision).add(1))
            .filter(rule::Column::Id.eq(id))
            .filter(rule::Column::OrganizationId.eq(self.organization.0));
        if let Some(seen) = seen {
            holding = holding.filter(rule::Column::Revision.eq(i64::from(seen)));
        }
        let held = holding.exec(&transaction).await?.rows_affected;
        let before = record(self.alert_row_in(&transaction, id).await?)?;
        if held == 0 {
            return Err(meanwhile(id));
        }
        let now = now_milliseconds();
        let mut after = changed(&before, change);
        let is_ended = before.state == AlertState::Firing && !after.enabled;
        if !after.enabled && before.enabled {
            after.state = AlertState::NoData;
            after.since = time(now)?;
            after.notified_at = None;
        }
        let taken = {
            let name = after.name.clone();
            || StoreError::NameTaken { kind: EntityKind::AlertRule, name }
        };
        let mut writing = rule::Entity::update_many()
            .col_expr(rule::Column::Name, Expr::value(after.name))
            .col_expr(rule::Column::Threshold, Expr::value(after.threshold))
            .col_expr(rule::Column::WindowSeconds, Expr::value(i64::from(after.window_seconds)))
            .col_expr(rule::Column::MinimumCount, Expr::value(i64::from(after.minimum_count)))
            .col_expr(rule::Column::Filter, Expr::value(to_json(&after.filter)?))
            .col_expr(rule::Column::RepeatSeconds, Expr::value(after.repeat_seconds.map(i64::from)))
            .col_expr(rule::Column::ToWebhooks, Expr::value(after.to_webhooks))
            .col_expr(rule::Column::Emails, Expr::value(to_json(&after.emails)?))
            .col_expr(rule::Column::Enabled, Expr::value(after.enabled))
            .col_expr(rule::Column::State, Expr::value(after.state.as_str()))
            .col_expr(rule::Column::Since, Expr::value(after.since.as_millisecond()))
            .col_expr(
                rule::Column::NotifiedAt,
                Expr::value(after.notified_at.map(jiff::Timestamp::as_millisecond)),
            )
            .col_expr(rule::Column::DueAt, Expr::value(now))
            .col_expr(rule::Column::UpdatedAt, Expr::value(now))
            .filter(rule::Column::Id.eq(id))
            .filter(rule::Column::OrganizationId.eq(self.organization.0));
        if let Some(slack) = slack {
            writing = writing
                .col_expr(rule::Column::SlackSealed, Expr::value(slack.sealed))
                .col_expr(rule::Column::SlackHost, Expr::value(slack.host))
                .col_expr(rule::Column::SlackLastFour, Expr::value(slack.last_four));
        }
        writing.exec(&transaction).await.map_err(StoreError::when_taken(taken))?;
        let after = record(self.alert_row_in(&transaction, id).await?)?;
        let mut told = AddedEvents::default();
        if is_ended {
            let message = AlertMessage::of(&before, AlertNews::Resolved, time(now)?);
            let message = message.because("disabled");
            told = self.tell_in(&transaction, &after, &message).await?;
        }
        transaction.commit().await?;
        self.events.tell(told);
        self.events.tell_of_notification();
        Ok(after)
    }
}

fn changed(before: &AlertRecord, change: AlertChange) -> AlertRecord {
    let before = before.clone();
    AlertRecord {
        name: change.name.unwrap_or(before.name),
        threshold: change.threshold.unwrap_or(before.threshold),
        window_seconds: change.window_seconds.unwrap_or(before.window_seconds),
        minimum_count: change.minimum_count.unwrap_or(before.minimum_count),
        filter: change.filter.unwrap_or(before.filter),
        repeat_seconds: change.repeat_seconds.unwrap_or(before.repeat_seconds),
        to_webhooks: change.to_webhooks.unwrap_or(before.to_webhooks),
        emails: change.emails.unwrap_or(before.emails),
        enabled: change.enabled.unwrap_or(before.enabled),
        ..before
    }
}
