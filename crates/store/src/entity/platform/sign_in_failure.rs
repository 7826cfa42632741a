//! How often signing in failed lately, for an address of mail or of a machine.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "sign_in_failures")]
pub(crate) struct Model {
    /// A hash of whom it is about, so that the table tells nobody who has an account.
    #[sea_orm(primary_key, auto_increment = false)]
    pub subject: String,
    pub failures: i32,
    pub last_at: i64,
    /// Until when nothing is tried.
    pub locked_until: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
