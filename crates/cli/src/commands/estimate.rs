//! `fullbench estimate`.

use fullbench_engine::{Estimate, estimate, load_evaluation};

use crate::arguments::{EstimateArguments, PlainFormat};
use crate::failure::{CliError, Exit};
use crate::home::Home;
use crate::output;
use crate::progress::{duration, write_line};

/// Says what a run would take.
pub(crate) async fn run(arguments: &EstimateArguments, home: &Home) -> Result<Exit, CliError> {
    let evaluation = load_evaluation(&arguments.file, &home.definitions().await?)?;
    let store = home.open().await?;
    let estimate = estimate(evaluation, &store, arguments.provider_batch).await?;
    match arguments.output {
        PlainFormat::Json => output::print_json(&estimate)?,
        PlainFormat::Table => print_table(&estimate)?,
    }
    Ok(Exit::Fine)
}

fn print_table(estimate: &Estimate) -> Result<(), CliError> {
    let mut table =
        output::table(&["model", "calls", "input tokens", "output tokens", "cost", "time"]);
    for model in &estimate.models {
        table.add_row(vec![
            model.model.clone(),
            model.calls.to_string(),
            range(model.input_tokens),
            range(model.output_tokens),
            dollars(model.usd),
            times(model.seconds),
        ]);
    }
    for judge in &estimate.judges {
        table.add_row(vec![
            format!("{}: {}", judge.scorer, judge.model),
            range(judge.calls),
            range(judge.input_tokens),
            range(judge.output_tokens),
            dollars(judge.usd),
            times(judge.seconds),
        ]);
    }
    output::print_text(&format!("{table}\n"))?;
    let Estimate { cases, units, .. } = estimate;
    let text = format!(
        "{cases} cases, {units} units: {} in {}\n",
        dollars(estimate.usd),
        times(estimate.seconds)
    );
    output::print_text(&text)?;
    if let Some(everything) = estimate.usd_judging_everything {
        let everything = dollars(Some(everything));
        output::print_text(&format!(
            "judging everything by the last tier or the strong judge: {everything}\n"
        ))?;
    }
    for assumption in &estimate.assumptions {
        write_line(&format!("assumed: {assumption}"));
    }
    Ok(())
}

fn range((from, to): (u64, u64)) -> String {
    if from == to { from.to_string() } else { format!("{from} – {to}") }
}

fn dollars(usd: Option<(f64, f64)>) -> String {
    match usd {
        None => "no price known".to_owned(),
        Some((_, 0.0)) => "$0.00".to_owned(),
        Some((from, to)) => {
            let shown = |usd| fullbench_types::NanoDollars::from_dollars(usd).to_string();
            format!("{} – {}", shown(from), shown(to))
        }
    }
}

fn times((from, to): (f64, f64)) -> String {
    if to < 1.0 {
        "under 1s".to_owned()
    } else {
        format!("{} – {}", duration(from), duration(to))
    }
}
