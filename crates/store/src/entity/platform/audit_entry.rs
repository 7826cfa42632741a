//! One line of the audit log; it never changes, and goes only with its organization.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "audit_entries")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub organization_id: Uuid,
    /// 1 for the organization's first, without gaps.
    #[sea_orm(primary_key, auto_increment = false)]
    pub number: i64,
    pub at: i64,
    pub actor: String,
    pub credential: Option<String>,
    pub from_address: Option<String>,
    pub request_id: Option<String>,
    pub action: String,
    pub target: Option<String>,
    pub phase: String,
    pub status: Option<i64>,
    #[sea_orm(column_type = "Text", nullable)]
    pub before: Option<String>,
    #[sea_orm(column_type = "Text", nullable)]
    pub after: Option<String>,
    /// The hash of the entry before.
    pub previous_hash: Vec<u8>,
    /// SHA-256 of all of the above.
    pub hash: Vec<u8>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
