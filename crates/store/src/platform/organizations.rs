//! Organizations: made and listed without a scope, since they are the scopes.

use fullbench_types::{DEFAULT_ORGANIZATION, OrganizationId, Plan, ScrubKind};
use jiff::Timestamp;
use sea_orm::sea_query::{Expr, LockType};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, ConnectionTrait, DbBackend, EntityTrait,
    IntoActiveModel, QueryFilter, QueryOrder, QuerySelect, TransactionTrait,
};
use serde::{Deserialize, Serialize};

use super::{from_json, time, to_json, word};
use crate::entity::platform::organization;
use crate::runs::now_milliseconds;
use crate::{EntityKind, ScopedStore, Store, StoreError};

/// What an organization has decided for all its members.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OrganizationSettings {
    /// Scorers of an evaluation that names none.
    pub default_evaluators: Vec<String>,
    /// What may be spent in a month.
    pub cost_budget_monthly_usd: Option<f64>,
    /// For how long results are kept.
    pub data_retention_days: Option<u32>,
    /// Requests that all keys and members together may make in a minute, where that is less than the server allows.
    pub requests_per_minute: Option<u32>,
    /// What is taken out of texts before they are kept.
    pub scrub: Vec<ScrubKind>,
    /// Texts are sealed with the key of the organization before they are kept.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub encrypt_texts: bool,
}

/// What is known of an organization when it is made.
#[derive(Debug, Clone)]
pub struct NewOrganization {
    /// Its name.
    pub name: String,
    /// Its name in addresses.
    pub slug: String,
    /// What it pays for.
    pub plan: Plan,
}

/// A tenant.
#[derive(Debug, Clone, PartialEq)]
pub struct OrganizationRecord {
    /// Its id.
    pub id: OrganizationId,
    /// Its name.
    pub name: String,
    /// Its name in addresses.
    pub slug: String,
    /// What it pays for.
    pub plan: Plan,
    /// What it has decided.
    pub settings: OrganizationSettings,
    /// Who gets the bill.
    pub billing_email: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// The organization of the command line, as every database has it from the beginning.
pub(crate) fn default_organization() -> organization::ActiveModel {
    let now = now_milliseconds();
    organization::ActiveModel {
        id: Set(DEFAULT_ORGANIZATION.0),
        name: Set("Default".to_owned()),
        slug: Set("default".to_owned()),
        plan: Set(Plan::Free.as_str().to_owned()),
        settings: Set("{}".to_owned()),
        billing_email: Set(None),
        last_event: Set(0),
        created_at: Set(now),
        updated_at: Set(now),
    }
}

/// What is to be different about an organization.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OrganizationChange {
    /// Its name.
    pub name: Option<String>,
    /// What it pays for.
    pub plan: Option<Plan>,
    /// Who gets the bill; nobody where there is none in it.
    pub billing_email: Option<Option<String>>,
    /// Scorers of an evaluation that names none.
    pub default_evaluators: Option<Vec<String>>,
    /// What may be spent in a month.
    pub cost_budget_monthly_usd: Option<Option<f64>>,
    /// For how long results are kept.
    pub data_retention_days: Option<Option<u32>>,
    /// Requests that all together may make in a minute.
    pub requests_per_minute: Option<Option<u32>>,
    /// What is taken out of texts before they are kept.
    pub scrub: Option<Vec<ScrubKind>>,
    /// Texts are sealed before they are kept.
    pub encrypt_texts: Option<bool>,
}

impl Store {
    /// Makes an organization; its slug must be free.
    pub async fn create_organization(
        &self,
        new: NewOrganization,
    ) -> Result<OrganizationRecord, StoreError> {
        let now = now_milliseconds();
        let name = new.slug.clone();
        let row = organization::ActiveModel {
            id: Set(uuid::Uuid::now_v7()),
            name: Set(new.name),
            slug: Set(new.slug),
            plan: Set(new.plan.as_str().to_owned()),
            settings: Set(to_json(&OrganizationSettings::default())?),
            billing_email: Set(None),
            last_event: Set(0),
            created_at: Set(now),
            updated_at: Set(now),
        };
        let taken = || StoreError::NameTaken { kind: EntityKind::Organization, name };
        record(row.insert(self.system()).await.map_err(StoreError::when_taken(taken))?)
    }

    /// The organization of this slug.
    pub async fn organization_of_slug(
        &self,
        slug: &str,
    ) -> Result<Option<OrganizationRecord>, StoreError> {
        let found = organization::Entity::find()
            .filter(organization::Column::Slug.eq(slug))
            .one(self.system())
            .await?;
        found.map(record).transpose()
    }

    /// The organization, where there is only one.
    pub async fn only_organization(&self) -> Result<Option<OrganizationRecord>, StoreError> {
        let mut rows = organization::Entity::find().limit(2).all(self.system()).await?;
        match rows.len() {
            1 => rows.pop().map(record).transpose(),
            _ => Ok(None),
        }
    }

    /// All organizations, the oldest first.
    pub async fn organizations(&self) -> Result<Vec<OrganizationRecord>, StoreError> {
        let rows = organization::Entity::find()
            .order_by_asc(organization::Column::CreatedAt)
            .order_by_asc(organization::Column::Id)
            .all(self.system())
            .await?;
        rows.into_iter().map(record).collect()
    }
}

impl ScopedStore {
    /// The organization itself.
    pub async fn organization_record(&self) -> Result<OrganizationRecord, StoreError> {
        let id = self.organization.0;
        let row = organization::Entity::find_by_id(id).one(&self.database).await?;
        record(row.ok_or_else(|| unknown(self.organization))?)
    }

    /// Changes what is named, and leaves the rest.
    pub async fn change_organization(
        &self,
        change: OrganizationChange,
    ) -> Result<OrganizationRecord, StoreError> {
        if change == OrganizationChange::default() {
            return self.organization_record().await;
        }
        let id = self.organization.0;
        let transaction = self.database.begin().await?;
        lock_organization(&transaction, self.organization).await?;
        let row = organization::Entity::find_by_id(id).one(&transaction).await?;
        let row = row.ok_or_else(|| unknown(self.organization))?;
        let mut settings: OrganizationSettings = from_json(&row.settings)?;
        let mut changed = row.into_active_model();
        if let Some(name) = change.name {
            changed.name = Set(name);
        }
        if let Some(plan) = change.plan {
            changed.plan = Set(plan.as_str().to_owned());
        }
        if let Some(billing_email) = change.billing_email {
            changed.billing_email = Set(billing_email);
        }
        if let Some(default_evaluators) = change.default_evaluators {
            settings.default_evaluators = default_evaluators;
        }
        if let Some(budget) = change.cost_budget_monthly_usd {
            settings.cost_budget_monthly_usd = budget;
        }
        if let Some(days) = change.data_retention_days {
            settings.data_retention_days = days;
        }
        if let Some(scrub) = change.scrub {
            settings.scrub = scrub;
        }
        if let Some(encrypt_texts) = change.encrypt_texts {
            settings.encrypt_texts = encrypt_texts;
        }
        if let Some(limit) = change.requests_per_minute {
            settings.requests_per_minute = limit;
        }
        changed.settings = Set(to_json(&settings)?);
        changed.updated_at = Set(now_milliseconds());
        let changed = changed.update(&transaction).await?;
        transaction.commit().await?;
        record(changed)
    }
}

/// Lets nobody else change the organization or its members until the transaction ends. Who has to wait for it waits briefly.
pub(crate) async fn lock_organization(
    transaction: &impl ConnectionTrait,
    organization: OrganizationId,
) -> Result<(), StoreError> {
    wait_briefly(transaction).await?;
    hold_organization(transaction, organization).await
}

/// Has a transaction be refused for now where it would wait for longer than some seconds for what another one holds: an erasure
/// takes its time, and those who wait for it would hold all connections, and hold up others.
pub(crate) async fn wait_briefly(transaction: &impl ConnectionTrait) -> Result<(), StoreError> {
    if transaction.get_database_backend() == DbBackend::Postgres {
        transaction.execute_unprepared("SET LOCAL lock_timeout = '5s'").await?;
    }
    Ok(())
}

/// The same as [`lock_organization`] for who waits as long as it takes.
pub(crate) async fn hold_organization(
    transaction: &impl ConnectionTrait,
    organization: OrganizationId,
) -> Result<(), StoreError> {
    organization::Entity::update_many()
        .col_expr(organization::Column::UpdatedAt, Expr::col(organization::Column::UpdatedAt))
        .filter(organization::Column::Id.eq(organization.0))
        .exec(transaction)
        .await?;
    Ok(())
}

/// Refuses to keep anything for an organization that was erased meanwhile, and keeps it from being erased until the transaction
/// ends. Comes after the first row that is written: from then on nobody else writes to SQLite.
pub(crate) async fn refuse_erased(
    transaction: &impl ConnectionTrait,
    organization: OrganizationId,
) -> Result<(), StoreError> {
    let row = organization::Entity::find_by_id(organization.0).lock(LockType::KeyShare);
    row.one(transaction).await?.map(drop).ok_or_else(|| unknown(organization))
}

/// There is no such organization.
pub(crate) fn unknown(organization: OrganizationId) -> StoreError {
    StoreError::NameNotFound { kind: EntityKind::Organization, name: organization.0.to_string() }
}

fn record(row: organization::Model) -> Result<OrganizationRecord, StoreError> {
    Ok(OrganizationRecord {
        id: OrganizationId(row.id),
        plan: word(&row.plan, Plan::from_word)?,
        settings: from_json(&row.settings)?,
        created_at: time(row.created_at)?,
        updated_at: time(row.updated_at)?,
        name: row.name,
        slug: row.slug,
        billing_email: row.billing_email,
    })
}
