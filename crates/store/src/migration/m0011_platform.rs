//! The platform: organizations with users and keys, data sets with versions, cases and agreed answers, events, and what a run
//! on a server has beside its spec.

use fullbench_types::{
    DEFAULT_ORGANIZATION, DatasetKind, FileFormat, GroundTruthSource, Plan, Priority, RunOrigin,
    UserRole, ValidationStatus, VersionStatus,
};
use sea_orm::{ActiveModelTrait, ActiveValue::Set, DbBackend, Schema};
use sea_orm_migration::prelude::*;

use super::frozen::{api_key, dataset_version, user};
use crate::entity::platform::{
    dataset, event, ground_truth, idempotency_key, organization, test_case,
};
use crate::runs::now_milliseconds;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0011_platform"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // The name is wanted for what people call a version of a data set.
        if !manager.has_table("dataset_contents").await? {
            let rename = Table::rename().table("dataset_versions", "dataset_contents").to_owned();
            manager.rename_table(rename).await?;
        }
        organizations(manager).await?;
        datasets(manager).await?;
        runs(manager).await?;
        let schema = Schema::new(manager.get_database_backend());
        for mut table in [
            schema.create_table_from_entity(event::Entity),
            schema.create_table_from_entity(idempotency_key::Entity),
        ] {
            table.foreign_key(&mut belongs_to("organization_id", "organizations"));
            manager.create_table(table).await?;
        }
        Ok(())
    }
}

async fn organizations(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let schema = Schema::new(manager.get_database_backend());
    let mut organizations = schema.create_table_from_entity(organization::Entity);
    organizations.check(one_of("plan", Plan::ALL.iter().map(|plan| plan.as_str())));
    manager.create_table(organizations).await?;
    let now = now_milliseconds();
    let default = organization::ActiveModel {
        id: Set(DEFAULT_ORGANIZATION.0),
        name: Set("Default".to_owned()),
        slug: Set("default".to_owned()),
        plan: Set(Plan::Free.as_str().to_owned()),
        settings: Set("{}".to_owned()),
        billing_email: Set(None),
        last_event: Set(0),
        created_at: Set(now),
        updated_at: Set(now),
    };
    default.insert(manager.get_connection()).await?;

    let mut users = schema.create_table_from_entity(user::Entity);
    users
        .check(one_of("role", UserRole::ALL.iter().map(|role| role.as_str())))
        .foreign_key(&mut belongs_to("organization_id", "organizations"));
    manager.create_table(users).await?;
    index(manager, "users_by_email", "users", &["organization_id", "email"], true).await?;
    let mut keys = schema.create_table_from_entity(api_key::Entity);
    keys.foreign_key(&mut belongs_to("organization_id", "organizations"))
        .foreign_key(&mut belongs_to("user_id", "users"));
    manager.create_table(keys).await
}

async fn datasets(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let schema = Schema::new(manager.get_database_backend());
    let mut datasets = schema.create_table_from_entity(dataset::Entity);
    datasets
        .check(one_of("kind", DatasetKind::ALL.iter().map(|kind| kind.as_str())))
        .foreign_key(&mut belongs_to("organization_id", "organizations"));
    manager.create_table(datasets).await?;
    index(manager, "datasets_by_name", "datasets", &["organization_id", "name"], true).await?;
    index(manager, "datasets_by_time", "datasets", &["organization_id", "created_at"], false)
        .await?;

    let mut versions = schema.create_table_from_entity(dataset_version::Entity);
    versions
        .check(one_of("status", VersionStatus::ALL.iter().map(|status| status.as_str())))
        .check(one_of("file_format", FileFormat::ALL.iter().map(|format| format.as_str())))
        .check(one_of(
            "validation_status",
            ValidationStatus::ALL.iter().map(|status| status.as_str()),
        ))
        .foreign_key(&mut belongs_to("dataset_id", "datasets"));
    manager.create_table(versions).await?;
    let versions = "dataset_versions";
    index(manager, "versions_by_number", versions, &["dataset_id", "version_number"], true).await?;
    index(manager, "versions_by_status", versions, &["dataset_id", "status"], false).await?;

    let mut cases = schema.create_table_from_entity(test_case::Entity);
    cases.foreign_key(&mut belongs_to("version_id", "dataset_versions"));
    manager.create_table(cases).await?;
    index(manager, "cases_by_row", "test_cases", &["version_id", "row_index"], true).await?;

    let mut truths = schema.create_table_from_entity(ground_truth::Entity);
    truths
        .check(one_of("source", GroundTruthSource::ALL.iter().map(|source| source.as_str())))
        .check(Expr::cust("confidence IS NULL OR (confidence >= 0.0 AND confidence <= 1.0)"))
        .foreign_key(&mut belongs_to("test_case_id", "test_cases"));
    manager.create_table(truths).await?;
    let truths = "ground_truths";
    index(manager, "truths_by_revision", truths, &["version_id", "revision"], true).await?;
    index(manager, "truths_by_case", truths, &["test_case_id", "revision"], false).await
}

async fn runs(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let uuid =
        if manager.get_database_backend() == DbBackend::Sqlite { "uuid_text" } else { "uuid" };
    let words = |all: Vec<&str>| format!("'{}'", all.join("', '"));
    let origins = words(RunOrigin::ALL.iter().map(|origin| origin.as_str()).collect());
    let priorities = words(Priority::ALL.iter().map(|priority| priority.as_str()).collect());
    let columns = [
        format!("origin varchar NOT NULL DEFAULT 'command_line' CHECK (origin IN ({origins}))"),
        format!("priority varchar NOT NULL DEFAULT 'normal' CHECK (priority IN ({priorities}))"),
        format!("dataset_version_id {uuid} REFERENCES dataset_versions (id) ON DELETE SET NULL"),
        format!("baseline_run_id {uuid} REFERENCES runs (id) ON DELETE SET NULL"),
        format!("experiment_id {uuid}"),
        format!("variant_id {uuid}"),
        "labels text NOT NULL DEFAULT '{}'".to_owned(),
        "summary text".to_owned(),
        "webhook_url text".to_owned(),
        "started_at bigint".to_owned(),
        "created_by varchar".to_owned(),
    ];
    let connection = manager.get_connection();
    for column in columns {
        connection.execute_unprepared(&format!("ALTER TABLE runs ADD COLUMN {column}")).await?;
    }
    index(manager, "runs_by_time", "runs", &["organization_id", "created_at"], false).await?;
    index(manager, "runs_by_state", "runs", &["organization_id", "state"], false).await?;
    for sql in [
        "CREATE INDEX runs_by_experiment ON runs (experiment_id) WHERE experiment_id IS NOT NULL",
        "CREATE INDEX runs_by_version ON runs (dataset_version_id) \
         WHERE dataset_version_id IS NOT NULL",
        "CREATE INDEX runs_to_do ON runs (id) \
         WHERE state IN ('pending', 'running') AND origin <> 'command_line'",
    ] {
        connection.execute_unprepared(sql).await?;
    }
    Ok(())
}

/// The column has one of these words.
pub(super) fn one_of<'word>(column: &str, words: impl Iterator<Item = &'word str>) -> SimpleExpr {
    let words: Vec<&str> = words.collect();
    Expr::cust(format!("{column} IN ('{}')", words.join("', '")))
}

/// What it points to takes it along when it goes.
pub(super) fn belongs_to(column: &'static str, table: &'static str) -> ForeignKeyCreateStatement {
    ForeignKey::create()
        .from_col(column)
        .to_tbl(table)
        .to_col("id")
        .on_delete(ForeignKeyAction::Cascade)
        .to_owned()
}

pub(super) async fn index(
    manager: &SchemaManager<'_>,
    name: &'static str,
    table: &'static str,
    columns: &[&'static str],
    unique: bool,
) -> Result<(), DbErr> {
    let mut index = Index::create().name(name).table(table).to_owned();
    for column in columns {
        index.col(*column);
    }
    if unique {
        index.unique();
    }
    manager.create_index(index).await
}
