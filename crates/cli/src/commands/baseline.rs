//! `fullbench baseline`.

use fullbench_store::ScopedStore;
use serde::Serialize;

use crate::arguments::PlainFormat;
use crate::arguments::baseline::{BaselineArguments, BaselineCommand, ListArguments};
use crate::failure::{CliError, Exit};
use crate::home::Home;
use crate::output;
use crate::progress::write_line;

#[derive(Serialize)]
struct ListedBaseline {
    name: String,
    run: String,
    run_name: String,
    run_created_at: String,
    set_at: String,
}

/// Sets, lists or removes baselines.
pub(crate) async fn run(arguments: &BaselineArguments, home: &Home) -> Result<Exit, CliError> {
    let store = home.open_existing().await?;
    match &arguments.command {
        BaselineCommand::Set(set) => {
            let run = store.find_run(&set.run).await?;
            let baseline = store.set_baseline(&set.name, run.id).await?;
            write_line(&format!("baseline {} is run {} · {}", baseline.name, run.id, run.name));
        }
        BaselineCommand::List(list) => print_list(&store, list).await?,
        BaselineCommand::Remove(remove) => {
            let removed = store.remove_baseline(&remove.name).await?;
            write_line(&format!("baseline {} was run {}", removed.name, removed.run));
        }
    }
    Ok(Exit::Fine)
}

async fn print_list(store: &ScopedStore, arguments: &ListArguments) -> Result<(), CliError> {
    let mut listed = Vec::new();
    for baseline in store.baselines().await? {
        let run = store.run(baseline.run).await?;
        listed.push(ListedBaseline {
            name: baseline.name,
            run: run.id.to_string(),
            run_name: run.name,
            run_created_at: run.created_at.to_string(),
            set_at: baseline.set_at.to_string(),
        });
    }
    if arguments.output == PlainFormat::Json {
        return output::print_json(&listed);
    }
    let time = |time: &str| time.chars().take(19).collect::<String>().replace('T', " ");
    let mut table = output::table(&["baseline", "run", "name", "created", "set"]);
    for baseline in &listed {
        table.add_row(vec![
            baseline.name.clone(),
            baseline.run.clone(),
            baseline.run_name.clone(),
            time(&baseline.run_created_at),
            time(&baseline.set_at),
        ]);
    }
    output::print_text(&format!("{table}\n"))
}
