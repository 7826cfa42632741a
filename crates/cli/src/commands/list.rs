//! `fullbench list`.

use serde::Serialize;

use crate::arguments::{ListArguments, PlainFormat};
use crate::failure::{CliError, Exit};
use crate::home::Home;
use crate::output;

#[derive(Serialize)]
struct ListedRun {
    id: String,
    name: String,
    state: &'static str,
    done: u64,
    planned: u64,
    cost_usd: f64,
    created_at: String,
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
            state: run.state.as_str(),
            done: lanes.iter().map(|lane| lane.answered).sum(),
            planned: run.planned_units,
            cost_usd: lanes.iter().map(|lane| lane.spent.dollars()).sum(),
            created_at: run.created_at.to_string(),
        });
    }
    if arguments.output == PlainFormat::Json {
        output::print_json(&listed)?;
        return Ok(Exit::Fine);
    }
    let mut table = output::table(&["run", "name", "state", "answered", "cost", "created"]);
    for run in &listed {
        table.add_row(vec![
            run.id.clone(),
            run.name.clone(),
            run.state.to_owned(),
            format!("{}/{}", run.done, run.planned),
            fullbench_types::NanoDollars::from_dollars(run.cost_usd).to_string(),
            run.created_at.chars().take(19).collect::<String>().replace('T', " "),
        ]);
    }
    output::print_text(&format!("{table}\n"))?;
    Ok(Exit::Fine)
}
