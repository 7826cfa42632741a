//! Evaluation steps that models wrote for judges.

use sea_orm::Schema;
use sea_orm_migration::prelude::*;

use crate::entity::evaluation_steps;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0007_evaluation_steps"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let schema = Schema::new(manager.get_database_backend());
        manager.create_table(schema.create_table_from_entity(evaluation_steps::Entity)).await
    }
}
