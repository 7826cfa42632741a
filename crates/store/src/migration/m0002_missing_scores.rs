//! An index of the scores that are missing because the provider of a scorer failed, for runs that go on.

use sea_orm_migration::prelude::*;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0002_missing_scores"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let sql = "CREATE INDEX scores_missing ON scores (run_id, model_index, case_index) \
             WHERE reason = 'provider_error'";
        manager.get_connection().execute_unprepared(sql).await?;
        Ok(())
    }
}
