//! Results by month: a run's id begins with the time it was made, so that the rows of a run lie together, and old months can be
//! detached or moved without touching the new ones.

use std::collections::BTreeSet;

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbErr, TransactionTrait};
use uuid::Uuid;

use super::{error_code, names};

/// The tables that have a partition for each month.
const PARTITIONED: [&str; 2] = ["generations", "scores"];

/// No run is older.
const OLDEST: Date = jiff::civil::date(2025, 1, 1);

/// Months that have a partition before they begin, this one included.
const MONTHS_AHEAD: usize = 3;

/// Codes of the server for rows that are already where others go, for a role that may make no tables, and for a table that is in
/// use for long. There are months to try again in.
const EXPECTED: [&str; 3] = ["23514", "42501", "55P03"];

/// Whether a table has a partition for each month.
pub(crate) fn is_partitioned(table: &str) -> bool {
    PARTITIONED.contains(&table)
}

/// Adds the partition for what no month has.
pub(crate) async fn create_default(
    connection: &impl ConnectionTrait,
    table: &str,
) -> Result<(), DbErr> {
    let sql = format!("CREATE TABLE {table}_default PARTITION OF {table} DEFAULT");
    connection.execute_unprepared(&sql).await?;
    Ok(())
}

/// Makes the partitions of this month and the next ones, where they are missing.
pub(super) async fn ensure(transaction: &DatabaseTransaction) -> Result<(), DbErr> {
    let mut months = Vec::with_capacity(MONTHS_AHEAD);
    let mut month = Timestamp::now().to_zoned(TimeZone::UTC).date().first_of_month();
    for _ in 0..MONTHS_AHEAD {
        months.push(month);
        let Ok(next) = month.last_of_month().tomorrow() else { break };
        month = next;
    }
    create_months(transaction, &months).await
}

/// Makes the partitions of the months in which runs were made, before their results are added. Ids that say no time since the
/// first version go where all others do.
pub(crate) async fn ensure_for(
    transaction: &DatabaseTransaction,
    runs: &BTreeSet<Uuid>,
) -> Result<(), DbErr> {
    let newest = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let months: BTreeSet<Date> = runs.iter().filter_map(|run| month_of(*run)).collect();
    let months: Vec<Date> =
        months.into_iter().filter(|month| (OLDEST..=newest).contains(month)).collect();
    create_months(transaction, &months).await
}

async fn create_months(transaction: &DatabaseTransaction, months: &[Date]) -> Result<(), DbErr> {
    let tables = "SELECT relname::text FROM pg_class \
         WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')";
    let existing = names(transaction, tables).await?;
    for month in months {
        let Ok(next) = month.last_of_month().tomorrow() else { return Ok(()) };
        for table in PARTITIONED {
            let partition = name(table, *month);
            if !existing.contains(&partition) {
                create(transaction, table, &partition, *month, next).await?;
            }
        }
    }
    Ok(())
}

/// The first day of the month in which an id was made.
fn month_of(id: Uuid) -> Option<Date> {
    let milliseconds = i64::try_from(id.as_u128() >> 80).ok()?;
    let time = Timestamp::from_millisecond(milliseconds).ok()?;
    Some(time.to_zoned(TimeZone::UTC).date().first_of_month())
}

fn name(table: &str, month: Date) -> String {
    format!("{table}_{:04}_{:02}", month.year(), month.month())
}

/// Makes a partition, or says why its rows go on where the others are.
async fn create(
    transaction: &DatabaseTransaction,
    table: &str,
    partition: &str,
    from: Date,
    to: Date,
) -> Result<(), DbErr> {
    let (Some(from), Some(to)) = (first_id(from), first_id(to)) else { return Ok(()) };
    let sql = format!(
        "SET LOCAL lock_timeout = '5s'; \
         CREATE TABLE {partition} PARTITION OF {table} FOR VALUES FROM ('{from}') TO ('{to}'); \
         SET LOCAL lock_timeout TO DEFAULT"
    );
    let attempt = transaction.begin().await?;
    match attempt.execute_unprepared(&sql).await {
        Ok(_) => attempt.commit().await,
        Err(error) if error_code(&error).is_some_and(|code| EXPECTED.contains(&code.as_str())) => {
            attempt.rollback().await?;
            tracing::warn!(
                partition, %error,
                "the partition of a month could not be made; its results stay in the default one"
            );
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// The lowest id of the month that begins on this day.
fn first_id(day: Date) -> Option<Uuid> {
    let start = day.to_zoned(TimeZone::UTC).ok()?.timestamp();
    let milliseconds = u128::try_from(start.as_millisecond()).ok()?;
    Some(Uuid::from_u128(milliseconds << 80))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use jiff::civil::date;
    use uuid::{NoContext, Timestamp};

    use super::*;

    #[test]
    fn the_ids_of_a_month_lie_between_its_bounds() {
        let (from, to) = (first_id(date(2026, 7, 1)).unwrap(), first_id(date(2026, 8, 1)).unwrap());
        assert_eq!(name("scores", date(2026, 7, 1)), "scores_2026_07");
        let at = |time: &str, nanoseconds| {
            let time: jiff::Timestamp = time.parse().unwrap();
            let seconds = u64::try_from(time.as_second()).unwrap();
            Uuid::new_v7(Timestamp::from_unix(NoContext, seconds, nanoseconds))
        };
        assert!(at("2026-06-30T23:59:59Z", 999_999_999) < from);
        assert!(at("2026-07-01T00:00:00Z", 0) >= from);
        assert!(at("2026-07-31T23:59:59Z", 999_999_999) < to);
        assert!(at("2026-08-01T00:00:00Z", 0) >= to);
        assert_eq!(month_of(at("2026-07-31T23:59:59Z", 0)), Some(date(2026, 7, 1)));
    }
}
