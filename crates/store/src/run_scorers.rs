//! Scorers that were added to a run after it had begun: the spec of the run stays as it was.

use fullbench_types::RunId;
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter, QueryOrder};

use crate::entity::run_scorer;
use crate::recorder::REPLACE_LANES;
use crate::runs::now_milliseconds;
use crate::{EntityKind, LaneProgress, ScopedStore, StoreError};

impl ScopedStore {
    /// The entries of the scorers that were added to a run, as JSON, in the order in which they came.
    pub async fn added_scorers(&self, run: RunId) -> Result<Vec<String>, StoreError> {
        let rows = run_scorer::Entity::find()
            .filter(run_scorer::Column::OrganizationId.eq(self.organization.0))
            .filter(run_scorer::Column::RunId.eq(run.0))
            .order_by_asc(run_scorer::Column::Position)
            .all(&self.database)
            .await?;
        Ok(rows.into_iter().map(|row| row.config).collect())
    }

    /// Adds scorers to a run, each by its entry as JSON, and takes its lanes back to where their work begins.
    pub async fn add_scorers(
        &self,
        run: RunId,
        entries: &[String],
        reopened: &[LaneProgress],
    ) -> Result<(), StoreError> {
        self.run(run).await?;
        let before = self.added_scorers(run).await?.len();
        let rows = entries.iter().enumerate().map(|(index, config)| run_scorer::ActiveModel {
            run_id: Set(run.0),
            position: Set((before + index) as i32),
            organization_id: Set(self.organization.0),
            config: Set(config.clone()),
            added_at: Set(now_milliseconds()),
        });
        let rows = run_scorer::Entity::insert_many(rows);
        let transaction = self.begin_adding().await?;
        rows.exec_without_returning(&transaction).await?;
        let (kind, table) = (EntityKind::AddedScorer, "run_scorers");
        self.check_count_for(kind, table, run.0.into(), &transaction).await?;
        self.insert_lanes(&transaction, reopened, REPLACE_LANES, |lane| (run, *lane)).await?;
        transaction.commit().await?;
        Ok(())
    }
}
