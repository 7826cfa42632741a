//! How a judge came to its score, beside the score.

use sea_orm_migration::prelude::*;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0004_judgements"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let sql = "ALTER TABLE scores ADD COLUMN judgement TEXT";
        manager.get_connection().execute_unprepared(sql).await?;
        Ok(())
    }
}
