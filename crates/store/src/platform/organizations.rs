//! Organizations: made and listed without a scope, since they are the scopes.

use fullbench_types::{DEFAULT_ORGANIZATION, OrganizationId, Plan};
use jiff::Timestamp;
use sea_orm::{ActiveModelTrait, ActiveValue::Set, EntityTrait, QueryOrder};
use serde::{Deserialize, Serialize};

use super::{from_json, time, to_json, word};
use crate::entity::platform::organization;
use crate::runs::now_milliseconds;
use crate::{EntityKind, ScopedStore, ScrubKind, Store, StoreError};

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
    /// Requests that all keys and members together may make in a minute; the server's own limit where there is none.
    pub requests_per_minute: Option<u32>,
    /// What is taken out of texts before they are kept.
    pub scrub: Vec<ScrubKind>,
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
        record(row.ok_or_else(|| StoreError::NameNotFound {
            kind: EntityKind::Organization,
            name: id.to_string(),
        })?)
    }
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
