//! How often it was begun to look through the rows of a version, so that one that ends the server is not taken up for ever.

use sea_orm_migration::prelude::*;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0020_validation_attempts"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let sql = "ALTER TABLE dataset_versions ADD COLUMN validation_attempts integer NOT NULL DEFAULT 0";
        manager.get_connection().execute_unprepared(sql).await?;
        Ok(())
    }
}
