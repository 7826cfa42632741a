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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
}

impl Budgets {
    /// The budget of an organization, and whether its numbers must be read again.
    fn of(&self, organization: OrganizationId) -> (Arc<Budget>, bool) {
        let mut all = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = all.entry(organization).or_default();
        let is_old = shared.read_at.is_none_or(|read_at| read_at.elapsed() >= READ_EVERY);
        (Arc::clone(&shared.budget), is_old)
    }

    fn was_read(&self, organization: OrganizationId) {
        let mut all = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry(organization).or_default().read_at = Some(Instant::now());
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
        let (budget, _) = self.budgets.of(self.organization);
        let record = self.organization_record().await?;
        budget.keep_to(self.monthly_limit(&record), self.spent_in(Month::now()).await?);
        self.budgets.was_read(self.organization);
        Ok(budget)
    }

    /// What the organization may spend in a month: its own budget, or what the server allows it if that is less.
    #[must_use]
    pub fn monthly_limit(&self, record: &OrganizationRecord) -> Option<NanoDollars> {
        let own = record.settings.cost_budget_monthly_usd.map(NanoDollars::from_dollars);
        let ceiling = self.budgets.ceilings.get().and_then(|ceilings| ceilings.of(record.plan));
        own.into_iter().chain(ceiling).min()
    }

    /// What was spent in a month.
    pub async fn spent_in(&self, month: Month) -> Result<NanoDollars, StoreError> {
        let key = (self.organization.0, month.to_string());
        let row = spending::Entity::find_by_id(key).one(&self.database).await?;
        Ok(row.map_or(NanoDollars::ZERO, |row| NanoDollars(row.spent_nanodollars)))
    }

    /// Adds to what was spent this month.
    pub(crate) async fn add_spending_in(
        &self,
        transaction: &ScopedTransaction,
        amount: NanoDollars,
    ) -> Result<(), StoreError> {
        if amount == NanoDollars::ZERO {
            return Ok(());
        }
        let sql = "INSERT INTO spending (organization_id, month, spent_nanodollars) \
            VALUES ($1, $2, $3) ON CONFLICT (organization_id, month) DO UPDATE \
            SET spent_nanodollars = spending.spent_nanodollars + excluded.spent_nanodollars";
        let month = Month::now().to_string();
        let values = vec![self.organization.0.into(), month.into(), amount.0.into()];
        transaction.execute_raw(self.statement(sql, values)).await?;
        Ok(())
    }

    /// Says that an amount was kept, and reads again what others spent when that is long ago. What was kept is kept: where it
    /// cannot be read now, the next one reads it, and nobody keeps the same again.
    pub(crate) async fn spending_was_kept(&self, amount: NanoDollars) {
        let (budget, is_old) = self.budgets.of(self.organization);
        budget.was_kept(amount);
        // Where nobody asked for a budget there is nothing to keep up to date.
        if amount != NanoDollars::ZERO
            && is_old
            && let Err(error) = self.monthly_budget().await
        {
            tracing::warn!(%error, "what was spent this month could not be read");
        }
    }
}
