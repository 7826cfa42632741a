//! A person of an organization.

use sea_orm::entity::prelude::*;

use crate::platform::{PasswordHash, SealedSecret};

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "users")]
pub(crate) struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organization_id: Uuid,
    pub email: String,
    pub name: String,
    pub role: String,
    pub created_at: i64,
    pub updated_at: i64,
    /// The argon2id hash of the password, in PHC form.
    pub password_hash: Option<PasswordHash>,
    pub password_set_at: Option<i64>,
    /// The sealed secret of their second factor.
    pub totp_secret: Option<SealedSecret>,
    /// Since when the second factor is asked for.
    pub totp_confirmed_at: Option<i64>,
    /// The time step of the last code that was taken: no code is taken twice.
    pub totp_last_step: Option<i64>,
    /// Who vouches for them, and what they are called there.
    #[sea_orm(column_type = "Text", nullable)]
    pub oidc_issuer: Option<String>,
    #[sea_orm(column_type = "Text", nullable)]
    pub oidc_subject: Option<String>,
    pub last_sign_in_at: Option<i64>,
    /// Since when they may do nothing.
    pub disabled_at: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub(crate) enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
