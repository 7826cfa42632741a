//! `fullbench list`.

use serde::Serialize;

use crate::arguments::{ListArguments, PlainFormat};
use crate::failure::{CliError, Exit};
use crate::home::Home;
use crate::output;

/// A run in a line.
#[derive(Serialize)]
pub(crate) struct ListedRun {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) state: String,
    pub(crate) done: u64,
    pub(crate) planned: u64,
    pub(crate) cost_usd: f64,
    pub(crate) created_at: String,
}

/// Lists runs, newest first.
pub(crate) async fn run(arguments: &ListArguments, home: &Home) -> Result<Exit, CliError> {
    let store = home.open_existing().await?;
    let mut listed = Vec::new();
    for run in store.runs(Some(arguments.limit)).await? {
        let lanes = store.lane_progress(run.id).await?;
        listed.push(ListedRun {
            id: run.id.to_string(),
            name: run.name,
            state: run.state.as_str().to_owned(),
            done: lanes.iter().map(|lane| lane.answered).sum(),
            planned: run.planned_units,
            cost_usd: lanes.iter().map(|lane| lane.spent.dollars()).sum(),
            created_at: run.created_at.to_string(),
        });
    }
    print_list(&listed, arguments.output)?;
    Ok(Exit::Fine)
}

/// Prints runs.
pub(crate) fn print_list(listed: &[ListedRun], format: PlainFormat) -> Result<(), CliError> {
    if format == PlainFormat::Json {
        return output::print_json(&listed);
    }
    let mut table = output::table(&["run", "name", "state", "answered", "cost", "created"]);
    for run in listed {
        table.add_row(vec![
            run.id.clone(),
            run.name.clone(),
            run.state.clone(),
            format!("{}/{}", run.done, run.planned),
            fullbench_types::NanoDollars::from_dollars(run.cost_usd).to_string(),
            run.created_at.chars().take(19).collect::<String>().replace('T', " "),
        ]);
    }
    output::print_text(&format!("{table}\n"))
}
