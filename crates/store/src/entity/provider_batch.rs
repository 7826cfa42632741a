//! A batch of requests that was sent to a provider, or is about to be.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "provider_batches")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organization_id: Uuid,
    pub run_id: Uuid,
    pub provider: String,
    #[sea_orm(column_type = "Text")]
    pub base_url: String,
    /// The environment variable of the key it was sent with.
    pub account: Option<String>,
    /// The provider's own id.
    pub remote_id: Option<String>,
    pub state: String,
    pub request_count: i32,
    /// The cache keys of the requests, 32 bytes each, in their order. The id of a request is made of the batch and its place.
    pub request_keys: Vec<u8>,
    pub created_at: i64,
    pub updated_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
