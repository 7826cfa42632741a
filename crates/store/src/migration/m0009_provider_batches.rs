//! Batches of requests at providers.

use sea_orm::Schema;
use sea_orm_migration::prelude::*;

use crate::entity::provider_batch;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0009_provider_batches"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let schema = Schema::new(manager.get_database_backend());
        manager.create_table(schema.create_table_from_entity(provider_batch::Entity)).await?;
        let by_run = Index::create()
            .name("provider_batches_by_run")
            .table(provider_batch::Entity)
            .col(provider_batch::Column::RunId)
            .to_owned();
        manager.create_index(by_run).await
    }
}
