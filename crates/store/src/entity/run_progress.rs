//! How far each lane (the units of one model) of a run has come: a rollup kept in the recorder's transaction.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "run_progress")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub run_id: Uuid,
    #[sea_orm(primary_key, auto_increment = false)]
    pub model_index: i32,
    pub organization_id: Uuid,
    pub watermark: i64,
    pub answered: i64,
    pub failed: i64,
    pub spent_nanodollars: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
