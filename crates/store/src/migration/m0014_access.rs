//! Who may do what: roles, scopes and ends of keys, passwords and second factors of people, sessions, invitations.

use fullbench_types::UserRole;
use sea_orm::{DbBackend, Schema};
use sea_orm_migration::prelude::*;

use super::m0011_platform::{belongs_to, index, one_of};
use crate::entity::platform::{invitation, password_reset, session, sign_in_failure};

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0014_access"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        columns(manager).await?;
        let schema = Schema::new(manager.get_database_backend());
        let mut sessions = schema.create_table_from_entity(session::Entity);
        sessions
            .foreign_key(&mut belongs_to("organization_id", "organizations"))
            .foreign_key(&mut belongs_to("user_id", "users"));
        manager.create_table(sessions).await?;
        index(manager, "sessions_by_user", "sessions", &["user_id"], false).await?;

        let mut invitations = schema.create_table_from_entity(invitation::Entity);
        invitations
            .check(one_of("role", UserRole::ALL.iter().map(|role| role.as_str())))
            .foreign_key(&mut belongs_to("organization_id", "organizations"));
        manager.create_table(invitations).await?;
        let by_time = ["organization_id", "created_at"];
        index(manager, "invitations_by_time", "invitations", &by_time, false).await?;

        let mut resets = schema.create_table_from_entity(password_reset::Entity);
        resets
            .foreign_key(&mut belongs_to("organization_id", "organizations"))
            .foreign_key(&mut belongs_to("user_id", "users"));
        manager.create_table(resets).await?;
        manager.create_table(schema.create_table_from_entity(sign_in_failure::Entity)).await
    }
}

async fn columns(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let is_sqlite = manager.get_database_backend() == DbBackend::Sqlite;
    let bytes = if is_sqlite { "varbinary_blob" } else { "bytea" };
    let roles: Vec<&str> = UserRole::ALL.iter().map(|role| role.as_str()).collect();
    let roles = roles.join("', '");
    let of_keys = [
        // Keys from before there were roles could do everything.
        format!("role varchar NOT NULL DEFAULT 'owner' CHECK (role IN ('{roles}'))"),
        "scopes text".to_owned(),
        "requests_per_minute bigint".to_owned(),
        "expires_at bigint".to_owned(),
        "created_by varchar".to_owned(),
    ];
    let of_users = [
        "password_hash text".to_owned(),
        "password_set_at bigint".to_owned(),
        format!("totp_secret {bytes}"),
        "totp_confirmed_at bigint".to_owned(),
        "totp_last_step bigint".to_owned(),
        "oidc_issuer text".to_owned(),
        "oidc_subject text".to_owned(),
        "last_sign_in_at bigint".to_owned(),
        "disabled_at bigint".to_owned(),
    ];
    let connection = manager.get_connection();
    for (table, columns) in [("api_keys", of_keys.as_slice()), ("users", of_users.as_slice())] {
        for column in columns {
            let sql = format!("ALTER TABLE {table} ADD COLUMN {column}");
            connection.execute_unprepared(&sql).await?;
        }
    }
    let subject = "CREATE UNIQUE INDEX users_by_subject ON users \
        (organization_id, oidc_issuer, oidc_subject) WHERE oidc_subject IS NOT NULL";
    connection.execute_unprepared(subject).await?;
    Ok(())
}
