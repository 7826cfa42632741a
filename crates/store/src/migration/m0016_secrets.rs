//! Keys of organizations, wrapped with master keys, and their own keys of providers, sealed with them.

use sea_orm::Schema;
use sea_orm_migration::prelude::*;

use super::m0011_platform::belongs_to;
use crate::entity::platform::{organization_key, provider_key};

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0016_secrets"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let schema = Schema::new(manager.get_database_backend());
        let mut keys = schema.create_table_from_entity(organization_key::Entity);
        // The installation has keys too, and is no organization of the table.
        keys.check(Expr::cust("(wrapped IS NULL) = (master_id IS NULL)"));
        manager.create_table(keys).await?;

        let mut provider_keys = schema.create_table_from_entity(provider_key::Entity);
        provider_keys.foreign_key(&mut belongs_to("organization_id", "organizations"));
        manager.create_table(provider_keys).await
    }
}
