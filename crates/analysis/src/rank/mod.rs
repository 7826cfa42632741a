//! `stats rank`: models in order, from duels.

mod assembled;
mod choice;
mod conclusion;
mod data;
mod grids;

use std::path::Path;

use fullbench_stats::ranking::{
    BradleyTerryOptions, DEFAULT_RIDGE, RankAdjustment, Regularization, Scale, Ties, WinRate,
    bradley_terry, win_rates,
};
use fullbench_stats::{Interval, Undefined};
use serde::Serialize;

use crate::{AnalysisError, Conclusion, Grid, Report};
pub use choice::CovarianceMethod;

/// What to compute.
#[derive(Debug, Clone)]
pub struct RankOptions {
    /// Names of columns by role: `a`, `b`, `winner`, `weight`, `group`.
    pub columns: Vec<(String, String)>,
    /// What a tie counts.
    pub ties: Ties,
    /// Whether strengths are drawn towards each other.
    pub regularization: Regularization,
    /// Estimate the effect of being `a`, who is shown first.
    pub order_effect: bool,
    /// Columns of numbers, seen from `a`, whose effects are estimated too: how much longer its answer is, say.
    pub covariates: Vec<String>,
    /// Take as a group what has the same `group` and the same two models, instead of the same `group`.
    pub group_within_pairs: bool,
    /// How the covariance is found; chosen by the data where none is named.
    pub covariance: Option<CovarianceMethod>,
    /// Rounds of the bootstrap.
    pub rounds: usize,
    /// Seed of the bootstrap.
    pub seed: u64,
    /// Confidence of intervals and ranks.
    pub confidence: f64,
    /// Whether ranks account for how many pairs are compared.
    pub rank_adjustment: RankAdjustment,
    /// The units of ratings.
    pub scale: Scale,
}

impl Default for RankOptions {
    fn default() -> Self {
        Self {
            columns: Vec::new(),
            ties: Ties::Half,
            regularization: Regularization::WhereNeeded { ridge: DEFAULT_RIDGE },
            order_effect: false,
            covariates: Vec::new(),
            group_within_pairs: false,
            covariance: None,
            rounds: 1000,
            seed: 1,
            confidence: 0.95,
            rank_adjustment: RankAdjustment::Holm,
            scale: Scale::Elo { mean: 1000.0 },
        }
    }
}

/// Models in order.
#[derive(Debug, Clone, Serialize)]
pub struct RankReport {
    /// How many duels there are.
    pub battles: usize,
    /// How many of them are ties.
    pub ties: usize,
    /// Whether the duels have weights.
    pub weighted: bool,
    /// How many groups of duels there are; none where the file has no groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<usize>,
    /// Confidence of intervals and ranks.
    pub confidence: f64,
    /// How the numbers were made.
    pub method: Method,
    /// The models, strongest first.
    pub ranking: Vec<RankedModel>,
    /// What circumstances add to the log-odds of `a`.
    pub effects: Vec<NamedEffect>,
    /// Every pair, in the order of the ranking.
    pub differences: Vec<PairDifference>,
    /// What was decided on the way, and must be known to read the numbers.
    pub notes: Vec<String>,
    /// What it means.
    pub conclusion: Conclusion,
}

/// How the numbers were made.
#[derive(Debug, Clone, Serialize)]
pub struct Method {
    /// The model: always `bradley_terry`.
    pub model: &'static str,
    /// What a tie counts.
    pub ties: Ties,
    /// Davidson's tie parameter: equals tie with probability `ν / (2 + ν)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tie_parameter: Option<f64>,
    /// The ridge on log-strengths; 0 where there is none.
    pub ridge: f64,
    /// How the covariance was found.
    pub covariance: CovarianceMethod,
    /// Rounds of the bootstrap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<usize>,
    /// Seed of the bootstrap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Rounds without a finite maximum, fitted with the default ridge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regularized_rounds: Option<usize>,
    /// Degrees of freedom of intervals; none where they are normal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub degrees_of_freedom: Option<f64>,
    /// Whether ranks account for how many pairs are compared.
    pub rank_adjustment: RankAdjustment,
    /// The units of ratings.
    pub scale: Scale,
    /// The log-likelihood, without the ridge.
    pub log_likelihood: f64,
}

/// One model.
#[derive(Debug, Clone, Serialize)]
pub struct RankedModel {
    /// Its name.
    pub model: String,
    /// One more than there are models with a higher rating.
    pub rank: usize,
    /// The best rank the duels allow.
    pub best_rank: usize,
    /// The worst.
    pub worst_rank: usize,
    /// The best and worst rank in the middle of the resamples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resampled_ranks: Option<[usize; 2]>,
    /// The rating, in the units asked for.
    pub rating: f64,
    /// Its standard error.
    pub standard_error: Option<f64>,
    /// Its interval.
    pub interval: Option<Interval>,
    /// Why there is no interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undefined: Option<Undefined>,
    /// The log-strength, of mean zero.
    pub log_strength: f64,
    /// How often it won.
    pub win_rate: Option<WinRate>,
}

/// Two models.
#[derive(Debug, Clone, Serialize)]
pub struct PairDifference {
    /// The model with the higher rating.
    pub stronger: String,
    /// The other.
    pub weaker: String,
    /// How many duels they had with each other.
    pub battles: u64,
    /// The difference of ratings, in the units asked for.
    pub difference: f64,
    /// Its standard error.
    pub standard_error: Option<f64>,
    /// Its interval, for this pair alone.
    pub interval: Option<Interval>,
    /// Why there is no interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undefined: Option<Undefined>,
    /// Two-sided p-value of no difference, for this pair alone.
    pub p_value: Option<f64>,
    /// Whether the two are told apart, by the rule that ranks follow.
    pub told_apart: bool,
    /// Probability that the stronger wins, a tie being half a win.
    pub win_probability: Option<f64>,
    /// Interval of that probability.
    pub win_interval: Option<Interval>,
}

/// What a circumstance does.
#[derive(Debug, Clone, Serialize)]
pub struct NamedEffect {
    /// `order`, or the column.
    pub name: String,
    /// What one unit of it adds to the log-odds of `a`.
    pub log_odds: f64,
    /// Its standard error.
    pub standard_error: Option<f64>,
    /// Its interval.
    pub interval: Option<Interval>,
    /// Two-sided p-value of no effect.
    pub p_value: Option<f64>,
    /// Why there is no interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undefined: Option<Undefined>,
}

/// Ranks models on a file with the columns `a`, `b` and `winner`, and where there are some `weight` and `group`.
///
/// The winner is the name of one of the two, `a` or `b`, or a word for a tie. How the uncertainty is found is said by
/// [`CovarianceMethod`]. Models that no chain of duels connects are refused by name, as is a row that is no duel.
pub fn rank(path: &Path, options: &RankOptions) -> Result<RankReport, AnalysisError> {
    check(options)?;
    let duels = data::read(path, options)?;
    duels.with_battles(|battles| {
        let (ties, mut notes) = choice::ties(options.ties, &duels);
        let plain = BradleyTerryOptions {
            ties,
            regularization: options.regularization,
            order_effect: options.order_effect,
            covariance: CovarianceMethod::Hessian.covariance(options),
        };
        let refused = |reason| data::refusal(reason, &duels.models);
        let fit = bradley_terry(battles, &plain).map_err(refused)?;
        let method = choice::covariance(options, &duels, &fit, &mut notes);
        let fit = if method == CovarianceMethod::Hessian {
            fit
        } else {
            let covariance = method.covariance(options);
            let robust = BradleyTerryOptions { covariance, ..plain };
            bradley_terry(battles, &robust).map_err(refused)?
        };
        choice::note_rounds(&fit, options.confidence, &mut notes);
        let rates = win_rates(battles, options.confidence).map_err(refused)?;
        let mut report =
            assembled::of(&duels, options, ties, method, &fit, &rates).map_err(refused)?;
        report.notes = notes;
        report.conclusion = conclusion::of(&report, &fit, &duels, options);
        Ok(report)
    })
}

fn check(options: &RankOptions) -> Result<(), AnalysisError> {
    if !(options.confidence > 0.0 && options.confidence < 1.0) {
        let message = format!("the confidence is {}", options.confidence);
        return Err(AnalysisError::question(message, "give a number between 0 and 1, like 0.95"));
    }
    if options.rounds < 100 {
        let message = format!("{} bootstrap rounds are too few", options.rounds);
        return Err(AnalysisError::question(message, "give at least 100; 1000 are the default"));
    }
    let (Regularization::WhereNeeded { ridge } | Regularization::Always { ridge }) =
        options.regularization
    else {
        return Ok(());
    };
    if ridge > 0.0 && ridge.is_finite() {
        return Ok(());
    }
    let message = format!("the regularization is {ridge}");
    Err(AnalysisError::question(message, "give a positive number; 0.1 is the default where needed"))
}

impl Report for RankReport {
    fn grids(&self) -> Vec<Grid> {
        grids::of(self)
    }

    fn conclusion(&self) -> &Conclusion {
        &self.conclusion
    }
}
