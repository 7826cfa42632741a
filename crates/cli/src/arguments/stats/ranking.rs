//! The verb on duels: `rank`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{ConfidenceArguments, ResamplingArguments, TableArguments};

/// Rank models from duels
///
/// One duel a line: a and b name the two models, winner is one of their names, `a`, `b` or `tie`; perhaps with a weight and a
/// group, such as the judge, whose duels are not independent of each other. Ratings are Bradley and Terry's, by maximum
/// likelihood, with intervals for ratings, differences and ranks.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  fullbench stats rank battles.csv
  fullbench stats rank battles.csv --ties davidson --order-effect
  fullbench stats rank battles.csv --column group=judge --covariate length_difference")]
pub(crate) struct RankArguments {
    /// The duels: csv, tsv or jsonl, with the columns a, b, winner and perhaps weight and group
    pub(crate) file: PathBuf,

    /// What a tie counts
    #[arg(long, value_enum, default_value_t = TiesChoice::Half)]
    pub(crate) ties: TiesChoice,

    /// Draw log-strengths towards each other: this times the sum of their squares [default: 0.1 where somebody won or lost
    /// every duel, otherwise none]
    #[arg(long, value_name = "RIDGE", value_parser = super::positive, conflicts_with = "no_ridge")]
    pub(crate) ridge: Option<f64>,

    /// Never draw them towards each other; where there is no finite estimate, say so
    #[arg(long)]
    pub(crate) no_ridge: bool,

    /// Estimate the advantage of being shown first, and take it out; a is the one shown first
    #[arg(long)]
    pub(crate) order_effect: bool,

    /// A column of numbers whose effect is taken out, such as the difference of the lengths (a minus b); may be repeated
    #[arg(long = "covariate", value_name = "COLUMN")]
    pub(crate) covariates: Vec<String>,

    /// Take as a group what has the same group and the same two models
    #[arg(long)]
    pub(crate) group_within_pairs: bool,

    /// Where the intervals come from [default: what suits the data; the report says which]
    #[arg(long, value_enum)]
    pub(crate) covariance: Option<CovarianceChoice>,

    /// Ranges of ranks for each pair by itself, as leaderboards have them, instead of for all pairs at once
    #[arg(long)]
    pub(crate) unadjusted_ranks: bool,

    /// The scale of ratings
    #[arg(long, value_enum, default_value_t = ScaleChoice::Elo)]
    pub(crate) scale: ScaleChoice,

    #[command(flatten)]
    pub(crate) confidence: ConfidenceArguments,

    #[command(flatten)]
    pub(crate) resampling: ResamplingArguments,

    #[command(flatten)]
    pub(crate) table: TableArguments,
}

/// What a tie counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TiesChoice {
    /// Half a win for each
    Half,
    /// An outcome of its own (Davidson 1970)
    Davidson,
}

/// Sources of intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CovarianceChoice {
    /// The curvature of the likelihood: independent duels, the model is right
    Hessian,
    /// The same, right also where the model is not
    Sandwich,
    /// The same for groups of duels that resemble each other
    Cluster,
    /// Duels drawn again, or whole groups of them
    Bootstrap,
}

/// Scales of ratings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScaleChoice {
    /// 400 points for odds of ten to one, with a mean of 1000
    Elo,
    /// Natural logarithms of odds, with a mean of 0
    Natural,
}
