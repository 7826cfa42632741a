//! Codes for people who lost their second factor.

use sea_orm::Schema;
use sea_orm_migration::prelude::*;

use super::m0011_platform::{belongs_to, index};
use crate::entity::platform::recovery_code;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0017_accounts"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let schema = Schema::new(manager.get_database_backend());
        let mut codes = schema.create_table_from_entity(recovery_code::Entity);
        codes
            .foreign_key(&mut belongs_to("organization_id", "organizations"))
            .foreign_key(&mut belongs_to("user_id", "users"));
        manager.create_table(codes).await?;
        index(manager, "recovery_codes_by_user", "recovery_codes", &["user_id"], false).await
    }
}
