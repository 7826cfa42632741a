//! `fullbench completions`.

use clap::CommandFactory;

use crate::arguments::{Arguments, CompletionsArguments};
use crate::failure::{CliError, Exit};

/// Prints the completion script of a shell.
pub(crate) fn run(arguments: &CompletionsArguments) -> Result<Exit, CliError> {
    clap_complete::generate(
        arguments.shell,
        &mut Arguments::command(),
        "fullbench",
        &mut std::io::stdout(),
    );
    Ok(Exit::Fine)
}
