//! How long runs wait to be begun.

use sea_orm::{ConnectionTrait, Value};

use super::{AlertScope, Measurement};
use crate::{ScopedStore, StoreError};

impl ScopedStore {
    /// The longest wait, in seconds, of runs that wait now and of those that were begun in the window; 0 where none did. Runs of
    /// the command line wait for nobody.
    pub async fn measured_queue_time(
        &self,
        scope: &AlertScope<'_>,
    ) -> Result<Measurement, StoreError> {
        // One that was put back waits since then.
        let waiting = "SELECT CAST(MIN(CASE WHEN started_at IS NULL THEN created_at ELSE updated_at END) AS bigint), \
             COUNT(*) FROM runs WHERE organization_id = $1 AND state = 'pending' \
             AND origin <> 'command_line'";
        let (oldest, waiting) = self.extreme(waiting, vec![self.organization.0.into()]).await?;
        let begun = "SELECT CAST(MAX(started_at - created_at) AS bigint), COUNT(*) FROM runs \
             WHERE organization_id = $1 AND started_at > $2 AND started_at <= $3 \
             AND started_at > created_at AND origin <> 'command_line'";
        let (longest, begun) = self.extreme(begun, self.scope_values(scope)).await?;
        let since = |time: i64| scope.until.as_millisecond().saturating_sub(time);
        let milliseconds = oldest.map(since).max(longest).unwrap_or(0).max(0);
        Ok(Measurement::new(milliseconds as f64 / 1000.0, waiting + begun))
    }

    async fn extreme(
        &self,
        sql: &str,
        values: Vec<Value>,
    ) -> Result<(Option<i64>, u64), StoreError> {
        let row = self.database.query_one_raw(self.statement(sql, values)).await?;
        let Some(row) = row else { return Ok((None, 0)) };
        Ok((row.try_get_by_index(0)?, row.try_get_by_index::<i64>(1)? as u64))
    }
}
