//! What an organization spends in a month, over all its runs and all servers, and what it may spend.
//!
//! Costs are added to the month in the transaction that keeps the results they were paid for. Calls in flight are reserved in
//! memory; what other processes spend is read every few seconds.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use fullbench_llm::Budget;
use fullbench_types::{NanoDollars, OrganizationId, Plan};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use sea_orm::{ConnectionTrait, EntityTrait};

use crate::connection::ScopedTransaction;
use crate::entity::platform::spending;
use crate::{OrganizationRecord, ScopedStore, Store, StoreError};

/// How old the numbers of others may be.
const READ_EVERY: Duration = Duration::from_secs(5);

/// A month in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Month(Date);

impl Month {
    /// The current one.
    #[must_use]
    pub fn now() -> Self {
        Self(Timestamp::now().to_zoned(TimeZone::UTC).date().first_of_month())
    }

    /// Its first moment, in milliseconds.
    pub(crate) fn start(self) -> i64 {
        let start = self.0.to_zoned(TimeZone::UTC);
        start.map_or(0, |start| start.timestamp().as_millisecond())
    }
}

impl fmt::Display for Month {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:04}-{:02}", self.0.year(), self.0.month())
    }
}

/// What organizations may spend in a month at most, whatever they have decided themselves.
#[derive(Debug, Clone, Default)]
pub struct SpendingCeilings {
    /// Everybody, unless their plan says otherwise; nothing for as much as they like.
    pub everybody: Option<NanoDollars>,
    /// Those with a plan.
    pub plans: BTreeMap<Plan, Option<NanoDollars>>,
}

impl SpendingCeilings {
    /// What may be spent with a plan.
    #[must_use]
    pub fn of(&self, plan: Plan) -> Option<NanoDollars> {
        self.plans.get(&plan).copied().unwrap_or(self.everybody)
    }
}

/// The budgets of organizations that were asked for in this process.
#[derive(Debug, Clone, Default)]
pub(crate) struct Budgets {
    shared: Arc<Mutex<HashMap<OrganizationId, Shared>>>,
    ceilings: Arc<OnceLock<SpendingCeilings>>,
}

#[derive(Debug, Clone, Default)]
struct Shared {
    budget: Arc<Budget>,
    read_at: Option<Instant>,
    /// What the books were seen to say last, and of which month.
    seen: Option<(Month, NanoDollars)>,
    /// How often they were seen.
    looks: u64,
    /// What transactions add to them of which it is not known yet whether they were committed.
    under_way: NanoDollars,
}

/// An amount that a transaction adds to the books, and what they say with it.
#[derive(Debug)]
pub(crate) struct Booked {
    amount: NanoDollars,
    month: Month,
    total: NanoDollars,
    _under_way: Option<UnderWay>,
}

/// An amount of which nobody knows whether it is in the books, as long as this is held.
#[derive(Debug)]
struct UnderWay {
    budgets: Budgets,
    organization: OrganizationId,
    amount: NanoDollars,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.budgets.change(self.organization, |shared| {
            shared.under_way -= self.amount;
        });
    }
}

impl Budgets {
    fn change<T>(&self, organization: OrganizationId, change: impl FnOnce(&mut Shared) -> T) -> T {
        let mut all = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        change(all.entry(organization).or_default())
    }

    /// The budget of an organization.
    fn of(&self, organization: OrganizationId) -> Arc<Budget> {
        self.change(organization, |shared| Arc::clone(&shared.budget))
    }

    /// How often the books were seen when a read of them begins.
    fn looks(&self, organization: OrganizationId) -> u64 {
        self.change(organization, |shared| shared.looks)
    }

    /// Says that a transaction adds an amount, until it is known what became of it.
    fn is_under_way(&self, organization: OrganizationId, amount: NanoDollars) -> UnderWay {
        self.change(organization, |shared| shared.under_way += amount);
        UnderWay { budgets: self.clone(), organization, amount }
    }

    /// Takes over what was read. Where the books were seen meanwhile nobody knows which is newer, but within a month they only
    /// grow; else what was read is believed, which is less where the organization was erased or the clock was set back. What is
    /// under way may be in it, and counts already.
    fn was_read(
        &self,
        organization: OrganizationId,
        limit: Option<NanoDollars>,
        (month, total): (Month, NanoDollars),
        looks_before: u64,
    ) {
        self.change(organization, |shared| {
            shared.read_at = Some(Instant::now());
            if shared.looks == looks_before && shared.under_way == NanoDollars::ZERO {
                shared.begins(month);
                shared.seen = None;
            }
            let kept = shared.sees((month, total - shared.under_way.min(total)));
            shared.budget.keep_to(limit, kept);
        });
    }

    /// Takes over what was booked; tells whether the numbers of others must be read again.
    fn was_booked(&self, organization: OrganizationId, booked: &Booked) -> bool {
        self.change(organization, |shared| {
            let kept = shared.sees((booked.month, booked.total));
            shared.budget.was_kept(booked.amount, kept);
            shared.is_old()
        })
    }
}

impl Shared {
    /// What was spent in the newest month, now that the books were seen once more.
    fn sees(&mut self, read: (Month, NanoDollars)) -> NanoDollars {
        let seen = self.seen.map_or(read, |seen| seen.max(read));
        self.begins(seen.0);
        self.seen = Some(seen);
        self.looks += 1;
        seen.1
    }

    /// Forgets the refusals of the month before, where this one begins.
    fn begins(&self, month: Month) {
        if self.seen.is_some_and(|before| before.0 < month) {
            self.budget.forget_refusals();
        }
    }

    /// Whether its numbers must be read again.
    fn is_old(&self) -> bool {
        self.read_at.is_none_or(|read_at| read_at.elapsed() >= READ_EVERY)
    }
}

impl Store {
    /// Says what organizations may spend at most; once, before anything is spent.
    pub fn limit_spending(&self, ceilings: SpendingCeilings) {
        let _ = self.budgets.ceilings.set(ceilings);
    }
}

impl ScopedStore {
    /// What all runs of the organization may spend together this month, with what they spent as it is now.
    pub async fn monthly_budget(&self) -> Result<Arc<Budget>, StoreError> {
        let looks = self.budgets.looks(self.organization);
        let record = self.organization_record().await?;
        let (limit, month) = (self.monthly_limit(&record), Month::now());
        let spent = self.spent_in(month).await?;
        self.budgets.was_read(self.organization, limit, (month, spent), looks);
        Ok(self.budgets.of(self.organization))
    }

    /// What the organization may spend in a month: its own budget, or what the server allows it if that is less.
    #[must_use]
    pub fn monthly_limit(&self, record: &OrganizationRecord) -> Option<NanoDollars> {
        let own = record.settings.cost_budget_monthly_usd.map(NanoDollars::from_dollars);
        let ceiling = self.budgets.ceilings.get().and_then(|ceilings| ceilings.of(record.plan));
        own.into_iter().chain(ceiling).min()
    }

    /// Whether a call was refused this month since what was spent left no room for it, and there is no more room since. A call
    /// that is too dear for the whole month tells nothing of it.
    #[must_use]
    pub fn is_refusing(&self, limit: NanoDollars, spent: NanoDollars) -> bool {
        let refused = self.budgets.of(self.organization).refused();
        let needed = refused.and_then(|refused| refused.needed);
        needed.is_some_and(|needed| spent >= limit || (needed <= limit && spent + needed > limit))
    }

    /// What was spent in a month.
    pub async fn spent_in(&self, month: Month) -> Result<NanoDollars, StoreError> {
        let key = (self.organization.0, month.to_string());
        let row = spending::Entity::find_by_id(key).one(&self.database).await?;
        Ok(row.map_or(NanoDollars::ZERO, |row| NanoDollars(row.spent_nanodollars)))
    }

    /// Adds to what was spent this month; nothing where it costs nothing.
    pub(crate) async fn add_spending_in(
        &self,
        transaction: &ScopedTransaction,
        amount: NanoDollars,
    ) -> Result<Option<Booked>, StoreError> {
        if amount == NanoDollars::ZERO {
            return Ok(None);
        }
        let sql = "INSERT INTO spending (organization_id, month, spent_nanodollars) \
            VALUES ($1, $2, $3) ON CONFLICT (organization_id, month) DO UPDATE \
            SET spent_nanodollars = spending.spent_nanodollars + excluded.spent_nanodollars \
            RETURNING spent_nanodollars";
        let month = Month::now();
        let values = vec![self.organization.0.into(), month.to_string().into(), amount.0.into()];
        let row = transaction.query_one_raw(self.statement(sql, values)).await?;
        let total = row.map_or(Ok(amount.0), |row| row.try_get_by_index(0))?;
        let under_way = self.budgets.is_under_way(self.organization, amount);
        let total = NanoDollars(total);
        Ok(Some(Booked { amount, month, total, _under_way: Some(under_way) }))
    }

    /// Says that an amount was kept, and reads again what others spent when that is long ago. What was kept is kept: where it
    /// cannot be read now, the next one reads it, and nobody keeps the same again.
    pub(crate) async fn spending_was_kept(&self, booked: Option<Booked>) {
        let Some(booked) = booked else { return };
        let is_old = self.budgets.was_booked(self.organization, &booked);
        // It is not under way any more.
        drop(booked);
        if is_old {
            self.read_spending().await;
        }
    }

    /// The same where only the word of it got lost, and with it what the books say.
    pub(crate) async fn spending_was_kept_unheard(&self, amount: NanoDollars) {
        if amount == NanoDollars::ZERO {
            return;
        }
        self.read_spending().await;
        let (month, total) = (Month::now(), NanoDollars::ZERO);
        let booked = Booked { amount, month, total, _under_way: None };
        self.budgets.was_booked(self.organization, &booked);
    }

    async fn read_spending(&self) {
        if let Err(error) = self.monthly_budget().await {
            tracing::warn!(%error, "what was spent this month could not be read");
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use fullbench_types::DEFAULT_ORGANIZATION;

    use super::*;

    const LIMIT: Option<NanoDollars> = Some(NanoDollars(100));

    fn month(date: &str) -> Month {
        Month(date.parse().unwrap())
    }

    /// What is spent once 5 was settled and booked, and the books were read before and after, in any order.
    async fn spent_after(order: [usize; 3]) -> NanoDollars {
        let budgets = Budgets::default();
        let month = month("2026-11-01");
        let read = |total, looks| {
            budgets.was_read(DEFAULT_ORGANIZATION, LIMIT, (month, NanoDollars(total)), looks);
        };
        read(10, 0);
        let budget = budgets.of(DEFAULT_ORGANIZATION);
        budget.reserve(NanoDollars(5)).await.unwrap().settle(NanoDollars(5));
        let looks = budgets.looks(DEFAULT_ORGANIZATION);
        let (amount, total) = (NanoDollars(5), NanoDollars(15));
        let under_way = budgets.is_under_way(DEFAULT_ORGANIZATION, amount);
        let mut booked = Some(Booked { amount, month, total, _under_way: Some(under_way) });
        for step in order {
            match step {
                0 => read(10, looks),
                1 => read(15, looks),
                _ => {
                    let booked = booked.take().unwrap();
                    budgets.was_booked(DEFAULT_ORGANIZATION, &booked);
                }
            }
            assert_eq!(budget.spent(), NanoDollars(15), "{order:?} after {step}");
        }
        budget.spent()
    }

    #[tokio::test]
    async fn what_was_booked_counts_once_whenever_the_books_are_read() {
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            assert_eq!(spent_after(order).await, NanoDollars(15), "{order:?}");
        }
    }

    #[tokio::test]
    async fn a_new_month_forgets_who_was_refused_in_the_last_one() {
        let limit = NanoDollars(100);
        for first_look_is_a_booking in [false, true] {
            let budgets = Budgets::default();
            let read = |date, total| {
                let looks = budgets.looks(DEFAULT_ORGANIZATION);
                let read = (month(date), NanoDollars(total));
                budgets.was_read(DEFAULT_ORGANIZATION, Some(limit), read, looks);
            };
            read("2026-11-01", 95);
            let budget = budgets.of(DEFAULT_ORGANIZATION);
            budget.reserve(NanoDollars(8)).await.unwrap_err();
            read("2026-11-01", 96);
            assert!(budget.refused().is_some(), "it is the same month");
            if first_look_is_a_booking {
                let (amount, month) = (NanoDollars(1), month("2026-12-01"));
                let booked = Booked { amount, month, total: NanoDollars(1), _under_way: None };
                budgets.was_booked(DEFAULT_ORGANIZATION, &booked);
            } else {
                read("2026-12-01", 1);
            }
            assert_eq!(budget.refused(), None, "{first_look_is_a_booking}");
        }
    }

    #[test]
    fn books_that_nobody_wrote_in_meanwhile_are_believed() {
        let budgets = Budgets::default();
        // A new month, a clock that is set back, an organization that was erased.
        for (date, total) in
            [("2026-11-01", 90), ("2026-12-01", 3), ("2026-11-01", 95), ("2026-11-01", 0)]
        {
            let looks = budgets.looks(DEFAULT_ORGANIZATION);
            budgets.was_read(DEFAULT_ORGANIZATION, LIMIT, (month(date), NanoDollars(total)), looks);
            assert_eq!(budgets.of(DEFAULT_ORGANIZATION).spent(), NanoDollars(total), "{date}");
        }
    }
}
