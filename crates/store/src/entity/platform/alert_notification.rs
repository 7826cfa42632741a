//! What was told of a rule in one way, or is to be: the outbox of mail and Slack, and the log of all.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "alert_notifications")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organization_id: Uuid,
    pub rule_id: Uuid,
    pub news: String,
    pub channel: String,
    /// Whom mail goes to.
    pub recipient: Option<String>,
    /// What is told, as JSON.
    #[sea_orm(column_type = "Text")]
    pub message: String,
    pub status: String,
    pub attempts: i32,
    /// When it is tried next, or when whoever tries it now counts as gone.
    pub due_at: i64,
    /// What went wrong the last time.
    #[sea_orm(column_type = "Text", nullable)]
    pub problem: Option<String>,
    /// The event that webhooks are sent.
    pub event_number: Option<i64>,
    pub created_at: i64,
    pub delivered_at: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
