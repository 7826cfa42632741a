//! A request that must not be carried out twice, with the id its result has, and the answer it got.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "idempotency_keys")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub organization_id: Uuid,
    #[sea_orm(primary_key, auto_increment = false)]
    pub key: String,
    /// Hash of method, path and body.
    pub fingerprint: String,
    /// The id of what the request creates.
    pub resource_id: Uuid,
    /// The status of the answer, once there is one.
    pub status: Option<i32>,
    #[sea_orm(column_type = "Text", nullable)]
    pub body: Option<String>,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
