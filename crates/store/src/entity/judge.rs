//! A judge: criterion, method, model and parameters. Never changed: a change makes a successor.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "judges")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organization_id: Uuid,
    pub name: String,
    /// 1 for the first; the highest revision of a name counts.
    pub revision: i32,
    pub criterion: String,
    pub criterion_revision: i32,
    pub method: String,
    pub provider: String,
    pub model: String,
    #[sea_orm(column_type = "Text")]
    pub parameters: String,
    #[sea_orm(column_type = "Text", nullable)]
    pub description: Option<String>,
    pub predecessor_id: Option<Uuid>,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
