//! Who wants to be told of events by a signed POST.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "webhooks")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organization_id: Uuid,
    #[sea_orm(column_type = "Text")]
    pub url: String,
    #[sea_orm(column_type = "Text", nullable)]
    pub description: Option<String>,
    /// The kinds of events, as a JSON list.
    #[sea_orm(column_type = "Text")]
    pub events: String,
    pub enabled: bool,
    /// Why it was disabled, where the server did it.
    #[sea_orm(column_type = "Text", nullable)]
    pub disabled_because: Option<String>,
    /// Which of its secrets signs, counted from 1. The secrets themselves are not kept.
    pub secret_number: i32,
    /// When that secret replaced the one before.
    pub secret_changed_at: Option<i64>,
    /// Counts changes, so that two at once are noticed.
    pub revision: i32,
    pub created_at: i64,
    pub updated_at: i64,
    pub created_by: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
