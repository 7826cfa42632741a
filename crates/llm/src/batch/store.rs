//! The trait of what is kept of provider batches; `store` implements it.

use async_trait::async_trait;
use fullbench_types::{ContentHash, ProviderBatchId};
use jiff::Timestamp;

use crate::config::Provider;

/// Where a batch stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchState {
    /// It is about to be sent, and may be at the provider or not.
    Submitting,
    /// It is at the provider.
    Submitted,
    /// Its results were fetched.
    Done,
    /// It is not at the provider: it was refused, or never arrived.
    Failed,
}

impl BatchState {
    /// All states.
    pub const ALL: [Self; 4] = [Self::Submitting, Self::Submitted, Self::Done, Self::Failed];

    /// The stored word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Submitting => "submitting",
            Self::Submitted => "submitted",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }

    /// The state of a stored word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }

    /// Whether there may be results to wait for.
    #[must_use]
    pub fn is_open(self) -> bool {
        matches!(self, Self::Submitting | Self::Submitted)
    }
}

/// What is kept of a batch: enough to find it again, and to know which request each of its results belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchRecord {
    /// Our own id, which is part of the id of every request in it.
    pub id: ProviderBatchId,
    /// Whose batch API it was sent to.
    pub provider: Provider,
    /// Where.
    pub base_url: String,
    /// The variable of the key it was sent with.
    pub account: Option<String>,
    /// The provider's id, once it is known.
    pub remote_id: Option<String>,
    /// Where it stands.
    pub state: BatchState,
    /// The cache keys of its requests, in their order.
    pub keys: Vec<ContentHash>,
    /// When it was made.
    pub created_at: Timestamp,
}

/// The store failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BatchStoreError(pub String);

/// Keeps the provider batches of one run. A batch is kept before it is sent, so that none is ever sent twice.
#[async_trait]
pub trait BatchStore: Send + Sync {
    /// Keeps a new batch.
    async fn add(&self, batch: &BatchRecord) -> Result<(), BatchStoreError>;

    /// Notes where a batch stands, and its id at the provider once that is known.
    async fn update(
        &self,
        id: ProviderBatchId,
        state: BatchState,
        remote_id: Option<&str>,
    ) -> Result<(), BatchStoreError>;
}
