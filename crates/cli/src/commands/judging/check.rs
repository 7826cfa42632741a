//! `fullbench judge check`: the report card of a judge.

use std::path::Path;

use fullbench_check::{Card, CardOptions, Observed, ProbeOptions, card};
use fullbench_engine::{
    BudgetConfig, CheckRequest, CheckedRun, Definitions, RunEnd, load_scorers, prepare_check,
    read_check, stored_judge,
};
use fullbench_score::ScorerConfig;
use fullbench_store::{RunRecord, ScopedStore};
use fullbench_types::UnscoredReason;

use crate::arguments::PlainFormat;
use crate::arguments::judge_check::CheckArguments;
use crate::commands::run::{check_html_path, perform};
use crate::failure::{CliError, Exit};
use crate::home::Home;
use crate::progress::write_line;
use crate::{output, report};

/// Rounds of the bootstrap.
const ROUNDS: usize = 2_000;

/// Checks a judge, or shows the card of a check.
pub(super) async fn run(arguments: &CheckArguments, home: &Home) -> Result<Exit, CliError> {
    if let Some(path) = &arguments.html {
        check_html_path(path)?;
    }
    if let Some(run) = &arguments.run {
        let store = home.open_existing().await?;
        let record = store.find_run(run).await?;
        let missing = show(arguments, &store, &record).await?;
        return Ok(told(missing, &record));
    }
    let (Some(name), Some(data)) = (&arguments.judge, &arguments.data) else {
        return Err(CliError::internal("a judge and its data are missing".to_owned()));
    };
    let definitions = home.definitions().await?;
    let judge = judge(name, arguments.from.as_deref(), &definitions)?;
    let request = CheckRequest {
        judge,
        data,
        label: &arguments.label,
        scale: arguments.scale,
        probes: ProbeOptions {
            seed: arguments.seed,
            sample: arguments.sample,
            retests: arguments.retests,
            attacks: !arguments.no_attacks,
            ..ProbeOptions::default()
        },
        own_systems: arguments.own.clone(),
        correct: arguments.correct.then_some(arguments.precision),
        budget: arguments.control.budget.map(|usd| BudgetConfig { usd }),
    };
    let store = home.open().await?;
    let needs_keys = !arguments.control.cache_only;
    let prepared = prepare_check(request, &store, needs_keys, env!("CARGO_PKG_VERSION")).await?;
    let RunEnd { record, store, .. } = perform(prepared, &arguments.control).await?;
    let missing = show(arguments, &store, &record).await?;
    for note in &record.notes {
        write_line(&format!("note: {note}"));
    }
    Ok(told(missing, &record))
}

/// Says what a card was made without.
fn told(missing: usize, record: &RunRecord) -> Exit {
    if missing == 0 {
        return Exit::Fine;
    }
    let id = record.id;
    write_line(&format!(
        "note: {missing} judgements are missing, and the card is made of the rest; `fullbench resume {id}` asks for them, `fullbench judge check --run {id}` shows the card again"
    ));
    Exit::Incomplete
}

/// A stored judge, or a scorer of a file.
fn judge(
    name: &str,
    file: Option<&Path>,
    definitions: &Definitions,
) -> Result<ScorerConfig, CliError> {
    let Some(file) = file else { return Ok(stored_judge(name, definitions)?) };
    let scorers = load_scorers(file, definitions)?;
    let names: Vec<&str> = scorers.iter().map(ScorerConfig::name).collect();
    let hint = format!("its scorers: {}", names.join(", "));
    let missing = || {
        let message = format!("{} has no scorer `{name}`", file.display());
        CliError::input(message, Some(hint))
    };
    scorers.iter().find(|scorer| scorer.name() == name).cloned().ok_or_else(missing)
}

/// Shows the card, and says how many judgements are missing that can still be asked for.
async fn show(
    arguments: &CheckArguments,
    store: &ScopedStore,
    record: &RunRecord,
) -> Result<usize, CliError> {
    let CheckedRun { check, examples, probes, observed } = read_check(store, record).await?;
    let is_open = |one: &&Observed| one.unscored == Some(UnscoredReason::ProviderError);
    let missing = probes.len() - observed.len() + observed.iter().filter(is_open).count();
    let options = CardOptions {
        judge: check.judge,
        model: check.model,
        criterion: check.criterion,
        method: check.method,
        levels: check.levels,
        mark: check.mark,
        confidence: arguments.confidence,
        rounds: ROUNDS,
        seed: arguments.seed,
        correct: arguments.correct.then_some(arguments.precision).or(check.correct),
        members: check.members,
        own_systems: match arguments.own.is_empty() {
            true => check.own_systems,
            false => arguments.own.clone(),
        },
    };
    let card: Card = card(&examples, &probes, &observed, &options);
    match arguments.output {
        PlainFormat::Json => output::print_json(&card)?,
        PlainFormat::Table => output::print_report(&card)?,
    }
    if let Some(path) = &arguments.html {
        report::write_card(path, &card, record)?;
        write_line(&format!("card: {}", path.display()));
    }
    Ok(missing)
}
