//! What an organization has of that which grows: bytes of files, runs that have not ended, results and documents.

use fullbench_types::{Priority, RunOrigin, RunState};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect};

use crate::entity::run;
use crate::lifecycle::OPEN;
use crate::{ScopedStore, Store, StoreError};

impl Store {
    /// Asks the database for nothing, to see whether it answers.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.system().execute_unprepared("SELECT 1").await?;
        Ok(())
    }

    /// Runs that wait for a server to begin with them, of all organizations, by priority.
    pub async fn waiting_runs(&self) -> Result<Vec<(Priority, u64)>, StoreError> {
        let counts: Vec<(String, i64)> = run::Entity::find()
            .filter(run::Column::State.eq(RunState::Pending.as_str()))
            .filter(run::Column::Origin.ne(RunOrigin::CommandLine.as_str()))
            .select_only()
            .column(run::Column::Priority)
            .column_as(run::Column::Id.count(), "runs")
            .group_by(run::Column::Priority)
            .into_tuple()
            .all(self.system())
            .await?;
        let count = |priority: &Priority| {
            let found = counts.iter().find(|(word, _)| word == priority.as_str());
            (*priority, found.map_or(0, |(_, runs)| u64::try_from(*runs).unwrap_or(0)))
        };
        Ok(Priority::ALL.iter().map(count).collect())
    }
}

impl ScopedStore {
    /// Bytes of all files that were uploaded and not removed.
    pub async fn stored_bytes(&self) -> Result<u64, StoreError> {
        self.stored_bytes_in(&self.database).await
    }

    /// The same as it is seen by a transaction.
    pub(crate) async fn stored_bytes_in(
        &self,
        connection: &impl ConnectionTrait,
    ) -> Result<u64, StoreError> {
        let sql = "SELECT CAST(COALESCE(SUM(file_bytes), 0) AS BIGINT) FROM dataset_versions WHERE organization_id = $1";
        self.total(connection, sql.to_owned()).await
    }

    /// Runs that wait or are worked on.
    pub async fn open_runs(&self) -> Result<u64, StoreError> {
        let sql =
            format!("SELECT COUNT(*) FROM runs WHERE organization_id = $1 AND state IN {OPEN}");
        self.total(&self.database, sql).await
    }

    /// Results and documents: planned units of all runs that are kept, and texts to be judged.
    pub async fn records(&self) -> Result<u64, StoreError> {
        let sql = "SELECT CAST((SELECT COALESCE(SUM(planned_units), 0) FROM runs WHERE organization_id = $1) \
            + (SELECT COUNT(*) FROM documents WHERE organization_id = $1) AS BIGINT)";
        self.total(&self.database, sql.to_owned()).await
    }

    async fn total(
        &self,
        connection: &impl ConnectionTrait,
        sql: String,
    ) -> Result<u64, StoreError> {
        let statement = self.statement(sql, vec![self.organization.0.into()]);
        let row = connection.query_one_raw(statement).await?;
        let total: i64 = row.map_or(Ok(0), |row| row.try_get_by_index(0))?;
        Ok(u64::try_from(total).unwrap_or(0))
    }
}
