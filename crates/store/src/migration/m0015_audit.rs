//! The audit log: entries that only ever follow each other, and the sealed end of each chain.

use sea_orm::{DbBackend, Schema};
use sea_orm_migration::prelude::*;

use super::m0011_platform::index;
use crate::entity::platform::{audit_entry, audit_head};

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0015_audit"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let schema = Schema::new(manager.get_database_backend());
        manager.create_table(schema.create_table_from_entity(audit_entry::Entity)).await?;
        manager.create_table(schema.create_table_from_entity(audit_head::Entity)).await?;
        let table = "audit_entries";
        for (name, column) in [
            ("audit_by_time", "at"),
            ("audit_by_actor", "actor"),
            ("audit_by_action", "action"),
            ("audit_by_target", "target"),
        ] {
            index(manager, name, table, &["organization_id", column, "number"], false).await?;
        }
        refuse_changes(manager).await
    }
}

/// Lets the database itself refuse to change entries, and to remove them while their chain has an end: a whole
/// organization goes with the end of its chain first.
async fn refuse_changes(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let sqlite = [
        "CREATE TRIGGER audit_entries_never_change BEFORE UPDATE ON audit_entries \
         BEGIN SELECT RAISE(ABORT, 'audit entries never change'); END",
        "CREATE TRIGGER audit_entries_stay BEFORE DELETE ON audit_entries \
         WHEN EXISTS (SELECT 1 FROM audit_heads WHERE organization_id = OLD.organization_id) \
         BEGIN SELECT RAISE(ABORT, 'audit entries are never removed'); END",
    ];
    let postgres = [
        "CREATE FUNCTION keep_audit_entries() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         IF TG_OP = 'UPDATE' THEN RAISE EXCEPTION 'audit entries never change'; END IF; \
         IF TG_OP = 'TRUNCATE' THEN RAISE EXCEPTION 'audit entries are never removed'; END IF; \
         IF EXISTS (SELECT 1 FROM audit_heads WHERE organization_id = OLD.organization_id) \
         THEN RAISE EXCEPTION 'audit entries are never removed'; END IF; \
         RETURN OLD; END $$",
        "CREATE TRIGGER audit_entries_never_change BEFORE UPDATE OR DELETE ON audit_entries \
         FOR EACH ROW EXECUTE FUNCTION keep_audit_entries()",
        "CREATE TRIGGER audit_entries_stay BEFORE TRUNCATE ON audit_entries \
         FOR EACH STATEMENT EXECUTE FUNCTION keep_audit_entries()",
    ];
    let statements = match manager.get_database_backend() {
        DbBackend::Sqlite => sqlite.as_slice(),
        _ => postgres.as_slice(),
    };
    for statement in statements {
        manager.get_connection().execute_unprepared(statement).await?;
    }
    Ok(())
}
