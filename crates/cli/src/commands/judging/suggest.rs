//! `fullbench threshold suggest`: the pass mark that fits what people passed and failed.

use std::collections::BTreeMap;

use fullbench_analysis::threshold::{ThresholdOptions, suggest};
use fullbench_engine::{CheckedRun, PassLabels, read_check, read_pass_labels};
use fullbench_stats::validity::Resampling;
use fullbench_store::{JudgementFilter, ScopedStore};

use super::{built_in_criterion, criterion_of};
use crate::arguments::PlainFormat;
use crate::arguments::judging::SuggestArguments;
use crate::failure::CliError;
use crate::home::Home;
use crate::output;
use crate::progress::write_line;

/// Rounds of the bootstrap.
const ROUNDS: usize = 2_000;

/// Scores with what people said of the same answers.
#[derive(Default)]
struct Pairs {
    values: Vec<f64>,
    passes: Vec<bool>,
}

/// Suggests a mark, and says how sure it is.
pub(super) async fn run(arguments: &SuggestArguments, home: &Home) -> Result<(), CliError> {
    let labels = arguments.labels.as_deref().map(read_pass_labels).transpose()?;
    // Scores of the user's own need no store; what is judged by others is found in one.
    let needs_store = !matches!(labels, Some(PassLabels::WithScores(_)));
    let store = match needs_store {
        true => Some(home.open_existing().await?),
        false => home.open_if_there().await?,
    };
    let criterion = match &store {
        Some(store) => criterion_of(store, &arguments.criterion).await?.name,
        None => built_in_criterion(&arguments.criterion)?.name,
    };
    let pairs = match (labels, &store, &arguments.check) {
        (Some(PassLabels::WithScores(rows)), ..) => {
            if arguments.run.is_some() || arguments.judge.is_some() {
                let message =
                    "--run and --judge choose stored judgements, and these labels have scores";
                let hint = "leave the options out, or the column `score`";
                return Err(CliError::input(message.to_owned(), Some(hint.to_owned())));
            }
            let (values, passes) = rows.into_iter().unzip();
            Pairs { values, passes }
        }
        (Some(PassLabels::ById(labels)), Some(store), _) => {
            of_stored(store, &labels, arguments, &criterion).await?
        }
        (None, Some(store), Some(run)) => of_check(store, run, arguments, &criterion).await?,
        _ => Pairs::default(),
    };
    let present = match &store {
        Some(store) => store.threshold(&criterion).await?.map(|threshold| threshold.score),
        None => None,
    };
    let options = ThresholdOptions {
        goal: arguments.goal,
        present,
        resampling: Resampling { rounds: ROUNDS, seed: arguments.seed, confidence: 0.95 },
    };
    let report = suggest(&pairs.values, &pairs.passes, &options)?;
    match arguments.printing.output {
        PlainFormat::Json => output::print_json(&report)?,
        PlainFormat::Table => {
            output::print_report(&report)?;
            let found = &report.suggestion;
            match readable(found.mark, found.best_marks.low, found.best_marks.high) {
                Some(mark) => {
                    write_line(&format!(
                        "set it with `fullbench threshold add {criterion} {mark}`"
                    ));
                }
                None => write_line("no mark from 0 to 1 does this: none is offered"),
            }
        }
    }
    Ok(())
}

/// The shortest number from 0 to 1 near a mark that decides the same; none where there is none.
fn readable(mark: f64, low: f64, high: f64) -> Option<f64> {
    let rounded = (1..=6).map(|digits| {
        let unit = 10_f64.powi(digits);
        (mark * unit).round() / unit
    });
    let possible = |mark: &f64| (0.0..=1.0).contains(mark);
    let mut safe = rounded.filter(|short| *short > low && *short < high).filter(possible);
    safe.next().or_else(|| Some(mark).filter(possible))
}

/// The labels of a file, with the scores that are stored for the same cases.
async fn of_stored(
    store: &ScopedStore,
    labels: &BTreeMap<String, bool>,
    arguments: &SuggestArguments,
    criterion: &str,
) -> Result<Pairs, CliError> {
    let run = match &arguments.run {
        Some(run) => Some(store.find_run(run).await?.id),
        None => None,
    };
    let filter = JudgementFilter {
        run,
        judge: arguments.judge.clone(),
        criterion: Some(criterion.to_owned()),
        ..JudgementFilter::default()
    };
    let stored = store.document_scores(&filter).await?;
    if stored.judges.len() > 1 {
        let names: Vec<String> = stored.judges.iter().map(ToString::to_string).collect();
        let hint = format!("name one with --judge, or a run with --run: {}", names.join(", "));
        let message = format!("{} judges scored by `{criterion}`", stored.judges.len());
        return Err(CliError::input(message, Some(hint)));
    }
    let mut by_case: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for score in &stored.scores {
        if let Some(document) = stored.documents.get(score.document as usize) {
            by_case.entry(&document.case_key).or_default().push(score.value);
        }
    }
    let mut pairs = Pairs::default();
    let (mut unknown, mut several) = (0, 0);
    for (id, passed) in labels {
        match by_case.get(id.as_str()).map(Vec::as_slice) {
            None => unknown += 1,
            Some([value]) => {
                pairs.values.push(*value);
                pairs.passes.push(*passed);
            }
            Some(_) => several += 1,
        }
    }
    if several > 0 {
        let message = format!("{several} labelled cases have several judged answers");
        let hint = "name the run of one model with --run, so that a label belongs to one answer";
        return Err(CliError::input(message, Some(hint.to_owned())));
    }
    if unknown > 0 {
        write_line(&format!(
            "note: {unknown} labels belong to no stored judgement by `{criterion}`"
        ));
    }
    Ok(pairs)
}

/// The labels and scores of a check.
async fn of_check(
    store: &ScopedStore,
    run: &str,
    arguments: &SuggestArguments,
    criterion: &str,
) -> Result<Pairs, CliError> {
    let record = store.find_run(run).await?;
    let checked = read_check(store, &record).await?;
    if checked.check.criterion != criterion {
        let message =
            format!("the check is of `{}`, not of `{criterion}`", checked.check.criterion);
        return Err(CliError::input(message, Some("name its criterion".to_owned())));
    }
    let CheckedRun { check, .. } = &checked;
    let least = arguments.pass.unwrap_or_default();
    let (min, max) = (check.scale.min, check.scale.max);
    if !(min..=max).contains(&least) {
        let message = format!("--pass {least} is not from {min} to {max}");
        return Err(CliError::input(message, Some("labels are on this scale".to_owned())));
    }
    // What people said is kept from 0 to 1; the last digits are rounding.
    let least = (least - min) / (max - min) - 1e-9;
    let mut pairs = Pairs::default();
    for (human, value) in checked.labelled() {
        pairs.values.push(value);
        pairs.passes.push(human >= least);
    }
    Ok(pairs)
}
