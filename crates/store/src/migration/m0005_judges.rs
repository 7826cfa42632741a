//! Criteria, thresholds, methods, models and judges; which judge gave a score.
//!
//! Tables refer to each other by organization and name, so that nothing can point into another organization.

use sea_orm::{DbBackend, Schema};
use sea_orm_migration::prelude::*;

use crate::entity::{criterion, judge, judge_model, method, threshold};

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0005_judges"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let schema = Schema::new(manager.get_database_backend());
        let mut criteria = schema.create_table_from_entity(criterion::Entity);
        criteria.check(Expr::cust("min_score < max_score"));
        manager.create_table(criteria).await?;
        unique(manager, "criteria_by_name", "criteria", &["name", "revision"]).await?;
        manager.create_table(schema.create_table_from_entity(method::Entity)).await?;
        unique(manager, "methods_by_name", "methods", &["name"]).await?;
        manager.create_table(schema.create_table_from_entity(judge_model::Entity)).await?;
        unique(manager, "models_by_name", "models", &["provider", "name"]).await?;

        let of_criterion = (["criterion", "criterion_revision"], ["name", "revision"]);
        let mut thresholds = schema.create_table_from_entity(threshold::Entity);
        thresholds.check(Expr::cust("score >= 0.0 AND score <= 1.0")).foreign_key(&mut points_to(
            "criteria",
            &of_criterion.0,
            &of_criterion.1,
        ));
        manager.create_table(thresholds).await?;
        let mut judges = schema.create_table_from_entity(judge::Entity);
        judges
            .foreign_key(&mut points_to("criteria", &of_criterion.0, &of_criterion.1))
            .foreign_key(&mut points_to("methods", &["method"], &["name"]))
            .foreign_key(&mut points_to("models", &["provider", "model"], &["provider", "name"]))
            .foreign_key(
                ForeignKey::create().from_col("predecessor_id").to_tbl("judges").to_col("id"),
            );
        manager.create_table(judges).await?;
        unique(manager, "judges_by_name", "judges", &["name", "revision"]).await?;
        unique(manager, "judges_by_predecessor", "judges", &["predecessor_id"]).await?;
        manager
            .create_index(
                Index::create()
                    .name("thresholds_by_criterion")
                    .table(threshold::Entity)
                    .col(threshold::Column::OrganizationId)
                    .col(threshold::Column::Criterion)
                    .col(threshold::Column::CreatedAt)
                    .to_owned(),
            )
            .await?;
        scores_by_judge(manager).await?;
        refuse_changes(manager).await
    }
}

/// Adds the judge to scores. Only rows with a judgement are in the index: others are many, and pay nothing for it.
async fn scores_by_judge(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let uuid =
        if manager.get_database_backend() == DbBackend::Sqlite { "uuid_text" } else { "uuid" };
    let column = format!("ALTER TABLE scores ADD COLUMN judge_id {uuid} REFERENCES judges (id)");
    manager.get_connection().execute_unprepared(&column).await?;
    let index = "CREATE INDEX scores_judged ON scores (organization_id, judge_id) \
         WHERE judgement IS NOT NULL";
    manager.get_connection().execute_unprepared(index).await?;
    Ok(())
}

/// Lets the database itself refuse to change what is only ever added.
async fn refuse_changes(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let connection = manager.get_connection();
    let sqlite = manager.get_database_backend() == DbBackend::Sqlite;
    if !sqlite {
        let function = "CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS \
             $$ BEGIN RAISE EXCEPTION '% never change', TG_TABLE_NAME; END $$";
        connection.execute_unprepared(function).await?;
    }
    for table in ["criteria", "thresholds", "judges"] {
        let refusal = match sqlite {
            true => format!("BEGIN SELECT RAISE(ABORT, '{table} never change'); END"),
            false => "EXECUTE FUNCTION refuse_change()".to_owned(),
        };
        let trigger =
            format!("CREATE TRIGGER {table}_never_change BEFORE UPDATE ON {table} {refusal}");
        connection.execute_unprepared(&trigger).await?;
    }
    Ok(())
}

/// A unique index within an organization.
async fn unique(
    manager: &SchemaManager<'_>,
    name: &'static str,
    table: &'static str,
    columns: &[&'static str],
) -> Result<(), DbErr> {
    let mut index =
        Index::create().unique().name(name).table(table).col("organization_id").to_owned();
    for column in columns {
        index.col(*column);
    }
    manager.create_index(index).await
}

/// A foreign key that stays within the organization.
fn points_to(
    table: &'static str,
    from: &[&'static str],
    to: &[&'static str],
) -> ForeignKeyCreateStatement {
    let mut key = ForeignKey::create();
    key.from_col("organization_id").to_tbl(table).to_col("organization_id");
    for (from, to) in from.iter().zip(to) {
        key.from_col(*from).to_col(*to);
    }
    key.to_owned()
}
