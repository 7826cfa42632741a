//! One score of one unit by one scorer; append-only, the highest revision counts.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "scores")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub run_id: Uuid,
    #[sea_orm(primary_key, auto_increment = false)]
    pub case_index: i64,
    #[sea_orm(primary_key, auto_increment = false)]
    pub model_index: i32,
    #[sea_orm(primary_key, auto_increment = false)]
    pub repetition: i32,
    /// The first 16 bytes of the scorer's hash.
    #[sea_orm(primary_key, auto_increment = false)]
    pub scorer: Uuid,
    #[sea_orm(primary_key, auto_increment = false)]
    pub revision: i32,
    pub organization_id: Uuid,
    pub outcome: String,
    pub reason: Option<String>,
    pub raw: Option<f64>,
    pub value: Option<f64>,
    #[sea_orm(column_type = "Text", nullable)]
    pub reasoning: Option<String>,
    #[sea_orm(column_type = "Text", nullable)]
    pub evidence: Option<String>,
    pub confidence: Option<f64>,
    pub cost_nanodollars: Option<i64>,
    pub cached: bool,
    pub recorded_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
