//! How much there may be, in one organization, of what is only ever added.

use sea_orm::ConnectionTrait;

use crate::connection::ScopedTransaction;
use crate::{EntityKind, ScopedStore, StoreError};

/// Criteria, models or judges, every revision counted: each evaluation that names one reads them.
const MOST: u64 = 10_000;
/// Bytes of all that one says.
const LONGEST: usize = 256 * 1024;

/// Refuses one that says more than anybody would read.
pub(super) fn check_length(kind: EntityKind, parts: &[&str]) -> Result<(), StoreError> {
    let bytes: usize = parts.iter().map(|part| part.len()).sum();
    if bytes > LONGEST { Err(StoreError::TooLong { kind, limit: LONGEST }) } else { Ok(()) }
}

impl ScopedStore {
    /// Refuses what was added to a table that has as many rows as it may: the transaction is not committed then.
    pub(super) async fn check_count(
        &self,
        kind: EntityKind,
        table: &str,
        transaction: &ScopedTransaction,
    ) -> Result<(), StoreError> {
        let sql = format!("SELECT COUNT(*) FROM {table} WHERE organization_id = $1");
        let counted = self.statement(&sql, vec![self.organization.0.into()]);
        let row = transaction.query_one_raw(counted).await?;
        let count: i64 = row.map_or(Ok(0), |row| row.try_get_by_index(0))?;
        let limit = MOST;
        if count as u64 > limit { Err(StoreError::TooMany { kind, limit }) } else { Ok(()) }
    }
}
