//! A text to be judged, with what it answers; never changed.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "documents")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organization_id: Uuid,
    #[sea_orm(column_type = "Text", nullable)]
    pub input: Option<String>,
    #[sea_orm(column_type = "Text")]
    pub actual_output: String,
    #[sea_orm(column_type = "Text", nullable)]
    pub expected_output: Option<String>,
    /// A JSON object.
    #[sea_orm(column_type = "Text")]
    pub metadata: String,
    pub created_by: Option<String>,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
