//! Batches of requests at providers: kept before they are sent, so that none is ever sent twice.

use async_trait::async_trait;
use fullbench_llm::{BatchRecord, BatchState, BatchStore, BatchStoreError};
use fullbench_types::{ContentHash, ProviderBatchId, RunId};
use jiff::Timestamp;
use sea_orm::sea_query::Expr;
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter,
    QueryOrder,
};

use crate::entity::provider_batch;
use crate::runs::now_milliseconds;
use crate::{ScopedStore, StoreError};

/// The provider batches of one run.
#[derive(Debug, Clone)]
pub struct RunBatches {
    store: ScopedStore,
    run: RunId,
}

impl ScopedStore {
    /// Where the provider batches of a run are kept.
    #[must_use]
    pub fn provider_batches(&self, run: RunId) -> RunBatches {
        RunBatches { store: self.clone(), run }
    }
}

impl RunBatches {
    /// All batches but those that failed, oldest first.
    pub async fn kept(&self) -> Result<Vec<BatchRecord>, StoreError> {
        let rows = self
            .rows()
            .filter(provider_batch::Column::State.ne(BatchState::Failed.as_str()))
            .order_by_asc(provider_batch::Column::Id)
            .all(&self.store.database)
            .await?;
        rows.into_iter().map(record).collect()
    }

    /// How many batches are at a provider, or may be.
    pub async fn open_count(&self) -> Result<u64, StoreError> {
        let open = BatchState::ALL.into_iter().filter(|state| state.is_open());
        let words = open.map(BatchState::as_str);
        let rows = self.rows().filter(provider_batch::Column::State.is_in(words));
        Ok(rows.count(&self.store.database).await?)
    }

    fn rows(&self) -> sea_orm::Select<provider_batch::Entity> {
        provider_batch::Entity::find()
            .filter(provider_batch::Column::OrganizationId.eq(self.store.organization.0))
            .filter(provider_batch::Column::RunId.eq(self.run.0))
    }

    async fn insert(&self, batch: &BatchRecord) -> Result<(), StoreError> {
        let row = provider_batch::ActiveModel {
            id: Set(batch.id.0),
            organization_id: Set(self.store.organization.0),
            run_id: Set(self.run.0),
            provider: Set(batch.provider.as_str().to_owned()),
            base_url: Set(batch.base_url.clone()),
            account: Set(batch.account.clone()),
            remote_id: Set(batch.remote_id.clone()),
            state: Set(batch.state.as_str().to_owned()),
            request_count: Set(batch.keys.len() as i32),
            request_keys: Set(batch.keys.iter().flat_map(|key| key.0).collect()),
            created_at: Set(batch.created_at.as_millisecond()),
            updated_at: Set(now_milliseconds()),
        };
        row.insert(&self.store.database).await?;
        Ok(())
    }

    async fn set_state(
        &self,
        id: ProviderBatchId,
        state: BatchState,
        remote_id: Option<&str>,
    ) -> Result<(), StoreError> {
        let mut update = provider_batch::Entity::update_many()
            .col_expr(provider_batch::Column::State, Expr::value(state.as_str()))
            .col_expr(provider_batch::Column::UpdatedAt, Expr::value(now_milliseconds()));
        if let Some(remote_id) = remote_id {
            update = update.col_expr(provider_batch::Column::RemoteId, Expr::value(remote_id));
        }
        update
            .filter(provider_batch::Column::OrganizationId.eq(self.store.organization.0))
            .filter(provider_batch::Column::RunId.eq(self.run.0))
            .filter(provider_batch::Column::Id.eq(id.0))
            .exec(&self.store.database)
            .await?;
        Ok(())
    }
}

#[async_trait]
impl BatchStore for RunBatches {
    async fn add(&self, batch: &BatchRecord) -> Result<(), BatchStoreError> {
        self.insert(batch).await.map_err(told)
    }

    async fn update(
        &self,
        id: ProviderBatchId,
        state: BatchState,
        remote_id: Option<&str>,
    ) -> Result<(), BatchStoreError> {
        self.set_state(id, state, remote_id).await.map_err(told)
    }
}

fn told(error: StoreError) -> BatchStoreError {
    BatchStoreError(error.to_string())
}

fn record(row: provider_batch::Model) -> Result<BatchRecord, StoreError> {
    let damaged = |what: &str| StoreError::Damaged(format!("provider batch {}: {what}", row.id));
    let (keys, rest) = row.request_keys.as_chunks::<32>();
    if !rest.is_empty() || keys.len() != row.request_count as usize {
        return Err(damaged("its requests do not add up"));
    }
    Ok(BatchRecord {
        id: ProviderBatchId(row.id),
        provider: row.provider.parse().map_err(|_| damaged("an unknown provider"))?,
        state: BatchState::from_word(&row.state).ok_or_else(|| damaged("an unknown state"))?,
        keys: keys.iter().map(|key| ContentHash(*key)).collect(),
        created_at: Timestamp::from_millisecond(row.created_at)
            .map_err(|_| damaged("a time out of range"))?,
        base_url: row.base_url,
        account: row.account,
        remote_id: row.remote_id,
    })
}
