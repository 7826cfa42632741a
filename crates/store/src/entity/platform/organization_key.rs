//! A key of an organization, wrapped with a master key. The row of a deleted key stays without it.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "organization_keys")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub organization_id: Uuid,
    /// Counted from 1.
    #[sea_orm(primary_key, auto_increment = false)]
    pub number: i32,
    #[sea_orm(nullable)]
    pub wrapped: Option<Vec<u8>>,
    /// Which master key it is wrapped with.
    #[sea_orm(nullable)]
    pub master_id: Option<String>,
    pub created_at: i64,
    #[sea_orm(nullable)]
    pub deleted_at: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
