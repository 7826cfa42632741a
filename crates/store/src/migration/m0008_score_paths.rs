//! The way an output took to its score, beside the score.

use sea_orm_migration::prelude::*;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0008_score_paths"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let sql = "ALTER TABLE scores ADD COLUMN path TEXT";
        manager.get_connection().execute_unprepared(sql).await?;
        Ok(())
    }
}
