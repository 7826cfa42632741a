//! `run` and `resume` on a server.

use fullbench_engine::{EngineError, RunReport, SendableEvaluation};
use serde::Deserialize;
use serde_json::{Value, json};

use super::client::{Client, RemoteError};
use super::follow::follow;
use super::runs::{find, print_report};
use super::upload;
use crate::arguments::{ControlArguments, Format, ReportArguments, ResumeArguments, RunArguments};
use crate::commands::run::exit_of;
use crate::failure::{CliError, Exit};
use crate::progress::write_line;

/// A run that was taken on.
#[derive(Deserialize)]
struct Started {
    run_id: String,
    name: String,
    total_items: u64,
}

/// Sends an evaluation with its cases, and watches the run.
pub(super) async fn run(client: &Client, arguments: &RunArguments) -> Result<Exit, CliError> {
    check(&arguments.control, &arguments.report)?;
    let mut evaluation = SendableEvaluation::read(&arguments.file)?;
    if let Some(budget) = arguments.control.budget {
        evaluation.evaluation.insert("budget".to_owned(), json!({ "usd": budget }));
    }
    if arguments.control.no_cache {
        evaluation.evaluation.insert("cache".to_owned(), json!(false));
    }
    let quiet = arguments.control.quiet;
    let version = upload::version(client, &evaluation, quiet).await?;
    let asked = json!({ "evaluation": evaluation.evaluation, "dataset_version_id": version });
    let started: Started = client
        .post(&["v1", "runs"], &asked)
        .await
        .map_err(|error| in_the_file(error, &evaluation))?;
    if !quiet {
        let Started { run_id, name, total_items } = &started;
        write_line(&format!("run {run_id} · {name} · {total_items} units · {}", client.url()));
    }
    watch(client, &started.run_id, quiet, &arguments.report).await
}

/// Has a run go on, and watches it.
pub(super) async fn resume(client: &Client, arguments: &ResumeArguments) -> Result<Exit, CliError> {
    check(&arguments.control, &arguments.report)?;
    if arguments.control.no_cache || arguments.control.budget.is_some() {
        let message = "a run on a server goes on as it was begun: without --no-cache and --budget";
        return Err(CliError::input(message, None));
    }
    let run = find(client, &arguments.run).await?;
    let path = ["v1", "evaluations", "batch", &run, "resume"];
    match client.post::<Value>(&path, &json!({})).await {
        Ok(_) => {}
        // There is nothing to go on with: it is shown as it is.
        Err(RemoteError::Refused(refusal)) if refusal.status == 409 => {}
        Err(other) => return Err(other.into()),
    }
    watch(client, &run, arguments.control.quiet, &arguments.report).await
}

async fn watch(
    client: &Client,
    run: &str,
    quiet: bool,
    reporting: &ReportArguments,
) -> Result<Exit, CliError> {
    let goes_on = || {
        write_line(&format!(
            "the run goes on: `fullbench --server {} show {run}` has its numbers",
            client.url()
        ));
    };
    match follow(client, run, quiet).await {
        Ok(Some(_)) => {}
        Ok(None) => {
            goes_on();
            return Ok(Exit::Incomplete);
        }
        Err(error) => {
            goes_on();
            return Err(error);
        }
    }
    let report = print_report(client, run, reporting).await?;
    for note in &report.notes {
        write_line(&format!("note: {note}"));
    }
    Ok(ended(&report))
}

/// The same exit as for a run of this machine.
fn ended(report: &RunReport) -> Exit {
    let count = |of: fn(&fullbench_engine::ModelSummary) -> u64| report.models.iter().map(of).sum();
    let failed: u64 = count(|model| model.failures.values().sum());
    let unscored = report.models.iter().flat_map(|model| &model.scores);
    let unscored: u64 =
        unscored.map(|score| score.unscored.get("provider_error").copied().unwrap_or(0)).sum();
    exit_of(report, failed + unscored, count(|model| model.remaining))
}

/// Refuses what only works on this machine.
fn check(control: &ControlArguments, reporting: &ReportArguments) -> Result<(), CliError> {
    let refused = |flag: &str, hint: &str| {
        Err(CliError::input(format!("{flag} does not work with --server"), Some(hint.to_owned())))
    };
    if control.provider_batch {
        return refused("--provider-batch", "leave it out");
    }
    if control.cache_only {
        return refused("--cache-only", "leave it out: the server answers from its own cache");
    }
    if reporting.output == Format::Junit {
        return refused("-o junit", "use `-o github` or `-o markdown`");
    }
    if reporting.html.is_some() {
        return refused("--html", "print Markdown with `-o markdown`");
    }
    Ok(())
}

/// What the server says of fields, at their places in the evaluation file.
fn in_the_file(error: RemoteError, evaluation: &SendableEvaluation) -> CliError {
    let RemoteError::Refused(refusal) = error else { return error.into() };
    let problems: Vec<_> = refusal
        .errors
        .iter()
        .filter_map(|error| {
            let field = error.field.strip_prefix("evaluation.")?;
            Some(evaluation.problem(field, error.problem()))
        })
        .collect();
    match problems.is_empty() {
        true => RemoteError::Refused(refusal).into(),
        false => EngineError::Input(problems).into(),
    }
}
