//! A run with its frozen spec.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "runs")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organization_id: Uuid,
    pub name: String,
    pub kind: String,
    pub state: String,
    #[sea_orm(column_type = "Text")]
    pub spec: String,
    pub spec_hash: String,
    pub dataset_hash: String,
    #[sea_orm(column_type = "Text")]
    pub notes: String,
    pub planned_units: i64,
    pub version: String,
    pub created_at: i64,
    pub updated_at: i64,
    pub finished_at: Option<i64>,
    /// What asked for it.
    pub origin: String,
    pub priority: String,
    pub dataset_version_id: Option<Uuid>,
    pub baseline_run_id: Option<Uuid>,
    pub experiment_id: Option<Uuid>,
    pub variant_id: Option<Uuid>,
    /// What its maker wrote beside it, as JSON.
    #[sea_orm(column_type = "Text")]
    pub labels: String,
    /// The numbers of each score, as JSON, once it is not being worked on.
    #[sea_orm(column_type = "Text", nullable)]
    pub summary: Option<String>,
    #[sea_orm(column_type = "Text", nullable)]
    pub webhook_url: Option<String>,
    pub started_at: Option<i64>,
    pub created_by: Option<String>,
    /// The judge of a run of one judgement.
    pub judge_id: Option<Uuid>,
    /// What it judges.
    pub document_id: Option<Uuid>,
    /// When somebody asked for its end.
    pub cancel_asked_at: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
