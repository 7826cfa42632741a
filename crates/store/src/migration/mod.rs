//! Migrations, one file each, never changed once released.

mod frozen;
mod m0001_runs_and_results;
mod m0002_missing_scores;
mod m0003_baselines;
mod m0004_judgements;
mod m0005_judges;
mod m0006_run_scorers;
mod m0007_evaluation_steps;
mod m0008_score_paths;
mod m0009_provider_batches;
mod m0010_judged_outputs;
mod m0011_platform;
mod m0012_documents_and_prompts;
mod m0013_webhooks;
mod m0014_access;
mod m0015_audit;
mod m0016_secrets;
mod m0017_accounts;
mod m0018_spending;
mod m0019_alerts;
mod m0020_validation_attempts;
mod m0021_records_index;

use sea_orm::{ConnectionTrait, Statement};
use sea_orm_migration::prelude::*;

use crate::StoreError;

/// The table in which a database says which migrations it has.
pub(crate) const TABLE: &str = "seaql_migrations";

pub(crate) struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(m0001_runs_and_results::Migration),
            Box::new(m0002_missing_scores::Migration),
            Box::new(m0003_baselines::Migration),
            Box::new(m0004_judgements::Migration),
            Box::new(m0005_judges::Migration),
            Box::new(m0006_run_scorers::Migration),
            Box::new(m0007_evaluation_steps::Migration),
            Box::new(m0008_score_paths::Migration),
            Box::new(m0009_provider_batches::Migration),
            Box::new(m0010_judged_outputs::Migration),
            Box::new(m0011_platform::Migration),
            Box::new(m0012_documents_and_prompts::Migration),
            Box::new(m0013_webhooks::Migration),
            Box::new(m0014_access::Migration),
            Box::new(m0015_audit::Migration),
            Box::new(m0016_secrets::Migration),
            Box::new(m0017_accounts::Migration),
            Box::new(m0018_spending::Migration),
            Box::new(m0019_alerts::Migration),
            Box::new(m0020_validation_attempts::Migration),
            Box::new(m0021_records_index::Migration),
        ]
    }
}

/// The names of all migrations this version knows, oldest first.
pub(crate) fn known() -> Vec<String> {
    Migrator::migrations().iter().map(|migration| migration.name().to_owned()).collect()
}

/// The migrations that a database has, oldest first; none where it has no tables yet.
pub(crate) async fn applied<'c>(
    connection: impl IntoSchemaManagerConnection<'c>,
) -> Result<Vec<String>, DbErr> {
    let manager = SchemaManager::new(connection);
    if !manager.has_table(TABLE).await? {
        return Ok(Vec::new());
    }
    let sql = format!("SELECT version FROM {TABLE} ORDER BY version");
    let statement = Statement::from_string(manager.get_database_backend(), sql);
    let rows = manager.get_connection().query_all_raw(statement).await?;
    rows.iter().map(|row| row.try_get_by_index(0)).collect()
}

/// Refuses a database that has migrations this version does not know; else says which ones it lacks.
pub(crate) async fn refuse_newer<'c>(
    connection: impl IntoSchemaManagerConnection<'c>,
    database: impl FnOnce() -> String,
) -> Result<Vec<String>, StoreError> {
    let (applied, mut pending) = (applied(connection).await?, known());
    for migration in applied {
        match pending.iter().position(|known| *known == migration) {
            Some(place) => drop(pending.remove(place)),
            None => return Err(StoreError::NewerDatabase { database: database(), migration }),
        }
    }
    Ok(pending)
}
