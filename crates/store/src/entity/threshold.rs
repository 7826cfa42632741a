//! A pass mark of a criterion; rows are only ever added, the newest counts.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "thresholds")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organization_id: Uuid,
    pub criterion: String,
    /// The revision that counted when the mark was set; the mark holds for later ones as well.
    pub criterion_revision: i32,
    pub score: f64,
    #[sea_orm(column_type = "Text", nullable)]
    pub note: Option<String>,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
