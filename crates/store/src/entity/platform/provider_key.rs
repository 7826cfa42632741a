//! An organization's own key of a provider, sealed.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "provider_keys")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub organization_id: Uuid,
    #[sea_orm(primary_key, auto_increment = false)]
    pub provider: String,
    /// The address that it is sent to; empty for the provider's own.
    #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
    pub base_url: String,
    pub sealed: Vec<u8>,
    /// Its last letters, to tell it apart.
    pub last_four: String,
    pub created_at: i64,
    #[sea_orm(nullable)]
    pub last_used_at: Option<i64>,
    #[sea_orm(nullable)]
    pub created_by: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
