//! The arguments of `fullbench stats`: a file for each family of verbs.

mod annotation;
mod experiment;
mod judge;
mod ranking;

pub(crate) use annotation::{
    AggregateArguments, AgreementArguments, LabelChoice, LevelChoice, MethodChoice,
};
pub(crate) use experiment::{
    AbArguments, DesignChoice, MethodOfAb, PowerArguments, PriorChoice, SequentialChoice,
    SpendingChoice,
};
pub(crate) use judge::{CorrelateArguments, PpiArguments};
pub(crate) use ranking::{CovarianceChoice, RankArguments, ScaleChoice, TiesChoice};

use clap::{Args, Subcommand};

use super::PlainFormat;

/// Statistics of files: agreement, rankings, experiments, judges against people
///
/// Files are CSV, TSV or JSON Lines, one observation a line; `-` is standard input. Columns that have other names are told
/// with --column, for example --column item=question_id. Each verb prints its numbers, says in plain words what they mean, and
/// what would make the conclusion firmer.
#[derive(Debug, Args)]
pub(crate) struct StatsArguments {
    #[command(subcommand)]
    pub(crate) command: StatsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StatsCommand {
    /// How far annotators agree
    Agreement(AgreementArguments),
    /// One label for each item from many annotators
    Aggregate(AggregateArguments),
    /// Rank models from duels
    Rank(RankArguments),
    /// Compare a treatment with a control
    Ab(AbArguments),
    /// How many cases a comparison needs, or what it can see
    Power(PowerArguments),
    /// How well a judge follows people
    Correlate(CorrelateArguments),
    /// A mean of judge scores, corrected by a few human labels
    Ppi(PpiArguments),
}

/// How a file is read and a report printed.
#[derive(Debug, Args)]
pub(crate) struct TableArguments {
    /// What a column is called in this file; may be repeated
    #[arg(long = "column", value_name = "ROLE=NAME", value_parser = renamed)]
    pub(crate) columns: Vec<(String, String)>,

    /// How the report is printed
    #[arg(short, long, value_enum, default_value_t = PlainFormat::Table)]
    pub(crate) output: PlainFormat,
}

/// A confidence level.
#[derive(Debug, Args)]
pub(crate) struct ConfidenceArguments {
    /// The confidence level of intervals
    #[arg(long, default_value_t = 0.95, value_name = "SHARE", value_parser = share)]
    pub(crate) confidence: f64,
}

/// Chance, with its seed.
#[derive(Debug, Args)]
pub(crate) struct ResamplingArguments {
    /// Rounds of the bootstrap; 0 for none
    #[arg(long, default_value_t = 1_000, value_name = "COUNT")]
    pub(crate) rounds: usize,

    /// The seed of everything random
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    pub(crate) seed: u64,
}

fn renamed(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((role, name)) if !role.is_empty() && !name.is_empty() => {
            Ok((role.to_owned(), name.to_owned()))
        }
        _ => Err("write ROLE=NAME, for example item=question_id".to_owned()),
    }
}

/// A number strictly between 0 and 1.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value < 1.0 => Ok(value),
        _ => Err("write a number between 0 and 1".to_owned()),
    }
}

/// A number above 0.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("write a number above 0".to_owned()),
    }
}
