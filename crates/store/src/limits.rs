//! What keeps every table from growing without end, and how much an organization may have of what is only ever added.

use sea_orm::sea_query::Value;
use sea_orm::{ConnectionTrait, TransactionTrait};

use crate::connection::ScopedTransaction;
use crate::platform::lock_organization;
use crate::{EntityKind, ScopedStore, StoreError};

/// What bounds the rows of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    /// So many for each organization.
    Rows(u64),
    /// So many for each value of this column.
    RowsFor(&'static str, u64),
    /// What bounds this other table: there are a few for each row of it.
    Like(&'static str),
    /// They go after a while, and requests, which are what makes them, are limited by the minute.
    Time,
    /// What the operator allows, by a quota of this name.
    Quota(&'static str),
    /// Only who runs the server adds some.
    Operator,
    /// Nothing, for this reason.
    Nothing(&'static str),
}

/// All tables.
const BOUNDS: &[(&str, Bound)] = &[
    ("organizations", Bound::Operator),
    ("users", Bound::Rows(10_000)),
    ("api_keys", Bound::Rows(100_000)),
    ("sessions", Bound::Time),
    ("invitations", Bound::Time),
    ("password_resets", Bound::Time),
    ("recovery_codes", Bound::Like("users")),
    ("sign_in_failures", Bound::Time),
    ("audit_entries", Bound::Nothing("a log with an end would not be one")),
    ("audit_heads", Bound::Like("organizations")),
    ("organization_keys", Bound::Operator),
    ("provider_keys", Bound::Rows(1_000)),
    ("spending", Bound::Nothing("a row for each month")),
    ("idempotency_keys", Bound::Time),
    ("events", Bound::Time),
    ("webhooks", Bound::Rows(100)),
    ("webhook_deliveries", Bound::Time),
    ("webhook_attempts", Bound::Like("webhook_deliveries")),
    ("alert_rules", Bound::Rows(200)),
    ("alert_notifications", Bound::Time),
    ("datasets", Bound::Rows(100_000)),
    ("dataset_versions", Bound::Rows(100_000)),
    ("dataset_contents", Bound::Quota("storage")),
    ("test_cases", Bound::Quota("storage")),
    ("ground_truths", Bound::RowsFor("test_case_id", 1_000)),
    ("criteria", Bound::Rows(10_000)),
    ("thresholds", Bound::Rows(100_000)),
    ("methods", Bound::Like("judges")),
    ("models", Bound::Rows(10_000)),
    ("judges", Bound::Rows(10_000)),
    ("prompts", Bound::Rows(10_000)),
    ("prompt_versions", Bound::Rows(100_000)),
    ("evaluation_steps", Bound::Quota("month_usd")),
    ("documents", Bound::Quota("records")),
    ("judged_outputs", Bound::Time),
    ("runs", Bound::Quota("records")),
    ("baselines", Bound::Rows(10_000)),
    ("run_progress", Bound::Like("runs")),
    ("run_scorers", Bound::RowsFor("run_id", 1_000)),
    ("provider_batches", Bound::Like("runs")),
    ("generations", Bound::Like("runs")),
    ("scores", Bound::Like("runs")),
];

/// Bytes of all that a criterion, a judge or a model says.
const LONGEST: usize = 256 * 1024;

/// Refuses one that says more than anybody would read.
pub(crate) fn check_length(kind: EntityKind, parts: &[&str]) -> Result<(), StoreError> {
    let bytes: usize = parts.iter().map(|part| part.len()).sum();
    if bytes > LONGEST { Err(StoreError::TooLong { kind, limit: LONGEST }) } else { Ok(()) }
}

/// How many there may be together, each with a row of a table of its own.
fn bound(table: &str) -> Option<Bound> {
    BOUNDS.iter().find(|(name, _)| *name == table).map(|(_, bound)| *bound)
}

impl ScopedStore {
    /// A transaction that adds what there are only so many of: one after the other adds its own, so that none is too many.
    pub(crate) async fn begin_adding(&self) -> Result<ScopedTransaction, StoreError> {
        let transaction = self.database.begin().await?;
        lock_organization(&transaction, self.organization).await?;
        Ok(transaction)
    }

    /// Refuses what was added to a table that had as many rows as it may: the transaction is not committed then.
    pub(crate) async fn check_count(
        &self,
        kind: EntityKind,
        table: &str,
        transaction: &impl ConnectionTrait,
    ) -> Result<(), StoreError> {
        match self.too_many(table, transaction).await? {
            0 => Ok(()),
            _ => Err(StoreError::TooMany { kind, limit: most(table)? }),
        }
    }

    /// How many rows a table has more than it may.
    pub(crate) async fn too_many(
        &self,
        table: &str,
        transaction: &impl ConnectionTrait,
    ) -> Result<u64, StoreError> {
        let sql = format!("SELECT COUNT(*) FROM {table} WHERE organization_id = $1");
        let count = self.counted(sql, vec![], transaction).await?;
        Ok(count.saturating_sub(most(table)?))
    }

    /// The same for a table that has a limit for each value of a column.
    pub(crate) async fn check_count_for(
        &self,
        kind: EntityKind,
        table: &str,
        value: Value,
        transaction: &impl ConnectionTrait,
    ) -> Result<(), StoreError> {
        let Some(Bound::RowsFor(column, limit)) = bound(table) else {
            return Err(unlimited(table));
        };
        let sql =
            format!("SELECT COUNT(*) FROM {table} WHERE organization_id = $1 AND {column} = $2");
        let count = self.counted(sql, vec![value], transaction).await?;
        if count > limit { Err(StoreError::TooMany { kind, limit }) } else { Ok(()) }
    }

    async fn counted(
        &self,
        sql: String,
        further: Vec<Value>,
        transaction: &impl ConnectionTrait,
    ) -> Result<u64, StoreError> {
        let mut values: Vec<Value> = vec![self.organization.0.into()];
        values.extend(further);
        let row = transaction.query_one_raw(self.statement(sql, values)).await?;
        let count: i64 = row.map_or(Ok(0), |row| row.try_get_by_index(0))?;
        Ok(count as u64)
    }
}

/// How many rows of a table each organization may have.
fn most(table: &str) -> Result<u64, StoreError> {
    match bound(table) {
        Some(Bound::Rows(most)) => Ok(most),
        _ => Err(unlimited(table)),
    }
}

fn unlimited(table: &str) -> StoreError {
    StoreError::Damaged(format!("nobody says how many rows {table} may have"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::lifecycle::catalogue::{Stays, tables};

    #[tokio::test]
    async fn every_table_says_what_bounds_it() {
        let tables = tables().await.unwrap();
        assert_eq!(tables.len(), BOUNDS.len(), "a table of the list is not there any more");
        for owned in &tables {
            let name = &owned.table.name;
            let bound = bound(name).unwrap_or_else(|| panic!("nobody says what bounds {name}"));
            match bound {
                Bound::RowsFor(column, _) => assert!(owned.table.place(column).is_some(), "{name}"),
                Bound::Like(other) => assert!(self::bound(other).is_some(), "{name}"),
                Bound::Time => {
                    let swept_by_the_server = ["sessions", "sign_in_failures"];
                    let goes = matches!(owned.stays, Stays::SinceAtMost(..));
                    assert!(goes || swept_by_the_server.contains(&name.as_str()), "{name}");
                }
                Bound::Rows(_) | Bound::Quota(_) | Bound::Operator | Bound::Nothing(_) => {}
            }
        }
    }
}
