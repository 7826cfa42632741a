//! One revision of what is judged; rows are only ever added.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "criteria")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organization_id: Uuid,
    pub name: String,
    /// 1 for the first; the highest revision of a name counts.
    pub revision: i32,
    #[sea_orm(column_type = "Text")]
    pub task_introduction: String,
    #[sea_orm(column_type = "Text")]
    pub evaluation_criteria: String,
    pub min_score: i32,
    pub max_score: i32,
    #[sea_orm(column_type = "Text")]
    pub levels: String,
    pub needs_reference: bool,
    pub needs_context: bool,
    /// `built_in` or `user`.
    pub source: String,
    /// When the first revision of the name was made.
    pub created_at: i64,
    /// When this revision was made.
    pub updated_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
