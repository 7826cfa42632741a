//! An output that a judge judged, by what must be the same for it to stand for another.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "judged_outputs")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub organization_id: Uuid,
    /// Hash of judge, prompt, criterion, reference and context, in hexadecimal.
    #[sea_orm(primary_key, auto_increment = false)]
    pub space: String,
    /// Hash of input and output, in hexadecimal.
    #[sea_orm(primary_key, auto_increment = false)]
    pub key: String,
    pub case_key: String,
    #[sea_orm(column_type = "Text")]
    pub input: String,
    #[sea_orm(column_type = "Text")]
    pub output: String,
    /// The embedding: numbers of four bytes, the lowest first.
    pub vector: Vec<u8>,
    /// The score as JSON.
    #[sea_orm(column_type = "Text")]
    pub score: String,
    pub full_cost_nanodollars: Option<i64>,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
