//! Requests that must not be carried out twice. A request is noted, with the id of what it creates, before it is carried out:
//! after a kill the same request finds its id again, and what was created under it.

use sea_orm::sea_query::{Expr, OnConflict};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, QueryFilter};
use uuid::Uuid;

use crate::entity::platform::idempotency_key;
use crate::runs::now_milliseconds;
use crate::sealed_text::Opened;
use crate::sealed_text::catalogue::ANSWER_BODY;
use crate::{ScopedStore, StoreError};

/// The answer a request got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptAnswer {
    /// Its status.
    pub status: u16,
    /// Its body.
    pub body: String,
}

/// What is known of a request with a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// It is to be carried out, and creates what has this id.
    Open(Uuid),
    /// It was carried out.
    Answered(KeptAnswer),
    /// Another request had the key.
    Different,
}

impl ScopedStore {
    /// Notes a request by its key and what it says.
    pub async fn claim_key(&self, key: &str, fingerprint: &str) -> Result<Claim, StoreError> {
        let row = idempotency_key::ActiveModel {
            organization_id: Set(self.organization.0),
            key: Set(key.to_owned()),
            fingerprint: Set(fingerprint.to_owned()),
            resource_id: Set(Uuid::now_v7()),
            status: Set(None),
            body: Set(None),
            created_at: Set(now_milliseconds()),
        };
        let columns = [idempotency_key::Column::OrganizationId, idempotency_key::Column::Key];
        idempotency_key::Entity::insert(row)
            .on_conflict(OnConflict::columns(columns).do_nothing().to_owned())
            .exec_without_returning(&self.database)
            .await?;
        let found = idempotency_key::Entity::find()
            .filter(idempotency_key::Column::OrganizationId.eq(self.organization.0))
            .filter(idempotency_key::Column::Key.eq(key))
            .one(&self.database)
            .await?;
        let row =
            found.ok_or_else(|| StoreError::Damaged(format!("the request key `{key}` is gone")))?;
        if row.fingerprint != fingerprint {
            return Ok(Claim::Different);
        }
        let opener = self.opener(row.body.as_deref()).await?;
        let body = opener.open_some(&ANSWER_BODY, &[&row.key], row.body)?;
        Ok(match (row.status, body.map(Opened::whole).transpose()?) {
            (Some(status), Some(body)) => {
                Claim::Answered(KeptAnswer { status: status as u16, body })
            }
            _ => Claim::Open(row.resource_id),
        })
    }

    /// Keeps the answer of a request.
    pub async fn keep_answer(&self, key: &str, answer: &KeptAnswer) -> Result<(), StoreError> {
        let mut body = answer.body.clone();
        let keeper = self.text_keeper().await?;
        keeper.scrubber.change_json(&mut body);
        let body = keeper.kept(&ANSWER_BODY, &[&key], body)?;
        idempotency_key::Entity::update_many()
            .col_expr(idempotency_key::Column::Status, Expr::value(i32::from(answer.status)))
            .col_expr(idempotency_key::Column::Body, Expr::value(body))
            .filter(idempotency_key::Column::OrganizationId.eq(self.organization.0))
            .filter(idempotency_key::Column::Key.eq(key))
            .exec(&self.database)
            .await?;
        Ok(())
    }

    /// Forgets a request that was refused: it may be corrected and sent again.
    pub async fn release_key(&self, key: &str) -> Result<(), StoreError> {
        idempotency_key::Entity::delete_many()
            .filter(idempotency_key::Column::OrganizationId.eq(self.organization.0))
            .filter(idempotency_key::Column::Key.eq(key))
            .filter(idempotency_key::Column::Status.is_null())
            .exec(&self.database)
            .await?;
        Ok(())
    }
}
