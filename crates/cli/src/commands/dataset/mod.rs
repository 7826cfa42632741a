//! `fullbench dataset`.

mod dedupe;
mod findings;

use crate::arguments::dataset::{DatasetArguments, DatasetCommand};
use crate::failure::{CliError, Exit};

/// Works on data sets outside of a run.
pub(crate) async fn run(arguments: &DatasetArguments) -> Result<Exit, CliError> {
    match &arguments.command {
        DatasetCommand::Dedupe(dedupe) => dedupe::run(dedupe).await,
    }
}
