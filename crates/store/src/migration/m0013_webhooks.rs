//! Webhooks, the events on their way to them, every try to send one; and that somebody asked for the end of a run.

use fullbench_types::DeliveryStatus;
use sea_orm::Schema;
use sea_orm_migration::prelude::*;

use super::m0011_platform::{belongs_to, index, one_of};
use crate::entity::platform::{webhook, webhook_attempt, webhook_delivery};

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0013_webhooks"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let schema = Schema::new(manager.get_database_backend());
        let mut webhooks = schema.create_table_from_entity(webhook::Entity);
        webhooks.foreign_key(&mut belongs_to("organization_id", "organizations"));
        manager.create_table(webhooks).await?;
        let by_time = ["organization_id", "created_at"];
        index(manager, "webhooks_by_time", "webhooks", &by_time, false).await?;

        let mut deliveries = schema.create_table_from_entity(webhook_delivery::Entity);
        deliveries
            .check(one_of("status", DeliveryStatus::ALL.iter().map(|status| status.as_str())))
            .foreign_key(&mut belongs_to("organization_id", "organizations"));
        manager.create_table(deliveries).await?;
        let table = "webhook_deliveries";
        index(manager, "webhook_deliveries_by_time", table, &by_time, false).await?;
        let open = "CREATE INDEX webhook_deliveries_due ON webhook_deliveries (due_at) \
            WHERE status = 'pending'";
        manager.get_connection().execute_unprepared(open).await?;

        let mut attempts = schema.create_table_from_entity(webhook_attempt::Entity);
        attempts
            .foreign_key(&mut belongs_to("delivery_id", table))
            .foreign_key(&mut belongs_to("organization_id", "organizations"));
        manager.create_table(attempts).await?;
        let asked = "ALTER TABLE runs ADD COLUMN cancel_asked_at bigint";
        manager.get_connection().execute_unprepared(asked).await?;
        Ok(())
    }
}
