//! A version of a prompt: one template, or messages; never changed.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "prompt_versions")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organization_id: Uuid,
    pub prompt_id: Uuid,
    pub version_number: i32,
    #[sea_orm(column_type = "Text", nullable)]
    pub template: Option<String>,
    /// Templates by role, as JSON.
    #[sea_orm(column_type = "Text", nullable)]
    pub messages: Option<String>,
    /// BLAKE3 of the template, or of the messages as JSON.
    pub content_hash: String,
    #[sea_orm(column_type = "Text", nullable)]
    pub description: Option<String>,
    pub created_at: i64,
    pub created_by: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
