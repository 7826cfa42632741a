//! Documents to be judged, prompts with their versions, and which judge and document a run of one judgement is about.

use sea_orm::{DbBackend, Schema};
use sea_orm_migration::prelude::*;

use super::m0011_platform::{belongs_to, index};
use crate::entity::platform::{document, prompt, prompt_version};

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0012_documents_and_prompts"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let schema = Schema::new(manager.get_database_backend());
        let mut documents = schema.create_table_from_entity(document::Entity);
        documents.foreign_key(&mut belongs_to("organization_id", "organizations"));
        manager.create_table(documents).await?;
        let by_time = ["organization_id", "created_at"];
        index(manager, "documents_by_time", "documents", &by_time, false).await?;

        let mut prompts = schema.create_table_from_entity(prompt::Entity);
        prompts.foreign_key(&mut belongs_to("organization_id", "organizations"));
        manager.create_table(prompts).await?;
        let by_name = ["organization_id", "name"];
        index(manager, "prompts_by_name", "prompts", &by_name, true).await?;
        index(manager, "prompts_by_time", "prompts", &by_time, false).await?;

        let mut versions = schema.create_table_from_entity(prompt_version::Entity);
        versions
            .check(Expr::cust("(template IS NULL) <> (messages IS NULL)"))
            .foreign_key(&mut belongs_to("prompt_id", "prompts"));
        manager.create_table(versions).await?;
        let by_number = ["prompt_id", "version_number"];
        index(manager, "prompt_versions_by_number", "prompt_versions", &by_number, true).await?;
        judged_runs(manager).await?;
        refuse_changes(manager).await
    }
}

/// Adds the judge and the document to runs of one judgement. Only these are in the indexes: others pay nothing for them.
async fn judged_runs(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let uuid =
        if manager.get_database_backend() == DbBackend::Sqlite { "uuid_text" } else { "uuid" };
    for sql in [
        format!("ALTER TABLE runs ADD COLUMN judge_id {uuid} REFERENCES judges (id)"),
        format!(
            "ALTER TABLE runs ADD COLUMN document_id {uuid} \
             REFERENCES documents (id) ON DELETE SET NULL"
        ),
        "CREATE INDEX runs_by_judge ON runs (organization_id, judge_id, created_at) \
         WHERE judge_id IS NOT NULL"
            .to_owned(),
        "CREATE INDEX runs_by_document ON runs (document_id) WHERE document_id IS NOT NULL"
            .to_owned(),
    ] {
        manager.get_connection().execute_unprepared(&sql).await?;
    }
    Ok(())
}

/// Lets the database itself refuse to change what is only ever added.
async fn refuse_changes(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let is_sqlite = manager.get_database_backend() == DbBackend::Sqlite;
    for table in ["documents", "prompt_versions"] {
        let refusal = match is_sqlite {
            true => format!("BEGIN SELECT RAISE(ABORT, '{table} never change'); END"),
            false => "EXECUTE FUNCTION refuse_change()".to_owned(),
        };
        let trigger =
            format!("CREATE TRIGGER {table}_never_change BEFORE UPDATE ON {table} {refusal}");
        manager.get_connection().execute_unprepared(&trigger).await?;
    }
    Ok(())
}
