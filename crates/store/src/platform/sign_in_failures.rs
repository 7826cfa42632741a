//! How often signing in failed lately. A try is counted before it is made, so that many at once are no way around.

use std::cmp::min;
use std::time::Duration;

use sea_orm::sea_query::{Expr, ExprTrait, OnConflict};
use sea_orm::{
    ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, TransactionTrait,
};

use crate::entity::platform::sign_in_failure;
use crate::runs::now_milliseconds;
use crate::{Store, StoreError};

/// The wait after the first try too many; it doubles with each further one.
const FIRST_WAIT: i64 = 10_000;
/// The longest wait.
const LONGEST_WAIT: i64 = 15 * 60_000;
/// After how long without a failure all is forgotten.
const FORGOTTEN: i64 = 24 * 3_600_000;

/// Whom a try is counted for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedTry {
    /// A hash of whom it is about.
    pub subject: String,
    /// Failures that are let pass before there are waits.
    pub free: u32,
}

impl Store {
    /// Counts a try as failed before it is made; or says how long to wait, and counts nothing.
    pub async fn begin_try(&self, tries: &[CountedTry]) -> Result<Option<Duration>, StoreError> {
        let now = now_milliseconds();
        let transaction = self.system().begin().await?;
        let subjects: Vec<&str> = tries.iter().map(|counted| counted.subject.as_str()).collect();
        let mut sorted = subjects.clone();
        sorted.sort_unstable();
        for subject in sorted {
            let row = sign_in_failure::ActiveModel {
                subject: Set(subject.to_owned()),
                failures: Set(0),
                last_at: Set(now),
                locked_until: Set(None),
            };
            // Whoever else tries for the same subject waits here.
            let lock = OnConflict::column(sign_in_failure::Column::Subject)
                .update_column(sign_in_failure::Column::Subject)
                .to_owned();
            sign_in_failure::Entity::insert(row)
                .on_conflict(lock)
                .exec_without_returning(&transaction)
                .await?;
        }
        let rows = sign_in_failure::Entity::find()
            .filter(sign_in_failure::Column::Subject.is_in(subjects))
            .order_by_asc(sign_in_failure::Column::Subject)
            .all(&transaction)
            .await?;
        let locked = rows.iter().filter_map(|row| row.locked_until).max().unwrap_or(0);
        if locked > now {
            let wait = u64::try_from(locked - now).unwrap_or_default();
            return Ok(Some(Duration::from_millis(wait)));
        }
        for row in rows {
            let free = tries.iter().find(|counted| counted.subject == row.subject);
            let free = free.map_or(0, |counted| counted.free);
            let before = if now - row.last_at > FORGOTTEN { 0 } else { row.failures };
            let failures = before.saturating_add(1);
            sign_in_failure::Entity::update_many()
                .col_expr(sign_in_failure::Column::Failures, failures.into())
                .col_expr(sign_in_failure::Column::LastAt, now.into())
                .col_expr(
                    sign_in_failure::Column::LockedUntil,
                    Expr::value(wait_after(failures, free).map(|wait| now + wait)),
                )
                .filter(sign_in_failure::Column::Subject.eq(&row.subject))
                .exec(&transaction)
                .await?;
        }
        transaction.commit().await?;
        Ok(None)
    }

    /// Takes back a try that was counted and did not fail; a wait that others brought about stays.
    pub async fn take_back_try(&self, counted: &CountedTry) -> Result<(), StoreError> {
        let free = i64::from(counted.free);
        let transaction = self.system().begin().await?;
        sign_in_failure::Entity::update_many()
            .col_expr(
                sign_in_failure::Column::Failures,
                Expr::col(sign_in_failure::Column::Failures).sub(1),
            )
            .filter(sign_in_failure::Column::Subject.eq(&counted.subject))
            .filter(sign_in_failure::Column::Failures.gt(0))
            .exec(&transaction)
            .await?;
        sign_in_failure::Entity::update_many()
            .col_expr(sign_in_failure::Column::LockedUntil, Expr::value(None::<i64>))
            .filter(sign_in_failure::Column::Subject.eq(&counted.subject))
            .filter(sign_in_failure::Column::Failures.lt(free))
            .exec(&transaction)
            .await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Forgets all failures of a subject.
    pub async fn forget_tries(&self, subject: &str) -> Result<(), StoreError> {
        sign_in_failure::Entity::delete_by_id(subject.to_owned()).exec(self.system()).await?;
        Ok(())
    }

    /// Removes what is long ago.
    pub async fn forget_old_tries(&self) -> Result<(), StoreError> {
        sign_in_failure::Entity::delete_many()
            .filter(sign_in_failure::Column::LastAt.lt(now_milliseconds() - FORGOTTEN))
            .exec(self.system())
            .await?;
        Ok(())
    }
}

/// How long nothing is tried after so many failures.
fn wait_after(failures: i32, free: u32) -> Option<i64> {
    let beyond = u32::try_from(failures).unwrap_or_default().checked_sub(free)?;
    let wait = FIRST_WAIT.saturating_mul(1_i64 << min(beyond, 20));
    Some(min(wait, LONGEST_WAIT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_and_have_an_end() {
        assert_eq!(wait_after(4, 5), None);
        let waits: Vec<_> = (5..14).filter_map(|failures| wait_after(failures, 5)).collect();
        assert_eq!(waits[..3], [10_000, 20_000, 40_000]);
        assert_eq!(waits.last(), Some(&LONGEST_WAIT));
        assert_eq!(wait_after(i32::MAX, 5), Some(LONGEST_WAIT));
    }
}
