//! A version of a data set: the file that was uploaded, and what was found in it.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "dataset_versions")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organization_id: Uuid,
    pub dataset_id: Uuid,
    pub version_number: i32,
    pub status: String,
    #[sea_orm(column_type = "Text", nullable)]
    pub description: Option<String>,
    #[sea_orm(column_type = "Text")]
    pub file_uri: String,
    pub file_format: String,
    pub file_bytes: i64,
    /// SHA-256 of the file.
    pub file_hash: String,
    /// How its rows are to be read, as JSON.
    #[sea_orm(column_type = "Text")]
    pub reading: String,
    pub row_count: Option<i64>,
    /// The columns, as JSON.
    #[sea_orm(column_type = "Text", nullable)]
    pub columns: Option<String>,
    /// SHA-256 over the names and types of the columns.
    pub schema_hash: Option<String>,
    pub validation_status: String,
    /// How often it was begun to look through its rows and neither finished nor given up.
    pub validation_attempts: i32,
    /// The problems that are shown, as JSON.
    #[sea_orm(column_type = "Text", nullable)]
    pub validation_errors: Option<String>,
    /// How many problems there are.
    pub error_count: i64,
    /// The frozen cases, once valid.
    pub content_hash: Option<String>,
    /// The number of its newest agreed answer.
    pub ground_truth_revision: i64,
    /// Counts changes, so that two at once are noticed.
    pub revision: i32,
    pub created_at: i64,
    pub updated_at: i64,
    pub created_by: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
