//! Verbs on scores of a judge and of people: `correlate` and `ppi`.

use std::path::PathBuf;

use clap::Args;

use super::{ConfidenceArguments, ResamplingArguments, TableArguments};

/// How well a judge follows people
///
/// One item a line, with the scores judge and human, and perhaps a group and a system. Gives Pearson's, Spearman's and Kendall's
/// correlation over items, within groups and between systems, the judge's bias and how it changes with the score, and a
/// table of confusions where scores are labels.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fullbench stats correlate scores.csv
  fullbench stats correlate scores.csv --column judge=gpt --column human=expert --column group=prompt_id")]
pub(crate) struct CorrelateArguments {
    /// The scores: csv, tsv or jsonl, with the columns item, judge, human and perhaps group and system
    pub(crate) file: PathBuf,

    /// Scores are labels: show which are taken for which
    #[arg(long)]
    pub(crate) labels: bool,

    #[command(flatten)]
    pub(crate) confidence: ConfidenceArguments,

    #[command(flatten)]
    pub(crate) resampling: ResamplingArguments,

    #[command(flatten)]
    pub(crate) table: TableArguments,
}

/// A mean of judge scores, corrected by a few human labels
///
/// One item a line: judge is given everywhere, human where somebody looked, and empty elsewhere. The estimate is unbiased
/// whatever the judge does, and its interval is narrower than that of the human labels alone where the judge is good
/// (prediction-powered inference, PPI++). What is labelled must be chosen at random. With a column system that names two systems,
/// their difference is estimated.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fullbench stats ppi scores.csv
  fullbench stats ppi scores.csv --half-width 0.02        how many labels are still needed for ±0.02")]
pub(crate) struct PpiArguments {
    /// The scores: csv, tsv or jsonl, with the columns item, judge, human and perhaps system
    pub(crate) file: PathBuf,

    /// Say how many labels are still needed for an interval of plus or minus this much
    #[arg(long, value_name = "HALF_WIDTH", value_parser = super::positive)]
    pub(crate) half_width: Option<f64>,

    #[command(flatten)]
    pub(crate) confidence: ConfidenceArguments,

    #[command(flatten)]
    pub(crate) table: TableArguments,
}
