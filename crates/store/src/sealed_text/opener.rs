//! Opens sealed texts, with the keys that there are.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::catalogue::{Form, SealedColumn};
use super::{PLAIN, RowKey, SEALED, context};
use crate::vault::{Sealer, sealed_number};
use crate::{MasterKeyId, Purpose, ScopedStore, StoreError};

/// The letters of Base64 that tell the number of a key.
const HEAD_LETTERS: usize = 8;

/// Opens texts that were read together.
#[derive(Debug, Default)]
pub(crate) struct TextOpener {
    sealer: Option<Sealer>,
    /// The master key without which the keys cannot be read.
    missing: Option<MasterKeyId>,
}

/// A text that was opened.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Opened {
    /// The text, without what is gone.
    pub(crate) text: String,
    /// Some of it is gone with the key that it was sealed with.
    pub(crate) is_deleted: bool,
}

impl Opened {
    /// The text, if it is whole.
    pub(crate) fn whole(self) -> Result<String, StoreError> {
        match self.is_deleted {
            true => Err(StoreError::TextsDeleted),
            false => Ok(self.text),
        }
    }
}

impl ScopedStore {
    /// What opens these texts. Keys are looked at only where something is sealed.
    pub(crate) async fn opener<'text>(
        &self,
        texts: impl IntoIterator<Item = &'text str>,
    ) -> Result<TextOpener, StoreError> {
        let mut numbers: Vec<u32> = texts.into_iter().flat_map(numbers_in).collect();
        numbers.sort_unstable();
        numbers.dedup();
        if numbers.is_empty() {
            return Ok(TextOpener::default());
        }
        self.opener_with(&numbers).await
    }

    /// What opens texts that are read one after the other. A missing master key is told when something is sealed.
    pub(crate) async fn opener_of_stream(&self) -> Result<TextOpener, StoreError> {
        match self.opener_with(&[]).await {
            Err(StoreError::MasterKeyUnknown(id)) => {
                Ok(TextOpener { sealer: None, missing: Some(id) })
            }
            opener => opener,
        }
    }

    async fn opener_with(&self, numbers: &[u32]) -> Result<TextOpener, StoreError> {
        let sealer = self.existing_sealer(Purpose::Text, numbers).await?;
        Ok(TextOpener { sealer, missing: None })
    }
}

impl TextOpener {
    /// The text of a column of a row.
    pub(crate) fn open(
        &self,
        column: &SealedColumn,
        key: RowKey<'_>,
        text: String,
    ) -> Result<Opened, StoreError> {
        match column.form {
            Form::Whole => self.open_as(text, || context(column, key, "")),
            Form::Parts(parts) => self.open_parts(column, key, parts, text),
        }
    }

    /// The same for a text that need not be there.
    pub(crate) fn open_some(
        &self,
        column: &SealedColumn,
        key: RowKey<'_>,
        text: Option<String>,
    ) -> Result<Option<Opened>, StoreError> {
        text.map(|text| self.open(column, key, text)).transpose()
    }

    /// A text that was sealed for a context.
    pub(super) fn open_as(
        &self,
        text: String,
        context: impl FnOnce() -> Vec<u8>,
    ) -> Result<Opened, StoreError> {
        if let Some(plain) = text.strip_prefix(PLAIN) {
            return Ok(Opened { text: plain.to_owned(), is_deleted: false });
        }
        let Some(letters) = text.strip_prefix(SEALED) else {
            return Ok(Opened { text, is_deleted: false });
        };
        let damaged = || StoreError::Damaged("a sealed text cannot be opened".to_owned());
        let sealed = URL_SAFE_NO_PAD.decode(letters).map_err(|_| damaged())?;
        let sealer = match (&self.sealer, &self.missing) {
            (Some(sealer), _) => sealer,
            (None, Some(master)) => return Err(StoreError::MasterKeyUnknown(master.clone())),
            (None, None) => return Err(damaged()),
        };
        match sealer.open(&sealed, &context()) {
            Ok(opened) => {
                let text = String::from_utf8(opened.to_vec()).map_err(|_| damaged())?;
                Ok(Opened { text, is_deleted: false })
            }
            Err(StoreError::KeysDeleted) => Ok(Opened { text: String::new(), is_deleted: true }),
            Err(other) => Err(other),
        }
    }
}

/// The numbers of the keys that a text, or parts of it, were sealed with. Only JSON has parts.
fn numbers_in(text: &str) -> Vec<u32> {
    let number = |letters: &str| {
        let head = URL_SAFE_NO_PAD.decode(letters.get(..HEAD_LETTERS)?).ok()?;
        sealed_number(&head).ok()
    };
    if let Some(letters) = text.strip_prefix(SEALED) {
        return number(letters).into_iter().collect();
    }
    if !text.starts_with(['{', '[']) {
        return Vec::new();
    }
    let found = text.match_indices(SEALED);
    found.filter_map(|(place, _)| number(&text[place + SEALED.len()..])).collect()
}
