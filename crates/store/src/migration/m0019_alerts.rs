//! Alerts: what is watched, and who was told; on whose side calls failed; and indexes to find results by their time.

use fullbench_types::{AlertChannel, AlertKind, AlertNews, AlertState, NotificationStatus};
use sea_orm::Schema;
use sea_orm_migration::prelude::*;

use super::m0011_platform::{belongs_to, index, one_of};
use crate::entity::platform::{alert_notification, alert_rule};

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0019_alerts"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let schema = Schema::new(manager.get_database_backend());
        let mut rules = schema.create_table_from_entity(alert_rule::Entity);
        rules
            .check(one_of("kind", AlertKind::ALL.iter().map(|kind| kind.as_str())))
            .check(one_of("state", AlertState::ALL.iter().map(|state| state.as_str())))
            .foreign_key(&mut belongs_to("organization_id", "organizations"));
        manager.create_table(rules).await?;
        let table = "alert_rules";
        index(manager, "alert_rules_by_name", table, &["organization_id", "name"], true).await?;

        let mut notifications = schema.create_table_from_entity(alert_notification::Entity);
        notifications
            .check(one_of("news", AlertNews::ALL.iter().map(|news| news.as_str())))
            .check(one_of("channel", AlertChannel::ALL.iter().map(|channel| channel.as_str())))
            .check(one_of("status", NotificationStatus::ALL.iter().map(|status| status.as_str())))
            .foreign_key(&mut belongs_to("rule_id", table))
            .foreign_key(&mut belongs_to("organization_id", "organizations"));
        manager.create_table(notifications).await?;
        let of_rule = ["rule_id", "created_at"];
        let table = "alert_notifications";
        index(manager, "alert_notifications_by_rule", table, &of_rule, false).await?;
        for sql in [
            "CREATE INDEX alert_rules_due ON alert_rules (due_at) WHERE enabled",
            "CREATE INDEX alert_notifications_due ON alert_notifications (due_at) \
             WHERE status = 'pending'",
            "ALTER TABLE generations ADD COLUMN failure_code varchar",
            "CREATE INDEX generations_by_time ON generations (organization_id, recorded_at)",
            "CREATE INDEX runs_that_waited ON runs (organization_id, started_at) \
             WHERE started_at > created_at",
        ] {
            manager.get_connection().execute_unprepared(sql).await?;
        }
        Ok(())
    }
}
