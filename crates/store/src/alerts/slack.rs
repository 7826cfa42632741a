//! The address of a channel of Slack: who has it can write there, so that it is kept sealed and shown by its ends alone.

use fullbench_llm::Secret;
use uuid::Uuid;

use crate::vault::Purpose;
use crate::{ScopedStore, StoreError};

/// Letters of an address that are shown, where it is long enough to stay secret without them.
const SHOWN: usize = 4;
const LONG_ENOUGH: usize = 24;

/// What is shown of an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlackAddress {
    /// The server.
    pub host: String,
    /// Its last letters; none of a short one.
    pub last_four: Option<String>,
}

/// An address as it is kept.
#[derive(Default)]
pub(super) struct KeptAddress {
    pub(super) sealed: Option<Vec<u8>>,
    pub(super) host: Option<String>,
    pub(super) last_four: Option<String>,
}

impl ScopedStore {
    /// Makes an address ready to be kept with its rule, for which alone it opens.
    pub(super) async fn sealed_address(
        &self,
        rule: Uuid,
        url: Option<&Secret>,
    ) -> Result<KeptAddress, StoreError> {
        let Some(url) = url.map(Secret::reveal) else { return Ok(KeptAddress::default()) };
        let sealed = self.seal(Purpose::Alert, url.as_bytes(), rule.as_bytes()).await?;
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let letters: Vec<char> = path.chars().collect();
        let last_four = (letters.len() >= LONG_ENOUGH)
            .then(|| letters[letters.len() - SHOWN..].iter().collect());
        Ok(KeptAddress { sealed: Some(sealed), host: Some(host.to_owned()), last_four })
    }

    /// The address that a rule's messages are sent to.
    pub(super) async fn opened_address(
        &self,
        rule: Uuid,
        sealed: &[u8],
    ) -> Result<Secret, StoreError> {
        let opened = self.open(Purpose::Alert, sealed, rule.as_bytes()).await?;
        let text = std::str::from_utf8(&opened)
            .map_err(|_| StoreError::Damaged("an address of Slack is no text".to_owned()))?;
        Ok(Secret::new(text))
    }
}
