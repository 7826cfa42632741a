//! `fullbench review`.

use fullbench_engine::{PendingReview, Review, pending_reviews, record_review};

use crate::arguments::PlainFormat;
use crate::arguments::review::{ListArguments, ReviewArguments, ReviewCommand, ScoreArguments};
use crate::failure::{CliError, Exit};
use crate::home::Home;
use crate::output;
use crate::progress::write_line;

/// Letters of an output that the table shows.
const SHOWN: usize = 60;

/// Lists what waits for a person, or takes a score.
pub(crate) async fn run(arguments: &ReviewArguments, home: &Home) -> Result<Exit, CliError> {
    match &arguments.command {
        ReviewCommand::List(list) => print_list(list, home).await,
        ReviewCommand::Score(score) => take_score(score, home).await,
    }
}

async fn print_list(arguments: &ListArguments, home: &Home) -> Result<Exit, CliError> {
    let store = home.open_existing().await?;
    let run = store.find_run(&arguments.run).await?;
    let pending = pending_reviews(&store, &run, arguments.limit).await?;
    if arguments.output == PlainFormat::Json {
        output::print_json(&pending)?;
        return Ok(Exit::Fine);
    }
    if pending.is_empty() {
        write_line(&format!("nothing in run {} waits for a person", run.id));
        return Ok(Exit::Fine);
    }
    let mut table = output::table(&["case", "model", "scorer", "criterion", "output"]);
    for PendingReview { case, model, repetition, scorer, criterion, output, .. } in &pending {
        let model = match repetition {
            0 => model.clone(),
            repetition => format!("{model} #{repetition}"),
        };
        let criterion = criterion.clone().unwrap_or_default();
        table.add_row(vec![case.clone(), model, scorer.clone(), criterion, shortened(output)]);
    }
    output::print_text(&format!("{table}\n"))?;
    if pending.len() == arguments.limit {
        write_line("there may be more: --limit lists them");
    }
    write_line(&format!(
        "give a score with `fullbench review score {} --case ID --score POINTS --by NAME`",
        run.id
    ));
    Ok(Exit::Fine)
}

async fn take_score(arguments: &ScoreArguments, home: &Home) -> Result<Exit, CliError> {
    let store = home.open_existing().await?;
    let run = store.find_run(&arguments.run).await?;
    let review = Review {
        case: arguments.case.clone(),
        model: arguments.model.clone(),
        repetition: arguments.repetition,
        scorer: arguments.scorer.clone(),
        criterion: arguments.criterion.clone(),
        points: arguments.score,
        reviewer: arguments.by.clone(),
        note: arguments.note.clone(),
    };
    let score = record_review(&store, &run, &review).await?;
    let value = score.value.map_or_else(|| "no value".to_owned(), |value| format!("{value:.3}"));
    let outcome = score.outcome.as_str();
    write_line(&format!("{} is now {value} ({outcome}) in run {}", review.case, run.id));
    Ok(Exit::Fine)
}

/// The first letters of a text, on one line.
fn shortened(text: &str) -> String {
    let mut line = output::visible(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    if line.chars().count() > SHOWN {
        line = line.chars().take(SHOWN - 1).chain(['…']).collect();
    }
    line
}
