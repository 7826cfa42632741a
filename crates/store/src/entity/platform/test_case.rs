//! One row of a version, as the API shows it; runs read the frozen blocks.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "test_cases")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organization_id: Uuid,
    pub version_id: Uuid,
    pub row_index: i64,
    pub case_key: String,
    /// Any JSON.
    #[sea_orm(column_type = "Text")]
    pub input: String,
    #[sea_orm(column_type = "Text", nullable)]
    pub expected_output: Option<String>,
    /// A JSON object.
    #[sea_orm(column_type = "Text")]
    pub metadata: String,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
