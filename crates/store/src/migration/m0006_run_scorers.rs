//! Scorers that are added to a run later.

use sea_orm::Schema;
use sea_orm_migration::prelude::*;

use crate::entity::run_scorer;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0006_run_scorers"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let schema = Schema::new(manager.get_database_backend());
        manager.create_table(schema.create_table_from_entity(run_scorer::Entity)).await
    }
}
