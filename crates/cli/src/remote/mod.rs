//! The command line against a server: `--server URL`, with the key in `FULLBENCH_API_KEY`.
//!
//! Evaluation files are read here and sent with their cases; the server runs, keeps and counts. What is printed is printed by
//! the same code as for runs of this machine, from the same report.

mod client;
mod follow;
mod run;
mod runs;
mod upload;

use crate::arguments::Command;
use crate::failure::{CliError, Exit};
use client::Client;

/// Verbs that work against a server.
const VERBS: &str = "run, resume, list, show and export";

/// Does what a command says on a server; none for commands that have nothing to do with runs.
pub(crate) async fn perform(url: &str, command: &Command) -> Result<Option<Exit>, CliError> {
    let verb = match command {
        Command::Run(_)
        | Command::Resume(_)
        | Command::List(_)
        | Command::Show(_)
        | Command::Export(_) => None,
        Command::Rescore(_) => Some("rescore"),
        Command::Review(_) => Some("review"),
        Command::Estimate(_) => Some("estimate"),
        Command::Diff(_) => Some("diff"),
        Command::Baseline(_) => Some("baseline"),
        Command::Criterion(_) => Some("criterion"),
        Command::Threshold(_) => Some("threshold"),
        Command::Judge(_) => Some("judge"),
        Command::Serve(_) => Some("serve"),
        Command::Db(_) => Some("db"),
        Command::Secrets(_) => Some("secrets"),
        _ => return Ok(None),
    };
    if let Some(verb) = verb {
        return Err(CliError::input(
            format!("`fullbench {verb}` does not work with --server"),
            Some(format!("{VERBS} do; {url}/docs has everything that the server can do")),
        ));
    }
    let client = Client::new(url)?;
    let exit = match command {
        Command::Run(arguments) => run::run(&client, arguments).await?,
        Command::Resume(arguments) => run::resume(&client, arguments).await?,
        Command::List(arguments) => runs::list(&client, arguments).await?,
        Command::Show(arguments) => runs::show(&client, arguments).await?,
        Command::Export(arguments) => runs::export(&client, arguments).await?,
        _ => return Ok(None),
    };
    Ok(Some(exit))
}
