//! Runs, data set versions, generations, scores, progress.

use sea_orm::{DbBackend, Schema};
use sea_orm_migration::prelude::*;

use crate::entity::{dataset_content, generation, run_progress, score};
use crate::postgres::create_default_partition;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0001_runs_and_results"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let backend = manager.get_database_backend();
        let schema = Schema::new(backend);
        manager.create_table(runs()).await?;
        manager.create_table(schema.create_table_from_entity(dataset_content::Entity)).await?;
        manager.create_table(schema.create_table_from_entity(run_progress::Entity)).await?;
        let mut generations = schema.create_table_from_entity(generation::Entity);
        let mut scores = schema.create_table_from_entity(score::Entity);
        if backend == DbBackend::Postgres {
            generations.extra("PARTITION BY RANGE (run_id)");
            scores.extra("PARTITION BY RANGE (run_id)");
        } else {
            scores.extra("WITHOUT ROWID");
        }
        manager.create_table(generations).await?;
        manager.create_table(scores).await?;
        if backend == DbBackend::Postgres {
            create_default_partition(manager.get_connection(), "generations").await?;
            create_default_partition(manager.get_connection(), "scores").await?;
        }
        manager
            .create_index(
                Index::create()
                    .name("dataset_versions_by_source")
                    .table(dataset_content::Entity)
                    .col(dataset_content::Column::OrganizationId)
                    .col(dataset_content::Column::SourceHash)
                    .to_owned(),
            )
            .await?;
        manager
            .get_connection()
            .execute_unprepared(
                "CREATE INDEX generations_failed ON generations (run_id, model_index, case_index) \
                 WHERE status <> 'answered'",
            )
            .await?;
        Ok(())
    }
}

/// The first columns of runs; later migrations add to them.
fn runs() -> TableCreateStatement {
    let text = |name: &'static str| ColumnDef::new(name).text().not_null().to_owned();
    let word = |name: &'static str| ColumnDef::new(name).string().not_null().to_owned();
    let number = |name: &'static str| ColumnDef::new(name).big_integer().not_null().to_owned();
    Table::create()
        .table("runs")
        .col(ColumnDef::new("id").uuid().not_null().primary_key())
        .col(ColumnDef::new("organization_id").uuid().not_null())
        .col(word("name"))
        .col(word("kind"))
        .col(word("state"))
        .col(text("spec"))
        .col(word("spec_hash"))
        .col(word("dataset_hash"))
        .col(text("notes"))
        .col(number("planned_units"))
        .col(word("version"))
        .col(number("created_at"))
        .col(number("updated_at"))
        .col(ColumnDef::new("finished_at").big_integer())
        .to_owned()
}
