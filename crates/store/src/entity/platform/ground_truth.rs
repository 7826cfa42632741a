//! An agreed answer; rows are only ever added, the newest of a case counts.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "ground_truths")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organization_id: Uuid,
    pub version_id: Uuid,
    pub test_case_id: Uuid,
    /// Counted over the version, so that a run can say what it has seen.
    pub revision: i64,
    /// A JSON object with `answer`, `acceptable_answers`, `rubric`.
    #[sea_orm(column_type = "Text")]
    pub value: String,
    pub source: String,
    pub confidence: Option<f64>,
    pub annotation_task_id: Option<Uuid>,
    pub created_at: i64,
    pub created_by: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
