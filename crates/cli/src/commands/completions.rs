//! `fullbench completions`.

use std::io::Write;

use clap::CommandFactory;

use crate::arguments::{Arguments, CompletionsArguments};
use crate::failure::{CliError, Exit};

/// Prints the completion script of a shell.
pub(crate) fn run(arguments: &CompletionsArguments) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "fullbench", &mut script);
    std::io::stdout().lock().write_all(&script)?;
    Ok(Exit::Fine)
}
