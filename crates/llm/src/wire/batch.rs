//! Batches on the wire: how requests stand in them, what a provider says of them, and the results, line by line.

use std::collections::HashMap;

use fullbench_types::ProviderBatchId;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Answer, Wire, batch_anthropic, batch_openai, read};
use crate::model::{CallError, FailureClass};

/// What came of one request: the answer with the reply as it was, or a failure.
pub(crate) type BatchedReply = Result<(Answer, String), CallError>;

/// The id of a request in its batch: no other batch has it, and every provider takes it.
pub(crate) fn custom_id(batch: ProviderBatchId, position: usize) -> String {
    format!("fb_{batch}_{position}")
}

/// The position of a request in a batch, where the id is one of that batch.
pub(crate) fn position(batch: ProviderBatchId, custom_id: &str) -> Option<usize> {
    let position = custom_id.strip_prefix(&format!("fb_{batch}_"))?;
    let is_plain = position == "0" || !position.starts_with('0');
    position.parse().ok().filter(|_| is_plain && position.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A batch as its provider describes it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RemoteBatch {
    pub(crate) id: String,
    pub(crate) is_ended: bool,
    pub(crate) requests: u64,
    pub(crate) done: u64,
    pub(crate) created: Timestamp,
    /// Our own id, where the provider keeps it.
    pub(crate) marker: Option<String>,
    /// Where the results are, below the base URL.
    pub(crate) results: Vec<String>,
    /// Why requests were not worked on, by their positions.
    pub(crate) refused: HashMap<usize, CallError>,
    /// What became of requests without a result.
    pub(crate) missing: CallError,
}

/// One page of the batches at a provider, newest first.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) batches: Vec<RemoteBatch>,
    /// The path of the next page.
    pub(crate) next: Option<String>,
}

impl Wire {
    /// Where batches are made and listed, below the base URL.
    pub(crate) fn batches_path(self) -> &'static str {
        if self == Self::Anthropic { "messages/batches" } else { "batches" }
    }

    /// One request as it stands in a batch; `body` is that of a call of its own.
    pub(crate) fn batch_entry(self, custom_id: &str, body: &[u8]) -> Vec<u8> {
        let head = match self {
            Self::Anthropic => format!("{{\"custom_id\":\"{custom_id}\",\"params\":"),
            _ => format!(
                "{{\"custom_id\":\"{custom_id}\",\"method\":\"POST\",\"url\":\"/v1/chat/completions\",\"body\":"
            ),
        };
        [head.as_bytes(), body, b"}"].concat()
    }

    /// What a provider says of a batch.
    pub(crate) fn read_batch(self, body: &str) -> Result<RemoteBatch, CallError> {
        match self {
            Self::Anthropic => batch_anthropic::read_batch(body),
            _ => batch_openai::read_batch(body),
        }
    }

    /// What a provider says of all batches.
    pub(crate) fn read_page(self, body: &str) -> Result<Page, CallError> {
        let page: WirePage = read(body)?;
        let mut batches = Vec::with_capacity(page.data.len());
        for batch in page.data {
            batches.push(self.read_batch(batch.get())?);
        }
        let last = batches.last().filter(|_| page.has_more);
        let after = if self == Self::Anthropic { "after_id" } else { "after" };
        let next = last.map(|last| format!("{}&{after}={}", self.first_page(), last.id));
        Ok(Page { batches, next })
    }

    /// The path of the first page of batches.
    pub(crate) fn first_page(self) -> String {
        format!("{}?limit=100", self.batches_path())
    }

    /// The result in one line, with the id of its request; none where the line has no such thing.
    pub(crate) fn read_result(self, line: &str) -> Option<(String, BatchedReply)> {
        match self {
            Self::Anthropic => batch_anthropic::read_result(line),
            _ => batch_openai::read_result(line),
        }
    }
}

/// The id of a file or batch that was made.
pub(crate) fn made_id(body: &str) -> Result<String, CallError> {
    #[derive(Deserialize)]
    struct Made {
        id: String,
    }
    Ok(read::<Made>(body)?.id)
}

#[derive(Deserialize)]
struct WirePage {
    data: Vec<Box<RawValue>>,
    #[serde(default)]
    has_more: bool,
}

pub(super) fn without_result() -> CallError {
    CallError::malformed("the batch ended without a result for the request")
}

pub(super) fn expired() -> CallError {
    let message = "the request was not worked on before its batch expired";
    CallError::new(FailureClass::Timeout, message)
}

pub(super) fn cancelled() -> CallError {
    CallError::new(FailureClass::Server, "the batch was cancelled at the provider")
}

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;
