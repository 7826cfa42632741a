//! Verbs on experiments: `ab` and `power`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::TableArguments;

/// Compare a treatment with a control
///
/// Each file has a measurement a line in the column value, and perhaps a covariate known before the experiment, which makes the
/// comparison sharper (CUPED). Instead of two files one may be given, with the columns variant and value. `frequentist` and
/// `bayesian` are for data that are looked at once, at a size fixed beforehand; `sequential` may be looked at every day,
/// with a column look or day, or in the order of the lines.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fullbench stats ab --control a.csv --treatment b.csv
  fullbench stats ab --control a.csv --treatment b.csv --method bayesian
  fullbench stats ab --control a.csv --treatment b.csv --method sequential
  fullbench stats ab experiment.csv --control old --method sequential --sequential obrien-fleming --planned-looks 5 --planned-units 1000")]
pub(crate) struct AbArguments {
    /// One file with the columns variant and value, instead of two; --control then names a variant
    #[arg(conflicts_with = "treatment")]
    pub(crate) file: Option<PathBuf>,

    /// The control: a file, or a variant of the one file
    #[arg(long, value_name = "FILE")]
    pub(crate) control: String,

    /// The treatment's file
    #[arg(long, value_name = "FILE", required_unless_present = "file")]
    pub(crate) treatment: Option<PathBuf>,

    /// How they are compared
    #[arg(long, value_enum, default_value_t = MethodOfAb::Frequentist)]
    pub(crate) method: MethodOfAb,

    /// The error that is accepted
    #[arg(long, default_value_t = 0.05, value_name = "SHARE", value_parser = super::share)]
    pub(crate) alpha: f64,

    /// The share of the treatment that was planned; a note says when the numbers contradict it
    #[arg(long, default_value_t = 0.5, value_name = "SHARE", value_parser = super::share)]
    pub(crate) expected_share: f64,

    /// What is believed of means before the data, with --method bayesian; weak if not given
    #[arg(long, value_enum)]
    pub(crate) prior: Option<PriorChoice>,

    #[command(flatten)]
    pub(crate) looking: LookingArguments,

    #[command(flatten)]
    pub(crate) table: TableArguments,
}

/// How often and when the data are looked at, with `--method sequential`.
#[derive(Debug, Args)]
pub(crate) struct LookingArguments {
    /// What makes looking often safe, with --method sequential; confidence-sequence if not given
    #[arg(long, value_enum)]
    pub(crate) sequential: Option<SequentialChoice>,

    /// How the error is spent, with --sequential spending; obrien-fleming if not given
    #[arg(long, value_enum)]
    pub(crate) spending: Option<SpendingChoice>,

    /// Looks that are planned in all, of the methods that plan them
    #[arg(long, value_name = "COUNT")]
    pub(crate) planned_looks: Option<usize>,

    /// Measurements that are planned, control and treatment together; planned looks are at equal steps of these where the file names none
    #[arg(long, value_name = "COUNT")]
    pub(crate) planned_units: Option<u64>,

    /// Looks that are shown of confidence-sequence and msprt where the file names none; 10 if not given
    #[arg(long, value_name = "COUNT")]
    pub(crate) looks: Option<usize>,

    /// The size of differences that msprt is tuned for, in standard deviations; 0.2 if not given
    #[arg(long, value_name = "NUMBER", value_parser = super::positive)]
    pub(crate) tau: Option<f64>,
}

/// Ways to compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodOfAb {
    /// Welch's t-test: one look
    Frequentist,
    /// Probability of being better, and what a wrong choice would cost
    Bayesian,
    /// Valid however often it is looked at
    Sequential,
}

/// What is believed before the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PriorChoice {
    /// Next to nothing, for values of the order of 0.01 to 100
    Weak,
    /// A thousandth of an observation at 0
    Thousandth,
    /// Nothing, for values of any size
    Reference,
}

/// How the error is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SpendingChoice {
    /// Little at first
    ObrienFleming,
    /// Evenly
    Pocock,
}

/// What makes looking often safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SequentialChoice {
    /// An interval that holds at all times at once
    ConfidenceSequence,
    /// The mixture sequential probability ratio test
    Msprt,
    /// Planned looks, strict at first
    ObrienFleming,
    /// Planned looks, equally strict
    Pocock,
    /// Planned looks at any time, the error spent as information comes in
    Spending,
}

/// How many cases a comparison needs, or what it can see
///
/// Of --cases, --effect and --power leave out the one that is asked for; the power is 0.8 unless it is given or asked for. What
/// scores vary by is given by --rate for yes/no scores or by --deviation, or estimated from the file of a pilot.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fullbench stats power --changed 0.1 --effect 0.03                      how many cases show 3 points?
  fullbench stats power --deviation 0.3 --correlation 0.6 --cases 400    what do 400 cases show?
  fullbench stats power pilot.csv --effect 0.02 --design clustered")]
pub(crate) struct PowerArguments {
    /// A pilot: csv, tsv or jsonl, with the columns item, value or item, before, after, and perhaps group
    pub(crate) pilot: Option<PathBuf>,

    /// How the two sides are measured
    #[arg(long, value_enum, default_value_t = DesignChoice::Paired)]
    pub(crate) design: DesignChoice,

    /// Cases on each side, pairs, or clusters
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(2..))]
    pub(crate) cases: Option<u64>,

    /// The true difference of means that should be seen
    #[arg(long, value_name = "DIFFERENCE", allow_negative_numbers = true)]
    pub(crate) effect: Option<f64>,

    /// The probability of seeing it
    #[arg(long, value_name = "SHARE", value_parser = super::share)]
    pub(crate) power: Option<f64>,

    /// The error that is accepted
    #[arg(long, default_value_t = 0.05, value_name = "SHARE", value_parser = super::share)]
    pub(crate) alpha: f64,

    #[command(flatten)]
    pub(crate) spread: SpreadArguments,

    #[command(flatten)]
    pub(crate) table: TableArguments,
}

/// What scores vary by.
#[derive(Debug, Args)]
pub(crate) struct SpreadArguments {
    /// Standard deviation of the scores; with pairs, of the differences unless --correlation is given
    #[arg(long, value_name = "NUMBER", value_parser = super::positive, conflicts_with = "rate")]
    pub(crate) deviation: Option<f64>,

    /// The share of yes of yes/no scores
    #[arg(long, value_name = "SHARE", value_parser = super::share)]
    pub(crate) rate: Option<f64>,

    /// Correlation of the two sides of a pair
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) correlation: Option<f64>,

    /// The share of cases whose yes/no score differs between the two sides
    #[arg(long, value_name = "SHARE", value_parser = super::share)]
    pub(crate) changed: Option<f64>,

    /// Cases in the second sample for each in the first
    #[arg(long, default_value_t = 1.0, value_name = "NUMBER", value_parser = super::positive)]
    pub(crate) ratio: f64,

    /// Cases in a cluster, on average
    #[arg(long, value_name = "NUMBER", value_parser = super::positive)]
    pub(crate) cluster_size: Option<f64>,

    /// Coefficient of variation of the cluster sizes
    #[arg(long, value_name = "NUMBER", value_parser = super::positive)]
    pub(crate) size_variation: Option<f64>,

    /// Correlation of the differences of two cases in a cluster
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) intra_cluster: Option<f64>,

    /// How often each case is run on each side
    #[arg(long, default_value_t = 1, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) repetitions: u32,

    /// The share of the variance that is chance within a case
    #[arg(long, value_name = "SHARE", value_parser = super::share)]
    pub(crate) within_share: Option<f64>,
}

/// Designs of comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DesignChoice {
    /// Two separate samples
    Independent,
    /// The same cases on both sides
    Paired,
    /// The same cases on both sides, in groups that resemble each other
    Clustered,
}
