//! Baselines: names that stand for a run which others are compared with.

use fullbench_types::RunId;
use jiff::Timestamp;
use sea_orm::{
    ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder, sea_query::OnConflict,
};

use crate::entity::baseline;
use crate::runs::now_milliseconds;
use crate::{EntityKind, ScopedStore, StoreError};

/// The longest name of a baseline.
const MAX_NAME: usize = 100;

/// A name and the run it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Baseline {
    /// The name.
    pub name: String,
    /// The run.
    pub run: RunId,
    /// Since when it stands for this run.
    pub set_at: Timestamp,
}

impl ScopedStore {
    /// Lets a name stand for a run, instead of the one it stood for before. A name that already finds a run by its name or
    /// the letters of its id is refused, as is `latest`.
    pub async fn set_baseline(&self, name: &str, run: RunId) -> Result<Baseline, StoreError> {
        self.run(run).await?;
        let printable = !name.chars().any(|letter| letter.is_control() || letter.is_whitespace());
        if name.is_empty() || name.chars().count() > MAX_NAME || !printable {
            return Err(StoreError::BaselineName(name.to_owned()));
        }
        match self.find_run_itself(name).await {
            Err(StoreError::RunNotFound(_)) if name != "latest" => {}
            Err(StoreError::RunNotFound(_) | StoreError::RunAmbiguous { .. }) | Ok(_) => {
                return Err(StoreError::BaselineIsRun(name.to_owned()));
            }
            Err(other) => return Err(other),
        }
        let row = baseline::ActiveModel {
            organization_id: Set(self.organization.0),
            name: Set(name.to_owned()),
            run_id: Set(run.0),
            set_at: Set(now_milliseconds()),
        };
        let same = OnConflict::columns([baseline::Column::OrganizationId, baseline::Column::Name])
            .update_columns([baseline::Column::RunId, baseline::Column::SetAt])
            .to_owned();
        let insert = baseline::Entity::insert(row).on_conflict(same);
        let transaction = self.begin_adding().await?;
        let key = (self.organization.0, name.to_owned());
        let is_new = baseline::Entity::find_by_id(key).one(&transaction).await?.is_none();
        insert.exec_without_returning(&transaction).await?;
        if is_new {
            self.check_count(EntityKind::Baseline, "baselines", &transaction).await?;
        }
        transaction.commit().await?;
        self.baseline(name).await
    }

    /// The baseline of this name.
    pub async fn baseline(&self, name: &str) -> Result<Baseline, StoreError> {
        let found = baseline::Entity::find()
            .filter(baseline::Column::OrganizationId.eq(self.organization.0))
            .filter(baseline::Column::Name.eq(name))
            .one(&self.database)
            .await?;
        record(found.ok_or_else(|| StoreError::BaselineNotFound(name.to_owned()))?)
    }

    /// All baselines by name.
    pub async fn baselines(&self) -> Result<Vec<Baseline>, StoreError> {
        let rows = baseline::Entity::find()
            .filter(baseline::Column::OrganizationId.eq(self.organization.0))
            .order_by_asc(baseline::Column::Name)
            .all(&self.database)
            .await?;
        rows.into_iter().map(record).collect()
    }

    /// Forgets a baseline; its run stays.
    pub async fn remove_baseline(&self, name: &str) -> Result<Baseline, StoreError> {
        let removed = self.baseline(name).await?;
        baseline::Entity::delete_many()
            .filter(baseline::Column::OrganizationId.eq(self.organization.0))
            .filter(baseline::Column::Name.eq(name))
            .exec(&self.database)
            .await?;
        Ok(removed)
    }
}

fn record(row: baseline::Model) -> Result<Baseline, StoreError> {
    let set_at = Timestamp::from_millisecond(row.set_at).map_err(|_| {
        StoreError::Damaged(format!("baseline `{}`: a time out of range", row.name))
    })?;
    Ok(Baseline { name: row.name, run: RunId(row.run_id), set_at })
}
