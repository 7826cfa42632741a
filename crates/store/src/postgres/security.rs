//! Row-level security: the server itself shows an organization its own rows only.
//!
//! Every query names its organization; this is the wall behind it, for the one that forgets.

use sea_orm::{ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbErr, Statement};

use super::names;
use crate::connection::{SCOPE_SETTING, SYSTEM};

/// The name of the policy on every table.
const POLICY: &str = "of_organization";

/// What a table says of the organization that a row belongs to: the table of organizations has it in another column.
const COLUMNS: [(&str, &str); 2] = [
    ("organization_id", "a.attname = 'organization_id'"),
    ("id", "a.attname = 'id' AND c.relname = 'organizations'"),
];

/// Walls in every table with an organization, partitions among them: they can be asked directly too.
pub(super) async fn ensure(transaction: &DatabaseTransaction) -> Result<(), DbErr> {
    for (column, is_meant) in COLUMNS {
        let rule = rule(column);
        let open_tables = format!(
            "SELECT quote_ident(c.relname) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid \
             WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') \
             AND {is_meant} AND NOT a.attisdropped \
             AND NOT (c.relrowsecurity AND c.relforcerowsecurity AND EXISTS \
             (SELECT 1 FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = '{POLICY}'))"
        );
        for table in names(transaction, &open_tables).await? {
            let change = format!(
                "ALTER TABLE {table} ENABLE ROW LEVEL SECURITY; \
                 ALTER TABLE {table} FORCE ROW LEVEL SECURITY; \
                 DROP POLICY IF EXISTS {POLICY} ON {table}; \
                 CREATE POLICY {POLICY} ON {table} USING ({rule}) WITH CHECK ({rule})"
            );
            transaction.execute_unprepared(&change).await?;
        }
    }
    Ok(())
}

/// Which rows are seen and written. The setting is read once for each statement, hence the subqueries. Without it, which is
/// nothing in a new connection and the empty text after a transaction that had it, no row is seen.
fn rule(column: &str) -> String {
    let setting = format!("current_setting('{SCOPE_SETTING}', true)");
    format!(
        "{column} = (SELECT NULLIF(NULLIF({setting}, ''), '{SYSTEM}')::uuid) \
         OR (SELECT {setting} = '{SYSTEM}')"
    )
}

/// The server lets the role past every wall.
pub(super) async fn is_bypassed(database: &DatabaseConnection) -> Result<bool, DbErr> {
    let sql = "SELECT 1 FROM pg_roles WHERE rolname = current_user AND (rolsuper OR rolbypassrls)";
    let statement = Statement::from_string(database.get_database_backend(), sql);
    Ok(database.query_one_raw(statement).await?.is_some())
}
