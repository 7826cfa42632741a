//! Looking at a rule: leased by one server at a time, and kept with everything that follows from it.

use fullbench_types::{AlertNews, AlertState, OrganizationId};
use jiff::{SignedDuration, Timestamp};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect, TransactionTrait};

use super::rules::record;
use super::{AlertMessage, AlertRecord, Measurement};
use crate::entity::platform::alert_rule as rule;
use crate::platform::AddedEvents;
use crate::runs::now_milliseconds;
use crate::{ScopedStore, Store, StoreError};

/// Rules that are looked for together: some of them others take first.
const TOGETHER: u64 = 16;

/// A rule to be looked at now, by whoever has this.
#[derive(Debug, Clone)]
pub struct DueAlert {
    /// Whose it is.
    pub organization: OrganizationId,
    /// The rule as it is.
    pub alert: AlertRecord,
    /// Until when it is ours, which also tells this lease from others.
    leased_until: i64,
}

/// What follows from looking at a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Verdict {
    state: AlertState,
    news: Option<AlertNews>,
}

impl Store {
    /// Takes a rule that is due, so that nobody else looks at it before the lease has ended.
    pub async fn take_alert(&self, lease: SignedDuration) -> Result<Option<DueAlert>, StoreError> {
        loop {
            let now = now_milliseconds();
            let due = rule::Entity::find()
                .filter(Expr::cust("enabled"))
                .filter(rule::Column::DueAt.lte(now))
                .order_by_asc(rule::Column::DueAt)
                .limit(TOGETHER)
                .all(self.system())
                .await?;
            if due.is_empty() {
                return Ok(None);
            }
            for row in due {
                let organization = OrganizationId(row.organization_id);
                let leased_until = now.saturating_add(lease.as_millis() as i64);
                if self.scoped(organization).lease_alert(&row, leased_until).await? {
                    let alert = record(row)?;
                    return Ok(Some(DueAlert { organization, alert, leased_until }));
                }
            }
        }
    }
}

impl ScopedStore {
    /// Keeps what a rule was found to be, and notes who is to be told; says what is told. Nothing is kept where the rule was
    /// changed meanwhile, or somebody else has it by now.
    pub async fn note_evaluation(
        &self,
        due: &DueAlert,
        measured: Option<&Measurement>,
        now: Timestamp,
        next: Timestamp,
    ) -> Result<Option<AlertNews>, StoreError> {
        let before = &due.alert;
        let Verdict { state, news } = verdict(before, measured, now);
        let since = if state == before.state { before.since } else { now };
        let is_told_bad = news.is_some_and(AlertNews::is_bad);
        let after = AlertRecord {
            state,
            since,
            last_value: measured.map(|measured| measured.value),
            last_count: measured.map(|measured| measured.count),
            last_subject: measured.and_then(|measured| measured.subject.clone()),
            evaluated_at: Some(now),
            ..before.clone()
        };
        let transaction = self.database.begin().await?;
        let mut keeping = rule::Entity::update_many()
            .col_expr(rule::Column::State, Expr::value(after.state.as_str()))
            .col_expr(rule::Column::Since, Expr::value(after.since.as_millisecond()))
            .col_expr(rule::Column::LastValue, Expr::value(after.last_value))
            .col_expr(
                rule::Column::LastCount,
                Expr::value(after.last_count.map(|count| count as i64)),
            )
            .col_expr(rule::Column::LastSubject, Expr::value(after.last_subject.clone()))
            .col_expr(rule::Column::EvaluatedAt, Expr::value(now.as_millisecond()))
            .col_expr(rule::Column::DueAt, Expr::value(next.as_millisecond()))
            .filter(rule::Column::Id.eq(before.id))
            .filter(rule::Column::OrganizationId.eq(self.organization.0))
            .filter(rule::Column::DueAt.eq(due.leased_until))
            .filter(rule::Column::Revision.eq(before.revision as i32));
        if is_told_bad {
            keeping = keeping.col_expr(rule::Column::NotifiedAt, Expr::value(now.as_millisecond()));
        }
        if keeping.exec(&transaction).await?.rows_affected == 0 {
            return Ok(None);
        }
        let mut told = AddedEvents::default();
        if let Some(news) = news {
            // What is over is told with the time it lasted since.
            let since = if news == AlertNews::Resolved { before.since } else { after.since };
            let message =
                AlertMessage { since: Some(since), ..AlertMessage::of(&after, news, now) };
            told = self.tell_in(&transaction, &after, &message).await?;
        }
        transaction.commit().await?;
        self.events.tell(told);
        if news.is_some() {
            self.events.tell_of_notification();
        }
        Ok(news)
    }

    /// Lets a rule be due at a time, for whoever takes it then, without anything having been found.
    pub async fn put_back_alert(&self, due: &DueAlert, at: Timestamp) -> Result<(), StoreError> {
        rule::Entity::update_many()
            .col_expr(rule::Column::DueAt, Expr::value(at.as_millisecond()))
            .filter(rule::Column::Id.eq(due.alert.id))
            .filter(rule::Column::OrganizationId.eq(self.organization.0))
            .filter(rule::Column::DueAt.eq(due.leased_until))
            .exec(&self.database)
            .await?;
        Ok(())
    }

    /// Whether the rule, as it was seen, is now ours until then.
    async fn lease_alert(&self, row: &rule::Model, until: i64) -> Result<bool, StoreError> {
        let done = rule::Entity::update_many()
            .col_expr(rule::Column::DueAt, Expr::value(until))
            .filter(rule::Column::Id.eq(row.id))
            .filter(rule::Column::OrganizationId.eq(self.organization.0))
            .filter(rule::Column::DueAt.eq(row.due_at))
            .filter(rule::Column::Revision.eq(row.revision))
            .exec(&self.database)
            .await?;
        Ok(done.rows_affected > 0)
    }
}

/// What follows: over the threshold it fires, at or under it it does not, and without data it stays as it is.
fn verdict(before: &AlertRecord, measured: Option<&Measurement>, now: Timestamp) -> Verdict {
    let is_firing = before.state == AlertState::Firing;
    let (state, news) = match measured {
        None if is_firing => (AlertState::Firing, None),
        None => (AlertState::NoData, None),
        Some(measured) if measured.is_over(before.threshold) => match is_firing {
            false => (AlertState::Firing, Some(AlertNews::Firing)),
            true => {
                let is_due = is_repeat_due(before, now);
                (AlertState::Firing, is_due.then_some(AlertNews::Repeated))
            }
        },
        Some(_) => (AlertState::Ok, is_firing.then_some(AlertNews::Resolved)),
    };
    Verdict { state, news }
}

fn is_repeat_due(alert: &AlertRecord, now: Timestamp) -> bool {
    let (Some(repeat), Some(told)) = (alert.repeat_seconds, alert.notified_at) else {
        return false;
    };
    now.duration_since(told) >= SignedDuration::from_secs(repeat.into())
}
