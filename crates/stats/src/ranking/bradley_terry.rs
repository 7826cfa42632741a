//! Strengths by maximum likelihood.

use faer::Mat;
use serde::Serialize;

use super::Battles;
use super::cells::Cells;
use super::connected::{WinGraph, check_connected};
use super::covariance::{clustered, inverse_information, sandwich};
use super::likelihood::Likelihood;
use super::newton::Workspace;
use super::resample;
use crate::Undefined;

/// The ridge where one is needed and none was named: log-strengths as if from a normal distribution of standard deviation
/// √5 = 2.24, which is 388 Elo points.
pub const DEFAULT_RIDGE: f64 = 0.1;

/// The last step of the fit is below this, and what is left about its square.
const TOLERANCE: f64 = 1e-8;

/// What a tie counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ties {
    /// Half a win for each.
    #[default]
    Half,
    /// An outcome of its own, likelier between equals, with one parameter for all (Davidson 1970).
    Davidson,
}

/// Whether strengths are drawn towards each other: the log-likelihood less `ridge · Σ strength²`, which is a normal prior of
/// variance `1 / (2 ridge)` on log-strengths.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "when", rename_all = "snake_case")]
pub enum Regularization {
    /// Never: without a finite maximum the fit is [`Undefined::Separated`].
    Never,
    /// Only where there is no finite maximum.
    WhereNeeded {
        /// How strongly.
        ridge: f64,
    },
    /// Always.
    Always {
        /// How strongly.
        ridge: f64,
    },
}

/// How the covariance of the estimates is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "method", rename_all = "snake_case")]
pub enum Covariance {
    /// The inverse information: right if the model is, if duels are independent and if weights are numbers of duels. With a
    /// ridge it is the curvature of the posterior.
    Hessian,
    /// The sandwich (Huber 1967, White 1982): duels are independent, but the model need not be right.
    Sandwich,
    /// The sandwich of groups (Liang and Zeger 1986): only the groups are independent.
    Cluster,
    /// The spread over resamples of duels, or of whole groups where there are groups.
    Bootstrap {
        /// How many resamples.
        rounds: usize,
        /// The seed they are drawn with.
        seed: u64,
    },
}

/// How strengths are fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BradleyTerryOptions {
    /// What a tie counts.
    pub ties: Ties,
    /// Whether strengths are drawn towards each other.
    pub regularization: Regularization,
    /// Whether being shown first has an effect, which is then estimated.
    pub order_effect: bool,
    /// How the covariance is found.
    pub covariance: Covariance,
}

impl Default for BradleyTerryOptions {
    fn default() -> Self {
        Self {
            ties: Ties::Half,
            regularization: Regularization::WhereNeeded { ridge: DEFAULT_RIDGE },
            order_effect: false,
            covariance: Covariance::Sandwich,
        }
    }
}

/// Strengths, and how sure they are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BradleyTerry {
    /// The log-strength of each player; their mean is zero. `a` beats `b` with odds `exp(a − b)`.
    pub strengths: Vec<f64>,
    /// Covariance of the log-strengths, row by row.
    pub covariance: Vec<f64>,
    /// What each circumstance adds to the first player's log-odds: being first, where asked for, then the covariates.
    pub effects: Vec<f64>,
    /// Their standard errors.
    pub effect_errors: Vec<f64>,
    /// Davidson's `ν`: two equal players tie with probability `ν / (2 + ν)`. None where ties are half wins.
    pub tie_parameter: Option<f64>,
    /// The log-likelihood, without the ridge.
    pub log_likelihood: f64,
    /// The ridge that was used; 0 where none was.
    pub ridge: f64,
    /// Why a finite maximum does not exist without a ridge.
    pub separated: Option<Undefined>,
    /// Degrees of freedom of intervals: groups less one. None where intervals are normal.
    pub degrees_of_freedom: Option<f64>,
    /// The resamples, where the covariance comes from them.
    pub resamples: Option<Resamples>,
    /// The inverse information of the log-strengths, row by row.
    #[serde(skip)]
    pub(super) inverse_information: Vec<f64>,
}

/// The strengths of each resample.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Resamples {
    /// How many.
    pub rounds: usize,
    /// How many had no finite maximum and were fitted with [`DEFAULT_RIDGE`].
    pub regularized: usize,
    /// The log-strengths of each round, one after the other.
    #[serde(skip)]
    pub strengths: Vec<f64>,
}

/// Fits log-strengths by maximum likelihood (Bradley and Terry 1952), with Newton's method on counts.
///
/// Assumes that each player has one strength, whoever it meets. Undefined for players that no chain of duels connects
/// ([`Undefined::Disconnected`]); for players who never lost a point to the others unless a ridge is allowed
/// ([`Undefined::Separated`]); for circumstances that cannot be told apart ([`Undefined::Confounded`]) or decide every
/// duel ([`Undefined::NotConverged`]); for Davidson's ties without ties or without wins; and for fewer than two groups
/// where groups are asked for.
pub fn bradley_terry(
    battles: &Battles,
    options: &BradleyTerryOptions,
) -> Result<BradleyTerry, Undefined> {
    battles.check()?;
    check_ridge(options.regularization)?;
    let cells = Cells::of(battles, options.order_effect);
    let tallies = cells.tallies();
    check_connected(&cells, &tallies)?;
    let separated = WinGraph::default().check(&cells, &tallies).err();
    let ridge = match (options.regularization, &separated) {
        (Regularization::Always { ridge }, _)
        | (Regularization::WhereNeeded { ridge }, Some(_)) => ridge,
        (Regularization::WhereNeeded { .. } | Regularization::Never, None) => 0.0,
        (Regularization::Never, Some(reason)) => return Err(reason.clone()),
    };
    let likelihood = Likelihood { cells: &cells, ties: options.ties, ridge, effect_ridge: 0.0 };
    likelihood.check_ties(&tallies)?;
    let mut parameters = vec![0.0; likelihood.dimension()];
    let mut workspace = Workspace::default();
    workspace.maximise(&likelihood, &tallies, &mut parameters, TOLERANCE)?;
    let inverse = inverse_information(&likelihood, &tallies, &parameters)?;

    let players = cells.players;
    let mut resamples = None;
    let mut degrees_of_freedom = None;
    let covariance = match options.covariance {
        Covariance::Hessian => inverse.clone(),
        Covariance::Sandwich => sandwich(&likelihood, &parameters, &inverse),
        Covariance::Cluster => {
            degrees_of_freedom = Some(cells.groups() as f64 - 1.0);
            clustered(&likelihood, &parameters, &inverse)?
        }
        Covariance::Bootstrap { rounds, seed } => {
            if cells.groups() > 0 {
                Undefined::unless_enough("groups of battles", cells.groups(), 2)?;
                degrees_of_freedom = Some(cells.groups() as f64 - 1.0);
            }
            let drawn = resample::rounds(&likelihood, &parameters, rounds, seed)?;
            let spread = spread(&drawn.parameters, parameters.len());
            let strengths = drawn.parameters.chunks_exact(parameters.len());
            resamples = Some(Resamples {
                rounds,
                regularized: drawn.regularized,
                strengths: strengths.flat_map(|round| &round[..players]).copied().collect(),
            });
            spread
        }
    };
    let strengths = parameters[..players].to_vec();
    let unpenalised = Likelihood { ridge: 0.0, ..likelihood };
    let units = cells.units.iter().enumerate();
    let effects = units.clone().map(|(index, unit)| parameters[players + index] / unit);
    let errors = units
        .map(|(index, unit)| covariance[(players + index, players + index)].max(0.0).sqrt() / unit);
    Ok(BradleyTerry {
        covariance: block(&covariance, players),
        effects: effects.collect(),
        effect_errors: errors.collect(),
        tie_parameter: (options.ties == Ties::Davidson)
            .then(|| parameters.last().copied().unwrap_or_default().exp()),
        log_likelihood: unpenalised.value(&tallies, &parameters),
        ridge,
        separated,
        degrees_of_freedom,
        resamples,
        inverse_information: block(&inverse, players),
        strengths,
    })
}

fn check_ridge(regularization: Regularization) -> Result<(), Undefined> {
    match regularization {
        Regularization::Never => Ok(()),
        Regularization::WhereNeeded { ridge } | Regularization::Always { ridge } => {
            Undefined::unless_positive("ridge", ridge)
        }
    }
}

/// The part of a matrix that is about strengths, row by row.
fn block(matrix: &Mat<f64>, players: usize) -> Vec<f64> {
    let row = |row| (0..players).map(move |column| matrix[(row, column)]);
    (0..players).flat_map(row).collect()
}

/// The covariance of rounds, at least two.
fn spread(rounds: &[f64], dimension: usize) -> Mat<f64> {
    let count = rounds.len() / dimension;
    let mut mean = vec![0.0; dimension];
    for round in rounds.chunks_exact(dimension) {
        mean.iter_mut().zip(round).for_each(|(mean, value)| *mean += value / count as f64);
    }
    let mut centered = Mat::zeros(count, dimension);
    for (row, round) in rounds.chunks_exact(dimension).enumerate() {
        for (column, value) in round.iter().enumerate() {
            centered[(row, column)] = value - mean[column];
        }
    }
    let mut covariance: Mat<f64> = centered.transpose() * &centered;
    for column in 0..dimension {
        for row in 0..dimension {
            covariance[(row, column)] /= count as f64 - 1.0;
        }
    }
    covariance
}
