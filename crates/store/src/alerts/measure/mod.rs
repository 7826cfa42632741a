//! What rules watch, as numbers: computed by the database over a window of time, for one organization.
//!
//! | what | index |
//! |---|---|
//! | units and answers of the window | `generations_by_time` (organization, time of recording) |
//! | their runs, for the names of models | primary key of `runs` |
//! | their scores | primary key of `scores` |
//! | runs that wait | `runs_by_state` (organization, state) |
//! | runs that waited | `runs_that_waited` (organization, time of the start; those that waited alone) |
//! | spending | primary key of `spending` |

mod scores;
mod subjects;
mod units;
mod waits;

use jiff::{SignedDuration, Timestamp};

use crate::{AlertFilter, Month, ScopedStore, StoreError};

/// A number that a rule watches.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// The number.
    pub value: f64,
    /// The observations it is made of.
    pub count: u64,
    /// What it is the value of, where the rule does not say it.
    pub subject: Option<String>,
    /// It is not explained by chance, as far as that was asked.
    pub is_certain: bool,
}

impl Measurement {
    fn new(value: f64, count: u64) -> Self {
        Self { value, count, subject: None, is_certain: true }
    }

    /// Whether a rule with this threshold fires.
    #[must_use]
    pub fn is_over(&self, threshold: f64) -> bool {
        self.is_certain && self.value > threshold
    }
}

/// A stretch of time and what of it is looked at: after its start, up to its end.
#[derive(Debug, Clone, Copy)]
pub struct AlertScope<'rule> {
    /// What is recorded later than this counts.
    pub after: Timestamp,
    /// What is recorded later than this does not.
    pub until: Timestamp,
    /// Which results count.
    pub filter: &'rule AlertFilter,
}

impl AlertScope<'_> {
    /// The time of this length that ends with this moment.
    #[must_use]
    pub fn ending(until: Timestamp, seconds: u32, filter: &AlertFilter) -> AlertScope<'_> {
        let length = SignedDuration::from_secs(seconds.into());
        let after = until.checked_sub(length).unwrap_or(Timestamp::MIN);
        AlertScope { after, until, filter }
    }

    /// The equally long time before.
    #[must_use]
    pub fn before(&self) -> Self {
        let length = self.until.duration_since(self.after);
        let after = self.after.checked_sub(length).unwrap_or(Timestamp::MIN);
        Self { after, until: self.after, filter: self.filter }
    }
}

impl ScopedStore {
    /// What was spent this month as a share of what may be; none without a limit.
    pub async fn measured_spend(&self) -> Result<Option<Measurement>, StoreError> {
        let budget = self.monthly_limit(&self.organization_record().await?);
        let Some(budget) = budget.filter(|budget| budget.0 > 0) else { return Ok(None) };
        let spent = self.spent_in(Month::now()).await?;
        Ok(Some(Measurement::new(spent.0 as f64 / budget.0 as f64, 1)))
    }
}
