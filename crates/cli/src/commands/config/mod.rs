//! `fullbench config`: the settings of the server.

mod check;
mod show;

use crate::arguments::config::ConfigCommand;
use crate::configuration::Configured;
use crate::failure::{CliError, Exit};

/// Shows or checks the settings.
pub(crate) async fn run(
    command: &ConfigCommand,
    configured: &Configured,
) -> Result<Exit, CliError> {
    match command {
        ConfigCommand::Show(show) => show::run(show, configured),
        ConfigCommand::Check(check) => check::run(check, configured).await,
    }
}
