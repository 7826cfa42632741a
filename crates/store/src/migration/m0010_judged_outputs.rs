//! Judged outputs, for those that say the same.

use sea_orm::Schema;
use sea_orm_migration::prelude::*;

use crate::entity::judged_output;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0010_judged_outputs"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let schema = Schema::new(manager.get_database_backend());
        manager.create_table(schema.create_table_from_entity(judged_output::Entity)).await
    }
}
