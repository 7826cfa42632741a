//! An event on its way to a webhook: made in the transaction of the event, so that none is forgotten.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "webhook_deliveries")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organization_id: Uuid,
    /// The webhook; none where a run named the address itself.
    pub webhook_id: Option<Uuid>,
    pub run_id: Option<Uuid>,
    pub event_number: i64,
    pub event_kind: String,
    /// Where it is sent.
    #[sea_orm(column_type = "Text")]
    pub url: String,
    pub status: String,
    pub attempts: i32,
    /// Attempts before it was last asked for by hand: the waiting times begin anew.
    pub attempts_before: i32,
    /// When it is tried next, or when whoever tries it now counts as gone.
    pub due_at: i64,
    pub created_at: i64,
    pub delivered_at: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
