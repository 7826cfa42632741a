//! `fullbench run`.

use std::path::Path;

use fullbench_engine::{
    BudgetConfig, EvaluationSpec, PreparedRun, RunControl, RunEnd, RunReport, RunRequest,
    check_group_field, execute, load_evaluation, prepare_new, summarize,
};
use fullbench_llm::{CacheMode, Provider, price_of};
use fullbench_types::NanoDollars;
use tokio_util::sync::CancellationToken;

use crate::arguments::{ControlArguments, ReportArguments, RunArguments};
use crate::failure::{CliError, Exit};
use crate::home::Home;
use crate::progress::{Display, write_line};
use crate::{output, report};

/// Runs an evaluation file.
pub(crate) async fn run(arguments: &RunArguments, home: &Home) -> Result<Exit, CliError> {
    let mut evaluation = load_evaluation(&arguments.file, &home.definitions().await?)?;
    check_html(&arguments.report)?;
    check_budget(&arguments.control, &evaluation.spec)?;
    if let Some(usd) = arguments.control.budget {
        // Kept with the run, so that going on with it does not spend more.
        evaluation.spec.budget = Some(BudgetConfig { usd });
    }
    let store = home.open().await?;
    let needs_keys = !arguments.control.cache_only;
    let request = RunRequest {
        group_by: arguments.report.by.as_deref(),
        ..RunRequest::new(env!("CARGO_PKG_VERSION"), needs_keys)
    };
    let prepared = prepare_new(evaluation, &store, request).await?;
    carry_out(prepared, &arguments.control, &arguments.report).await
}

/// Executes a prepared run, prints its report and decides the exit code.
pub(crate) async fn carry_out(
    prepared: PreparedRun,
    control: &ControlArguments,
    reporting: &ReportArguments,
) -> Result<Exit, CliError> {
    if let Some(by) = &reporting.by {
        check_group_field(by, &prepared.dataset)?;
    }
    let RunEnd { record, store, failed, unscored, open } = perform(prepared, control).await?;
    let id = record.id;
    let report = summarize(&store, &record, reporting.by.as_deref()).await?;
    match output::print(&report, reporting.output, &store, &record).await {
        Err(error) if error.is_closed_pipe() => {}
        printed => printed?,
    }
    let mut unwritten = None;
    if let Some(path) = &reporting.html {
        match report::write_html(path, &report, &store, &record, reporting.html_cases).await {
            Ok(()) => write_line(&format!("report: {}", path.display())),
            Err(error) => unwritten = Some(error),
        }
    }
    for note in &record.notes {
        write_line(&format!("note: {note}"));
    }
    if failed > 0 {
        write_line(&format!(
            "note: {failed} units have no answer; `fullbench resume {id}` tries them again"
        ));
    }
    let exit = exit_of(&report, failed + unscored, open);
    match unwritten.filter(|_| exit == Exit::Fine) {
        Some(error) => Err(error),
        None => Ok(exit),
    }
}

/// Executes a prepared run, with progress on stderr, until its end or a signal.
pub(crate) async fn perform(
    prepared: PreparedRun,
    control: &ControlArguments,
) -> Result<RunEnd, CliError> {
    let id = prepared.record.id;
    let units = prepared.plan.units();
    if !control.quiet {
        write_line(&format!("run {id} · {} · {units} units", prepared.spec.name));
    }
    let stop = CancellationToken::new();
    tokio::spawn(stop_on_signal(stop.clone()));
    let settings = RunControl {
        stop,
        cache_mode: cache_mode(control),
        budget: control.budget.map(NanoDollars::from_dollars),
        provider_batch: control.provider_batch,
        leaves_end_to_caller: false,
    };
    let mut display = None;
    let quiet = control.quiet;
    let ended = execute(prepared, settings, |progress| {
        if !quiet {
            display = Some(Display::start(progress));
        }
    })
    .await;
    if let Some(display) = display {
        display.end();
    }
    Ok(ended?)
}

/// 3 while units are open; else 1 when a gate fails; else 3 when units or their scoring failed and no gate says how many
/// may.
pub(crate) fn exit_of(report: &RunReport, failed: u64, open: u64) -> Exit {
    for gate in &report.gates {
        if let Some(warning) = &gate.warning {
            write_line(&format!("gate warns: {} · {} · {warning}", gate.expression, gate.model));
        }
    }
    let failed_gates: Vec<_> = report.gates.iter().filter(|gate| !gate.passed).collect();
    for gate in &failed_gates {
        write_line(&format!("gate failed: {} · {} · {}", gate.expression, gate.model, gate.detail));
    }
    let tolerates = report.gates.iter().any(|gate| {
        let mut words =
            gate.expression.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        words.any(|word| matches!(word, "unscored" | "answered" | "units"))
    });
    if open > 0 {
        Exit::Incomplete
    } else if !failed_gates.is_empty() {
        Exit::GateFailed
    } else if failed > 0 && !tolerates {
        Exit::Incomplete
    } else {
        Exit::Fine
    }
}

fn cache_mode(control: &ControlArguments) -> CacheMode {
    match (control.no_cache, control.cache_only) {
        (true, _) => CacheMode::Off,
        (_, true) => CacheMode::Only,
        _ => CacheMode::Use,
    }
}

/// Refuses a report path that cannot be written before anything is spent.
pub(crate) fn check_html(reporting: &ReportArguments) -> Result<(), CliError> {
    reporting.html.as_deref().map_or(Ok(()), check_html_path)
}

/// Refuses a path that cannot be written.
pub(crate) fn check_html_path(path: &Path) -> Result<(), CliError> {
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let existed = path.exists();
    let writable = std::fs::OpenOptions::new().append(true).create(true).open(path).is_ok();
    if writable && !existed {
        let _ = std::fs::remove_file(path);
    }
    if path.is_dir() || !folder.is_dir() || !writable {
        let message = format!("the report cannot be written to {}", path.display());
        return Err(CliError::input(
            message,
            Some("name a file in a folder that exists".to_owned()),
        ));
    }
    Ok(())
}

/// Refuses a budget that cannot be kept because a model has no known price.
pub(crate) fn check_budget(
    control: &ControlArguments,
    spec: &EvaluationSpec,
) -> Result<(), CliError> {
    let called = spec.models.iter().filter(|model| model.provider != Provider::Recorded);
    let mut unpriced = called.filter(|model| price_of(model).is_none());
    match unpriced.next().filter(|_| control.budget.is_some()) {
        None => Ok(()),
        Some(model) => {
            let message = format!("--budget: no price is known for `{}`", model.display_name());
            let hint = "add `price: { input: 0.15, output: 0.60 }` (dollars per million tokens) to the model";
            Err(CliError::input(message, Some(hint.to_owned())))
        }
    }
}

/// The first Ctrl-C lets calls in flight finish; the second ends the program at once. Both can be resumed.
async fn stop_on_signal(stop: CancellationToken) {
    next_signal().await;
    write_line("stopping: calls in flight finish and are kept; Ctrl-C again ends at once");
    stop.cancel();
    next_signal().await;
    std::process::exit(Exit::Incomplete as i32);
}

pub(crate) async fn next_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        let _ = tokio::signal::ctrl_c().await;
        return;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}
