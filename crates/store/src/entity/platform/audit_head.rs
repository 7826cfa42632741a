//! The end of an organization's audit log, sealed with the key of the server: what is cut off is missed.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "audit_heads")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub organization_id: Uuid,
    /// The number of the newest entry.
    pub number: i64,
    /// Its hash.
    pub hash: Vec<u8>,
    /// HMAC of both with a key that is not in the database.
    pub mac: Vec<u8>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
