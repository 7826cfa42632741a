//! `fullbench db`: the database itself.

mod migrate;
mod status;

use crate::arguments::db::{DbArguments, DbCommand};
use crate::failure::{CliError, Exit};
use crate::home::Home;

/// Looks at the database, or brings it up to date.
pub(crate) async fn run(arguments: &DbArguments, home: &Home) -> Result<Exit, CliError> {
    match &arguments.command {
        DbCommand::Status(status) => status::run(status, home).await,
        DbCommand::Migrate => migrate::run(home).await,
    }
}
