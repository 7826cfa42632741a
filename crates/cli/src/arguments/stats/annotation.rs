//! Verbs on ratings: `agreement` and `aggregate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{ConfidenceArguments, ResamplingArguments, TableArguments};

/// How far annotators agree
///
/// One rating a line, in the columns item, annotator and value; ratings may be missing. Gives Krippendorff's alpha with an
/// interval, other coefficients where the design allows them, each annotator's agreement with the others, and the items that
/// are most disputed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fullbench stats agreement ratings.csv --level ordinal
  fullbench stats agreement ratings.jsonl --column item=question --column annotator=rater --column value=stars --level interval")]
pub(crate) struct AgreementArguments {
    /// The ratings: csv, tsv or jsonl, with the columns item, annotator, value
    pub(crate) file: PathBuf,

    /// What the values are
    #[arg(long, value_enum, default_value_t = LevelChoice::Nominal)]
    pub(crate) level: LevelChoice,

    /// The values from low to high, where they are not numbers: --order bad,fair,good
    #[arg(long, value_name = "VALUES", value_delimiter = ',')]
    pub(crate) order: Vec<String>,

    #[command(flatten)]
    pub(crate) confidence: ConfidenceArguments,

    #[command(flatten)]
    pub(crate) resampling: ResamplingArguments,

    #[command(flatten)]
    pub(crate) table: TableArguments,
}

/// Levels of measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LevelChoice {
    /// Names: only equal or different
    Nominal,
    /// Ranks: numbers of which only the order counts
    Ordinal,
    /// Numbers whose differences count
    Interval,
    /// Numbers whose ratios count, with a zero that means nothing is there
    Ratio,
}

/// One label for each item from many annotators
///
/// One label a line, in the columns item, annotator and value. The grid shows the first items; --output json has all. A tie is
/// marked, never broken by chance.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fullbench stats aggregate labels.csv
  fullbench stats aggregate labels.csv --method dawid-skene --output json > agreed.json")]
pub(crate) struct AggregateArguments {
    /// The labels: csv, tsv or jsonl, with the columns item, annotator, value and perhaps weight
    pub(crate) file: PathBuf,

    /// How they are put together
    #[arg(long, value_enum, default_value_t = MethodChoice::Majority)]
    pub(crate) method: MethodChoice,

    /// What the values are; votes on values that have an order give their lower median
    #[arg(long, value_enum, default_value_t = LabelChoice::Nominal)]
    pub(crate) level: LabelChoice,

    /// The values from low to high, where they are not numbers: --order bad,fair,good
    #[arg(long, value_name = "VALUES", value_delimiter = ',')]
    pub(crate) order: Vec<String>,

    /// Iterations at most, of the methods that iterate
    #[arg(long, default_value_t = 100, value_name = "COUNT")]
    pub(crate) iterations: usize,

    /// Starts of MACE, of which the best counts
    #[arg(long, default_value_t = 10, value_name = "COUNT")]
    pub(crate) restarts: usize,

    /// The seed of everything random
    #[arg(long, default_value_t = 1, value_name = "NUMBER")]
    pub(crate) seed: u64,

    #[command(flatten)]
    pub(crate) confidence: ConfidenceArguments,

    #[command(flatten)]
    pub(crate) table: TableArguments,
}

/// Levels of measurement of labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LabelChoice {
    /// Names: only equal or different
    Nominal,
    /// Ranks: values of which only the order counts
    Ordinal,
}

/// Ways to one label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodChoice {
    /// Each annotator has one vote
    Majority,
    /// Each annotator has the weight of the column weight
    Weighted,
    /// Annotators' error rates are estimated with the labels (Dawid and Skene 1979)
    DawidSkene,
    /// Annotators know the answer or guess (Hovy et al. 2013)
    Mace,
}
