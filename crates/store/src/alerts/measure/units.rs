//! Units of the window: how many failed, on whose side, and how long answers took.

use sea_orm::ConnectionTrait;

use super::subjects::{IN_SCOPE, ModelColumns};
use super::{AlertScope, Measurement};
use crate::{ScopedStore, StoreError};

impl ScopedStore {
    /// Units that failed as a share of those that ended; none where these are fewer than wanted.
    pub async fn measured_error_rate(
        &self,
        scope: &AlertScope<'_>,
        minimum: u32,
    ) -> Result<Option<Measurement>, StoreError> {
        let mut values = self.scope_values(scope);
        let of_model = self.is_of_model(scope, &mut values);
        let sql = format!(
            "SELECT COUNT(*), COUNT(CASE WHEN g.status <> 'answered' THEN 1 END) \
             FROM generations g WHERE {IN_SCOPE}{of_model}"
        );
        let row = self.database.query_one_raw(self.statement(sql, values)).await?;
        let Some(row) = row else { return Ok(None) };
        Ok(share(row.try_get_by_index(1)?, row.try_get_by_index(0)?, minimum))
    }

    /// Calls that failed on the side of a provider (it was unavailable, or gave no answer in time) as a share of those made to
    /// it; that of the provider with the highest share. None where no provider was called as often as wanted.
    ///
    /// A call is one unit with all its tries: what succeeds in the end did not fail. Answers from the cache are none.
    pub async fn measured_provider_errors(
        &self,
        scope: &AlertScope<'_>,
        minimum: u32,
    ) -> Result<Option<Measurement>, StoreError> {
        let mut values = self.scope_values(scope);
        let of_model = self.is_of_model(scope, &mut values);
        let provider = ModelColumns::new(self.backend()).provider;
        let sql = format!(
            "SELECT provider, CAST(SUM(calls) AS bigint), CAST(SUM(failed) AS bigint) FROM \
             (SELECT {provider} AS provider, m.calls, m.failed FROM \
             (SELECT g.run_id, g.model_index, COUNT(*) AS calls, \
             COUNT(CASE WHEN g.failure_code IN ('unavailable', 'timeout') THEN 1 END) AS failed \
             FROM generations g WHERE {IN_SCOPE} AND NOT g.cached AND g.attempts > 0{of_model} \
             GROUP BY g.run_id, g.model_index) m \
             JOIN runs r ON r.id = m.run_id AND r.organization_id = $1) by_model \
             WHERE provider <> 'recorded' GROUP BY provider ORDER BY provider"
        );
        let mut worst: Option<Measurement> = None;
        for row in self.database.query_all_raw(self.statement(sql, values)).await? {
            let provider: String = row.try_get_by_index(0)?;
            let found = share(row.try_get_by_index(2)?, row.try_get_by_index(1)?, minimum);
            let Some(found) = found else { continue };
            if worst.as_ref().is_none_or(|worst| found.value > worst.value) {
                worst = Some(Measurement { subject: Some(provider), ..found });
            }
        }
        Ok(worst)
    }

    /// The 95th percentile of how long providers took to answer, in milliseconds: the smallest time that at least 95 of 100
    /// answers did not exceed (nearest rank). None where answers are fewer than wanted; those from the cache are none.
    pub async fn measured_latency(
        &self,
        scope: &AlertScope<'_>,
        minimum: u32,
    ) -> Result<Option<Measurement>, StoreError> {
        let mut values = self.scope_values(scope);
        let of_model = self.is_of_model(scope, &mut values);
        let sql = format!(
            "SELECT latency_us, answers FROM (SELECT g.latency_us, COUNT(*) OVER () AS answers, \
             ROW_NUMBER() OVER (ORDER BY g.latency_us) AS place FROM generations g \
             WHERE {IN_SCOPE} AND g.status = 'answered' AND NOT g.cached AND g.latency_us > 0{of_model}) ordered \
             WHERE place = (answers * 95 + 99) / 100"
        );
        let row = self.database.query_one_raw(self.statement(sql, values)).await?;
        let Some(row) = row else { return Ok(None) };
        let (microseconds, answers): (i64, i64) =
            (row.try_get_by_index(0)?, row.try_get_by_index(1)?);
        let measured = Measurement::new(microseconds as f64 / 1000.0, answers as u64);
        Ok((measured.count >= u64::from(minimum)).then_some(measured))
    }
}

/// A share, where there is enough that it is a share of.
fn share(part: i64, whole: i64, minimum: u32) -> Option<Measurement> {
    (whole >= i64::from(minimum).max(1))
        .then(|| Measurement::new(part as f64 / whole as f64, whole as u64))
}
