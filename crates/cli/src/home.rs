//! Where the state lives.

use std::path::{Path, PathBuf};

use fullbench_engine::Definitions;
use fullbench_store::{ScopedStore, Store};
use fullbench_types::DEFAULT_ORGANIZATION;

use crate::failure::CliError;

/// The name of the folder.
const FOLDER: &str = ".fullbench";

/// The folder the user names, else `.fullbench` here or in the nearest folder above that has one.
pub(crate) fn folder(named: Option<PathBuf>) -> PathBuf {
    if let Some(named) = named {
        return named;
    }
    let here = std::env::current_dir().unwrap_or_default();
    let existing =
        here.ancestors().map(|folder| folder.join(FOLDER)).find(|folder| folder.is_dir());
    existing.unwrap_or_else(|| PathBuf::from(FOLDER))
}

/// Opens the store of the command line.
pub(crate) async fn open(home: &Path) -> Result<ScopedStore, CliError> {
    Ok(Store::open(home).await?.scoped(DEFAULT_ORGANIZATION))
}

/// What an evaluation file may name of the store; nothing where there is no store yet.
pub(crate) async fn definitions(home: &Path) -> Result<Definitions, CliError> {
    match open_if_there(home).await? {
        Some(store) => Ok(Definitions::read(&store).await?),
        None => Ok(Definitions::default()),
    }
}

/// Opens the store, where there is one already.
pub(crate) async fn open_if_there(home: &Path) -> Result<Option<ScopedStore>, CliError> {
    match home.join("fullbench.db").exists() {
        true => Ok(Some(open(home).await?)),
        false => Ok(None),
    }
}

/// Opens the store only if there is one already: reading commands make nothing.
pub(crate) async fn open_existing(home: &Path) -> Result<ScopedStore, CliError> {
    if !home.join("fullbench.db").exists() {
        let message = format!("there are no runs in {}", home.display());
        return Err(CliError::input(
            message,
            Some("start one with `fullbench run`, or say where with --home".to_owned()),
        ));
    }
    open(home).await
}
