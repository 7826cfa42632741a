//! `fullbench db`: the database itself.

mod backup;
mod migrate;
mod restore;
mod status;

use bytesize::ByteSize;
use fullbench_store::{BackupContents, StoreError};

use crate::arguments::db::{DbArguments, DbCommand};
use crate::commands::run::next_signal;
use crate::failure::{CliError, Exit};
use crate::home::Home;

/// Looks at the database, brings it up to date, backs it up or restores it.
pub(crate) async fn run(arguments: &DbArguments, home: &Home) -> Result<Exit, CliError> {
    match &arguments.command {
        DbCommand::Status(status) => status::run(status, home).await,
        DbCommand::Migrate => migrate::run(home).await,
        DbCommand::Backup(backup) => backup::run(backup, home).await,
        DbCommand::Restore(restore) => restore::run(restore, home).await,
    }
}

/// Carries work out unless it is told to stop, which undoes it.
async fn until_stopped(
    work: impl Future<Output = Result<BackupContents, StoreError>>,
) -> Result<Option<BackupContents>, CliError> {
    tokio::select! {
        done = work => Ok(Some(done?)),
        () = next_signal() => Ok(None),
    }
}

/// What is in a backup, in one line.
fn described(contents: &BackupContents) -> String {
    let bytes = contents.tables.iter().map(|table| table.bytes).sum::<u64>()
        + contents.blobs.bytes
        + contents.files.bytes;
    format!(
        "{} rows in {} tables, {} blobs, {} files, {} in all, as of {}",
        contents.rows(),
        contents.tables.len(),
        contents.blobs.count,
        contents.files.count,
        ByteSize(bytes).display().si(),
        contents.created_at.strftime("%F %T UTC"),
    )
}
