//! `fullbench criterion`.

use fullbench_engine::load_criterion;
use fullbench_judge::{builtin, builtin_criteria};
use fullbench_store::CriterionSource;
use fullbench_types::Criterion;
use serde::Serialize;

use super::{built_in_criterion, criterion_of, time};
use crate::arguments::PlainFormat;
use crate::arguments::judging::{AddCriterionArguments, CriterionArguments, CriterionCommand};
use crate::failure::{CliError, Exit};
use crate::home::Home;
use crate::output;
use crate::progress::write_line;

#[derive(Serialize)]
struct Listed {
    #[serde(flatten)]
    criterion: Criterion,
    source: &'static str,
    revision: u32,
}

/// Lists, shows or adds criteria.
pub(crate) async fn run(arguments: &CriterionArguments, home: &Home) -> Result<Exit, CliError> {
    if let CriterionCommand::Add(add) = &arguments.command {
        return add_criterion(add, home).await;
    }
    // Reading makes nothing: without a store there are the built-in criteria.
    let Some(store) = home.open_if_there().await? else {
        return built_in(&arguments.command);
    };
    match &arguments.command {
        CriterionCommand::List(printing) => {
            let mut listed: Vec<Listed> = Vec::new();
            for record in store.criteria().await? {
                let source =
                    if record.source == CriterionSource::User { "yours" } else { "built in" };
                listed.push(Listed {
                    criterion: record.criterion,
                    source,
                    revision: record.revision,
                });
            }
            let known: Vec<String> = listed.iter().map(|one| one.criterion.name.clone()).collect();
            let others = builtin_criteria().iter().filter(|one| !known.contains(&one.name));
            listed.extend(others.map(|one| Listed {
                criterion: one.clone(),
                source: "built in",
                revision: 1,
            }));
            listed.sort_by(|first, second| first.criterion.name.cmp(&second.criterion.name));
            print_list(&listed, printing.output)?;
        }
        CriterionCommand::Show(named) => {
            let criterion = criterion_of(&store, &named.name).await?;
            match named.printing.output {
                PlainFormat::Json => output::print_json(&criterion)?,
                PlainFormat::Table => output::print_text(&output::visible(&shown(&criterion)))?,
            }
        }
        CriterionCommand::Add(_) => {}
        CriterionCommand::History(named) => {
            criterion_of(&store, &named.name).await?;
            let history = store.criterion_history(&named.name).await.unwrap_or_default();
            if named.printing.output == PlainFormat::Json {
                let criteria: Vec<Listed> = history
                    .into_iter()
                    .map(|one| Listed {
                        criterion: one.criterion,
                        source: "",
                        revision: one.revision,
                    })
                    .collect();
                output::print_json(&criteria)?;
                return Ok(Exit::Fine);
            }
            let mut table = output::table(&["revision", "since", "criteria"]);
            for record in history {
                let text = output::shortened(&record.criterion.evaluation_criteria, 70);
                table.add_row(vec![record.revision.to_string(), time(record.created_at), text]);
            }
            output::print_text(&format!("{table}\n"))?;
        }
    }
    Ok(Exit::Fine)
}

async fn add_criterion(add: &AddCriterionArguments, home: &Home) -> Result<Exit, CliError> {
    let criterion = load_criterion(&add.file)?;
    let store = home.open().await?;
    let record = match add.revise {
        true => store.revise_criterion(&criterion).await?,
        false => store.add_criterion(&criterion).await?,
    };
    let name = &record.criterion.name;
    write_line(&format!("criterion {name}, revision {}", record.revision));
    if builtin(name).is_some() {
        write_line(&format!(
            "note: evaluation files that name `{name}` mean yours from now on, not the built-in one"
        ));
    }
    Ok(Exit::Fine)
}

/// What there is to see without a store.
fn built_in(command: &CriterionCommand) -> Result<Exit, CliError> {
    let listed =
        |one: &Criterion| Listed { criterion: one.clone(), source: "built in", revision: 1 };
    match command {
        CriterionCommand::List(printing) => {
            let listed: Vec<Listed> = builtin_criteria().iter().map(listed).collect();
            print_list(&listed, printing.output)?;
        }
        CriterionCommand::Show(named) | CriterionCommand::History(named) => {
            let criterion = built_in_criterion(&named.name)?;
            match named.printing.output {
                PlainFormat::Json => output::print_json(&criterion)?,
                PlainFormat::Table => output::print_text(&shown(&criterion))?,
            }
        }
        CriterionCommand::Add(_) => {}
    }
    Ok(Exit::Fine)
}

fn print_list(listed: &[Listed], format: PlainFormat) -> Result<(), CliError> {
    if format == PlainFormat::Json {
        return output::print_json(&listed);
    }
    let mut table = output::table(&["criterion", "scale", "needs", "source", "what is judged"]);
    for Listed { criterion, source, revision } in listed {
        let needs = match (criterion.needs_reference, criterion.needs_context) {
            (true, true) => "reference, context",
            (true, false) => "reference",
            (false, true) => "context",
            (false, false) => "",
        };
        let source = if *revision > 1 {
            format!("{source}, revision {revision}")
        } else {
            (*source).to_owned()
        };
        table.add_row(vec![
            criterion.name.clone(),
            format!("{}–{}", criterion.scale.min, criterion.scale.max),
            needs.to_owned(),
            source,
            output::shortened(&criterion.evaluation_criteria, 60),
        ]);
    }
    output::print_text(&format!("{table}\n"))
}

/// A criterion as text.
fn shown(criterion: &Criterion) -> String {
    let Criterion { name, task_introduction, evaluation_criteria, scale, levels, .. } = criterion;
    let mut text = format!(
        "{name} · {} to {}\n\n{task_introduction}\n\n{evaluation_criteria}\n\n",
        scale.min, scale.max
    );
    for level in levels {
        text.push_str(&format!("{:>4}  {}\n", level.score, level.description));
    }
    if criterion.needs_reference {
        text.push_str("\nneeds a reference\n");
    }
    if criterion.needs_context {
        text.push_str("\nneeds the context the answer was to rest on\n");
    }
    text
}
