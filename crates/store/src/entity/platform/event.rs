//! Something that happened in an organization, in order; a run's results are told in groups.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "events")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub organization_id: Uuid,
    /// 1 for the organization's first.
    #[sea_orm(primary_key, auto_increment = false)]
    pub number: i64,
    pub run_id: Option<Uuid>,
    pub kind: String,
    #[sea_orm(column_type = "Text")]
    pub data: String,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
