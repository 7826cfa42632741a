//! The address of a channel of Slack: who has it can write there, so that it is kept sealed and shown by its ends alone.

use fullbench_llm::Secret;
use url::Url;
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
        let (host, rest) = parts(url);
        let letters: Vec<char> = rest.chars().collect();
        let last_four = (letters.len() >= LONG_ENOUGH)
            .then(|| letters[letters.len() - SHOWN..].iter().collect());
        Ok(KeptAddress { sealed: Some(sealed), host: Some(host), last_four })
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

/// The server of an address with its port, and what comes after it, which may be secret wherever it stands.
fn parts(url: &str) -> (String, String) {
    let Ok(url) = Url::parse(url) else { return (String::new(), String::new()) };
    let host = url.host_str().unwrap_or_default();
    let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    let rest = url[url::Position::BeforePath..].trim_start_matches('/');
    (host, rest.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_of_an_address_is_its_server() {
        for (url, host, rest) in [
            ("https://hooks.slack.com/services/T/B/x", "hooks.slack.com", "services/T/B/x"),
            ("https://host?token=SECRET", "host", "?token=SECRET"),
            ("https://host#SECRET", "host", "#SECRET"),
            ("https://ann:SECRET@host:8080/a", "host:8080", "a"),
            ("https:host/SECRET", "host", "SECRET"),
            ("SECRET", "", ""),
        ] {
            assert_eq!(parts(url), (host.to_owned(), rest.to_owned()), "{url}");
        }
    }
}
