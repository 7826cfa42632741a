//! What each organization spent in each month, so that a monthly budget can be kept.

use sea_orm::Schema;
use sea_orm_migration::prelude::*;

use super::m0011_platform::belongs_to;
use crate::entity::platform::spending;
use crate::spending::Month;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &str {
        "m0018_spending"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let schema = Schema::new(manager.get_database_backend());
        let mut spending = schema.create_table_from_entity(spending::Entity);
        spending.foreign_key(&mut belongs_to("organization_id", "organizations"));
        manager.create_table(spending).await?;
        // Runs of this month that are there already count.
        let month = Month::now();
        let sql = format!(
            "INSERT INTO spending (organization_id, month, spent_nanodollars) \
             SELECT r.organization_id, '{month}', CAST(SUM(p.spent_nanodollars) AS bigint) \
             FROM run_progress p JOIN runs r ON r.id = p.run_id WHERE r.created_at >= {} \
             GROUP BY r.organization_id HAVING SUM(p.spent_nanodollars) > 0",
            month.start()
        );
        manager.get_connection().execute_unprepared(&sql).await?;
        Ok(())
    }
}
