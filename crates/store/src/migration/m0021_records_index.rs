//! How many results an organization has planned, counted without reading what its runs say.

use sea_orm_migration::prelude::*;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0021_records_index"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let sql = "CREATE INDEX runs_by_planned_units ON runs (organization_id, planned_units)";
        manager.get_connection().execute_unprepared(sql).await?;
        Ok(())
    }
}
