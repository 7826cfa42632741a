//! Evaluation steps that models wrote: once for each criterion, model and prompt, and for good.

use fullbench_types::ContentHash;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ActiveValue::Set, EntityTrait};

use crate::entity::evaluation_steps;
use crate::runs::now_milliseconds;
use crate::{ScopedStore, StoreError};

impl ScopedStore {
    /// The steps that are kept under a key.
    pub async fn evaluation_steps(
        &self,
        key: &ContentHash,
    ) -> Result<Option<Vec<String>>, StoreError> {
        let id = (self.organization.0, key.to_string());
        let row = evaluation_steps::Entity::find_by_id(id).one(&self.database).await?;
        let damaged = |error: serde_json::Error| {
            StoreError::Damaged(format!("evaluation steps {key}: {error}"))
        };
        row.map(|row| serde_json::from_str(&row.steps).map_err(damaged)).transpose()
    }

    /// Keeps steps under a key, unless there are some, and gives those that are kept.
    pub async fn keep_evaluation_steps(
        &self,
        key: &ContentHash,
        steps: &[String],
    ) -> Result<Vec<String>, StoreError> {
        let row = evaluation_steps::ActiveModel {
            organization_id: Set(self.organization.0),
            key: Set(key.to_string()),
            steps: Set(serde_json::Value::from(steps).to_string()),
            created_at: Set(now_milliseconds()),
        };
        let columns = [evaluation_steps::Column::OrganizationId, evaluation_steps::Column::Key];
        evaluation_steps::Entity::insert(row)
            .on_conflict(OnConflict::columns(columns).do_nothing().to_owned())
            .exec_without_returning(&self.database)
            .await?;
        Ok(self.evaluation_steps(key).await?.unwrap_or_else(|| steps.to_vec()))
    }
}
