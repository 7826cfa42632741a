//! Reading the files of a model, with errors that name them.

use std::path::Path;

use serde::de::DeserializeOwned;

use crate::EmbedError;

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, EmbedError> {
    std::fs::read(path).map_err(|error| EmbedError::Unreadable {
        path: path.to_owned(),
        reason: error.to_string(),
    })
}

pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, EmbedError> {
    serde_json::from_slice(&read(path)?).map_err(|error| EmbedError::Unreadable {
        path: path.to_owned(),
        reason: error.to_string(),
    })
}

/// The same for a file that a model need not have.
pub(crate) fn read_json_if_any<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, EmbedError> {
    if path.exists() { read_json(path).map(Some) } else { Ok(None) }
}
