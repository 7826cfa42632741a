//! One try to send an event to a webhook.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "webhook_attempts")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub delivery_id: Uuid,
    /// Counted from 1.
    #[sea_orm(primary_key, auto_increment = false)]
    pub number: i32,
    pub organization_id: Uuid,
    pub started_at: i64,
    pub milliseconds: i64,
    /// The status of the answer, if there was one.
    pub response_status: Option<i32>,
    /// What went wrong.
    #[sea_orm(column_type = "Text", nullable)]
    pub problem: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
