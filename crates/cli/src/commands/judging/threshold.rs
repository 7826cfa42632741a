//! `fullbench threshold`.

use fullbench_store::{JudgementFilter, StoreError, ThresholdRecord};
use serde_json::{Value, json};

use super::{criterion_of, stored_criterion, time};
use crate::arguments::PlainFormat;
use crate::arguments::judging::{EffectArguments, ThresholdArguments, ThresholdCommand};
use crate::failure::{CliError, Exit};
use crate::home::Home;
use crate::output;
use crate::progress::write_line;

/// Lists, shows or sets pass marks, and says what another would change.
pub(crate) async fn run(arguments: &ThresholdArguments, home: &Home) -> Result<Exit, CliError> {
    if let ThresholdCommand::Suggest(suggest) = &arguments.command {
        super::suggest::run(suggest, home).await?;
        return Ok(Exit::Fine);
    }
    let store = match &arguments.command {
        ThresholdCommand::Add(_) => home.open().await?,
        _ => home.open_existing().await?,
    };
    match &arguments.command {
        ThresholdCommand::List(printing) => {
            let mut current = Vec::new();
            for record in store.criteria().await? {
                current.extend(store.threshold(&record.criterion.name).await?);
            }
            print(&current, printing.output)?;
        }
        ThresholdCommand::Show(named) => {
            criterion_of(&store, &named.name).await?;
            let current: Vec<ThresholdRecord> =
                store.threshold(&named.name).await?.into_iter().collect();
            print(&current, named.printing.output)?;
        }
        ThresholdCommand::Add(add) => {
            let criterion = stored_criterion(&store, &add.criterion).await?.criterion.name;
            let set = store.set_threshold(&criterion, add.score, add.note.as_deref()).await?;
            write_line(&format!(
                "{criterion} passes from {} on, since {}",
                set.score,
                time(set.set_at)
            ));
        }
        ThresholdCommand::History(named) => {
            criterion_of(&store, &named.name).await?;
            let history = match store.threshold_history(&named.name).await {
                Err(StoreError::NameNotFound { .. }) => Vec::new(),
                history => history?,
            };
            print(&history, named.printing.output)?;
        }
        ThresholdCommand::Suggest(_) => {}
        ThresholdCommand::Effect(effect) => print_effect(&store, effect).await?,
    }
    Ok(Exit::Fine)
}

fn print(thresholds: &[ThresholdRecord], format: PlainFormat) -> Result<(), CliError> {
    if format == PlainFormat::Json {
        let json = |one: &ThresholdRecord| json!({ "criterion": one.criterion, "score": one.score, "note": one.note, "set_at": one.set_at.to_string() });
        return output::print_json(&thresholds.iter().map(json).collect::<Vec<Value>>());
    }
    if thresholds.is_empty() {
        write_line("no pass mark is set: `fullbench threshold add CRITERION SCORE` sets one");
        return Ok(());
    }
    let mut table = output::table(&["criterion", "passes from", "since", "note"]);
    for one in thresholds {
        let note = one.note.clone().unwrap_or_default();
        table.add_row(vec![one.criterion.clone(), one.score.to_string(), time(one.set_at), note]);
    }
    output::print_text(&format!("{table}\n"))
}

async fn print_effect(
    store: &fullbench_store::ScopedStore,
    arguments: &EffectArguments,
) -> Result<(), CliError> {
    if let Some(score) = arguments.score.filter(|score| !(0.0..=1.0).contains(score)) {
        let hint = "a pass mark is on the value from 0 to 1, whatever the scale";
        return Err(CliError::input(format!("{score} is not from 0 to 1"), Some(hint.to_owned())));
    }
    let filter =
        JudgementFilter { criterion: arguments.criterion.clone(), ..JudgementFilter::default() };
    let effects = store.threshold_effect(arguments.score, &filter).await?;
    if arguments.printing.output == PlainFormat::Json {
        let json = |one: &fullbench_store::ThresholdEffect| {
            json!({ "criterion": one.criterion, "threshold": one.threshold, "scored": one.scored,
                "would_pass": one.would_pass, "passed_to_failed": one.passed_to_failed,
                "failed_to_passed": one.failed_to_passed, "without_threshold": one.without_threshold })
        };
        return output::print_json(&effects.iter().map(json).collect::<Vec<Value>>());
    }
    if effects.is_empty() {
        write_line("no judgement to look at");
        return Ok(());
    }
    let mut table = output::table(&[
        "criterion",
        "pass mark",
        "scored",
        "would pass",
        "pass → fail",
        "fail → pass",
        "change",
    ]);
    for one in &effects {
        table.add_row(vec![
            one.criterion.clone(),
            one.threshold.to_string(),
            one.scored.to_string(),
            one.would_pass.to_string(),
            one.passed_to_failed.to_string(),
            one.failed_to_passed.to_string(),
            one.changed().to_string(),
        ]);
    }
    output::print_text(&format!("{table}\n"))
}
