//! Texts of an organization at rest: sealed with its data key where it wants that, so that deleting the key deletes them.
//!
//! A sealed text is `sealed:1:` and Base64 of the sealed bytes. A plain text that begins with `sealed:` is kept as `sealed:0:`
//! and itself, whoever sends it, so that none is ever taken for a sealed one. What a text is sealed for is its table, its
//! column and the key of its row: moved elsewhere it does not open. Whatever is sealed is opened when it is read, and what is
//! plain is read as it is, so that the setting can be switched on and off.

pub(crate) mod catalogue;
mod opener;
mod parts;
mod rewrite;
#[cfg(test)]
mod tests;

use std::fmt::Display;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sea_orm::EntityTrait;

use crate::entity::platform::organization;
use crate::platform::unknown;
use crate::scrub::Scrubber;
use crate::vault::{Sealer, joined};
use crate::{OrganizationSettings, Purpose, ScopedStore, StoreError};
use catalogue::{Form, SealedColumn};
pub(crate) use opener::{Opened, TextOpener};
pub use rewrite::SealedTexts;

/// What every text begins with that is not itself.
const MARK: &str = "sealed:";
/// What a plain text begins with that would begin with the mark.
const PLAIN: &str = "sealed:0:";
/// What a sealed text begins with.
const SEALED: &str = "sealed:1:";

/// The values of the key of a row.
pub(crate) type RowKey<'row> = &'row [&'row dyn Display];

impl ScopedStore {
    /// What the organization wants to be done with texts before they are kept.
    pub(crate) async fn text_keeper(&self) -> Result<TextKeeper, StoreError> {
        let settings = self.text_settings().await?;
        let sealer = match settings.encrypt_texts {
            true => Some(self.sealer(Purpose::Text).await?),
            false => None,
        };
        Ok(TextKeeper { scrubber: Scrubber::new(&settings.scrub), sealer })
    }

    /// Texts are changed or sealed before they are kept: what keeps whole texts for later, such as the response cache, must not
    /// be used.
    pub async fn keeps_no_copies(&self) -> Result<bool, StoreError> {
        let settings = self.text_settings().await?;
        Ok(settings.encrypt_texts || !settings.scrub.is_empty())
    }

    /// Whether texts are sealed before they are kept.
    pub(crate) async fn encrypts_texts(&self) -> Result<bool, StoreError> {
        Ok(self.text_settings().await?.encrypt_texts)
    }

    async fn text_settings(&self) -> Result<OrganizationSettings, StoreError> {
        let row = organization::Entity::find_by_id(self.organization.0).one(&self.database).await?;
        // Nothing is kept for one that was erased, least of all in plain.
        let row = row.ok_or_else(|| unknown(self.organization))?;
        serde_json::from_str(&row.settings).map_err(|error| StoreError::Damaged(error.to_string()))
    }
}

/// Does with texts what their organization wants to be done before they are kept; taken once for many of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct TextKeeper {
    /// Takes things out of them.
    pub(crate) scrubber: Scrubber,
    sealer: Option<Sealer>,
}

impl TextKeeper {
    /// One that seals everything.
    pub(crate) fn sealing(sealer: Sealer) -> Self {
        Self { scrubber: Scrubber::default(), sealer: Some(sealer) }
    }

    /// A text as it is kept in a column of a row.
    pub(crate) fn kept(
        &self,
        column: &SealedColumn,
        key: RowKey<'_>,
        text: String,
    ) -> Result<String, StoreError> {
        match column.form {
            Form::Whole => self.kept_as(text, || context(column, key, "")),
            Form::Parts(parts) => self.kept_parts(column, key, parts, text),
        }
    }

    /// What is kept in a column of a row, with all of it sealed that is plain; none where nothing is.
    fn resealed(
        &self,
        column: &SealedColumn,
        key: RowKey<'_>,
        kept: &str,
    ) -> Result<Option<String>, StoreError> {
        match column.form {
            Form::Whole if kept.starts_with(SEALED) => Ok(None),
            Form::Whole => {
                let text = kept.strip_prefix(PLAIN).unwrap_or(kept).to_owned();
                self.kept_as(text, || context(column, key, "")).map(Some)
            }
            Form::Parts(parts) => self.resealed_parts(column, key, parts, kept),
        }
    }

    /// The same for a text that need not be there.
    pub(crate) fn kept_some(
        &self,
        column: &SealedColumn,
        key: RowKey<'_>,
        text: Option<String>,
    ) -> Result<Option<String>, StoreError> {
        text.map(|text| self.kept(column, key, text)).transpose()
    }

    /// A text as it is kept, sealed for a context.
    fn kept_as(
        &self,
        text: String,
        context: impl FnOnce() -> Vec<u8>,
    ) -> Result<String, StoreError> {
        match &self.sealer {
            Some(sealer) => {
                let sealed = sealer.seal(text.as_bytes(), &context())?;
                let mut kept = SEALED.to_owned();
                URL_SAFE_NO_PAD.encode_string(sealed, &mut kept);
                Ok(kept)
            }
            None if text.starts_with(MARK) => Ok(format!("{PLAIN}{text}")),
            None => Ok(text),
        }
    }
}

/// What a text is sealed for.
fn context(column: &SealedColumn, key: RowKey<'_>, place: &str) -> Vec<u8> {
    let key: Vec<String> = key.iter().map(ToString::to_string).collect();
    let row: Vec<&[u8]> = key.iter().map(String::as_bytes).collect();
    joined(&[&[column.table.as_bytes(), column.name.as_bytes(), place.as_bytes()], &row])
}
