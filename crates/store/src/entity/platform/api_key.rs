//! A bearer key: only its hash is kept.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "api_keys")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organization_id: Uuid,
    pub user_id: Option<Uuid>,
    pub name: String,
    /// The first letters of the key, to tell keys apart.
    pub prefix: String,
    /// SHA-256 of the key, in hexadecimal digits.
    #[sea_orm(unique)]
    pub hash: String,
    pub created_at: i64,
    pub last_used_at: Option<i64>,
    pub revoked_at: Option<i64>,
    pub role: String,
    /// The actions it is for, as JSON; all of its role where there are none.
    #[sea_orm(column_type = "Text", nullable)]
    pub scopes: Option<String>,
    pub requests_per_minute: Option<i64>,
    /// When it opens nothing any more.
    pub expires_at: Option<i64>,
    pub created_by: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
