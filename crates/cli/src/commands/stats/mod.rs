//! `fullbench stats`: each verb asks `fullbench-analysis` and prints what it says.

mod annotation;
mod experiment;
mod judge;
mod ranking;

use fullbench_analysis::Report;

use crate::arguments::PlainFormat;
use crate::arguments::stats::{StatsArguments, StatsCommand};
use crate::failure::{CliError, Exit};
use crate::output;

/// Runs one verb.
pub(crate) fn run(arguments: &StatsArguments) -> Result<Exit, CliError> {
    match &arguments.command {
        StatsCommand::Agreement(arguments) => annotation::agreement(arguments),
        StatsCommand::Aggregate(arguments) => annotation::aggregate(arguments),
        StatsCommand::Rank(arguments) => ranking::rank(arguments),
        StatsCommand::Ab(arguments) => experiment::ab(arguments),
        StatsCommand::Power(arguments) => experiment::power(arguments),
        StatsCommand::Correlate(arguments) => judge::correlate(arguments),
        StatsCommand::Ppi(arguments) => judge::ppi(arguments),
    }
}

/// Prints a report: the whole as JSON, or grids and sentences.
fn print(report: &impl Report, format: PlainFormat) -> Result<Exit, CliError> {
    match format {
        PlainFormat::Json => output::print_json(report)?,
        PlainFormat::Table => output::print_report(report)?,
    }
    Ok(Exit::Fine)
}
