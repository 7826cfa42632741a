//! The `fullbench` binary: one file per verb in `commands`, what it prints in `output`.
//!
//! stdout carries data only; everything else goes to stderr.

mod arguments;
mod commands;
mod configuration;
mod failure;
mod home;
mod logging;
mod output;
mod progress;
mod reference;
mod remote;
mod report;

use std::process::ExitCode;

use crate::arguments::Command;
use crate::configuration::Configured;
use crate::failure::{CliError, Exit};

/// Results are made by some threads and let go by others, which is what this allocator is good at.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Functions of users run in processes of their own, which are this program started again.
    fullbench_script::serve_if_asked();
    let exit = match Configured::read().and_then(|configured| run(&configured)) {
        Ok(exit) => exit,
        Err(error) => {
            error.print();
            error.exit()
        }
    };
    ExitCode::from(exit as u8)
}

fn run(configured: &Configured) -> Result<Exit, CliError> {
    let traces = logging::start(configured)?;
    let exit = perform(configured);
    if let Some(traces) = traces {
        traces.end();
    }
    exit
}

fn perform(configured: &Configured) -> Result<Exit, CliError> {
    let arguments = &configured.arguments;
    if let Some(server) = arguments.server.as_ref().filter(|server| !server.is_empty())
        && let Some(exit) = block_on(remote::perform(server, &arguments.command))?
    {
        return Ok(exit);
    }
    let home = || home::Home::new(&arguments.place);
    match &arguments.command {
        Command::Init(init) => commands::init::run(init),
        Command::Metric(metric) => block_on(commands::metric::run(metric)),
        Command::Stats(stats) => commands::stats::run(stats),
        Command::Dataset(dataset) => block_on(commands::dataset::run(dataset)),
        Command::Weights(weights) => block_on(commands::weights::run(weights)),
        Command::Schema => commands::schema::run(),
        Command::Completions(completions) => commands::completions::run(completions),
        Command::Reference(reference) => commands::reference::run(reference),
        Command::Run(run) => block_on(commands::run::run(run, &home()?)),
        Command::Resume(resume) => block_on(commands::resume::run(resume, &home()?)),
        Command::Rescore(rescore) => block_on(commands::rescore::run(rescore, &home()?)),
        Command::Review(review) => block_on(commands::review::run(review, &home()?)),
        Command::Estimate(estimate) => block_on(commands::estimate::run(estimate, &home()?)),
        Command::List(list) => block_on(commands::list::run(list, &home()?)),
        Command::Show(show) => block_on(commands::show::run(show, &home()?)),
        Command::Diff(diff) => block_on(commands::diff::run(diff, &home()?)),
        Command::Baseline(baseline) => block_on(commands::baseline::run(baseline, &home()?)),
        Command::Criterion(criterion) => {
            block_on(commands::judging::criterion::run(criterion, &home()?))
        }
        Command::Threshold(threshold) => {
            block_on(commands::judging::threshold::run(threshold, &home()?))
        }
        Command::Judge(judge) => block_on(commands::judging::judge::run(judge, &home()?)),
        Command::Serve(serve) => block_on(commands::serve::run(serve, &home()?)),
        Command::Config(config) => block_on(commands::config::run(&config.command, configured)),
        Command::Audit(audit) => block_on(commands::audit::run(audit, &home()?)),
        Command::User(user) => block_on(commands::accounts::user::run(user, &home()?)),
        Command::Organization(organization) => {
            block_on(commands::organization::run(organization, &home()?))
        }
        Command::Retention(retention) => {
            block_on(commands::organization::retention::run(retention, &home()?))
        }
        Command::Db(db) => block_on(commands::db::run(db, &home()?)),
        Command::Secrets(secrets) => block_on(commands::secrets::run(secrets, &home()?)),
        Command::Export(export) => block_on(commands::export::run(export, &home()?)),
        Command::Doctor(doctor) => block_on(commands::doctor::run(doctor, &home()?)),
    }
}

fn block_on<T>(work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime
        .map_err(|error| CliError::internal(format!("the runtime cannot start: {error}")))?;
    let result = runtime.block_on(work);
    runtime.shutdown_background();
    result
}
