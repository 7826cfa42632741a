//! The evaluation steps that a model wrote for a criterion.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "evaluation_steps")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub organization_id: Uuid,
    /// Hash of criterion, model and prompt, in hexadecimal.
    #[sea_orm(primary_key, auto_increment = false)]
    pub key: String,
    /// The steps, as a JSON list.
    #[sea_orm(column_type = "Text")]
    pub steps: String,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
