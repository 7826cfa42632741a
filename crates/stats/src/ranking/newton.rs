//! The maximum of the likelihood by Newton's method: the likelihood is concave, so there is at most one.

use faer::linalg::solvers::{Llt, Solve};
use faer::{ColMut, MatRef, Side};

use super::cells::Tally;
use super::likelihood::Likelihood;
use crate::Undefined;

const MAX_ITERATIONS: usize = 100;
const MAX_HALVINGS: usize = 30;
/// A step that changes no log-odds by more than this raises the likelihood: along it, the second derivative grows at most
/// by the exponential of that change, so that the rise is positive below 1.79 (Bach 2010).
const CERTAIN_CHANGE: f64 = 1.5;
/// A circumstance whose variation is explained by the others up to this share cannot be told apart from them.
const UNEXPLAINED: f64 = 1e-10;

const WHAT: &str = "Bradley–Terry";

/// Room for one fit, reused from round to round.
#[derive(Debug, Clone, Default)]
pub(super) struct Workspace {
    gradient: Vec<f64>,
    pub(super) information: Vec<f64>,
    trial: Vec<f64>,
    step: Vec<f64>,
}

impl Workspace {
    /// Moves the parameters to the maximum. Strengths have mean zero afterwards.
    ///
    /// It stops with the first step below `tolerance`; what is left is about its square.
    pub(super) fn maximise(
        &mut self,
        likelihood: &Likelihood,
        tallies: &[Tally],
        parameters: &mut [f64],
        tolerance: f64,
    ) -> Result<(), Undefined> {
        for iteration in 0..MAX_ITERATIONS {
            self.evaluate(likelihood, tallies, parameters);
            let factor = self.factor(likelihood, iteration == 0)?;
            self.step.clear();
            self.step.extend_from_slice(&self.gradient);
            factor.solve_in_place(ColMut::from_slice_mut(&mut self.step));
            let size = self.step.iter().fold(0.0_f64, |size, step| size.max(step.abs()));
            if !size.is_finite() {
                return Err(not_converged(iteration));
            }
            self.walk(likelihood, tallies, parameters, size)?;
            if size <= tolerance {
                return Ok(());
            }
        }
        Err(not_converged(MAX_ITERATIONS))
    }

    /// Takes the step, or half of it as often as it takes for the likelihood to rise.
    fn walk(
        &mut self,
        likelihood: &Likelihood,
        tallies: &[Tally],
        parameters: &mut [f64],
        size: f64,
    ) -> Result<(), Undefined> {
        let certain = CERTAIN_CHANGE / likelihood.cells.reach();
        let before = if size <= certain { 0.0 } else { likelihood.value(tallies, parameters) };
        let mut share = 1.0;
        for _ in 0..MAX_HALVINGS {
            self.trial.clear();
            let trial = parameters.iter().zip(&self.step).map(|(start, step)| start + share * step);
            self.trial.extend(trial);
            center(&mut self.trial[..likelihood.cells.players]);
            if size * share <= certain || likelihood.value(tallies, &self.trial) >= before {
                parameters.copy_from_slice(&self.trial);
                return Ok(());
            }
            share *= 0.5;
        }
        Err(not_converged(MAX_HALVINGS))
    }

    /// Gradient and information at the parameters.
    pub(super) fn evaluate(
        &mut self,
        likelihood: &Likelihood,
        tallies: &[Tally],
        parameters: &[f64],
    ) {
        let dimension = likelihood.dimension();
        self.gradient.resize(dimension, 0.0);
        self.information.resize(dimension * dimension, 0.0);
        likelihood.derivatives(tallies, parameters, &mut self.gradient, &mut self.information);
    }

    /// The Cholesky factor of the information, made regular by [`tie_down`].
    fn factor(&mut self, likelihood: &Likelihood, check: bool) -> Result<Llt<f64>, Undefined> {
        let (players, dimension) = (likelihood.cells.players, likelihood.dimension());
        let diagonal: Vec<f64> = self.information.iter().step_by(dimension + 1).copied().collect();
        tie_down(&mut self.information, players, dimension);
        let factor = factored(&self.information, dimension).map_err(|_| {
            let covariates = likelihood.cells.columns > 0;
            if covariates && check { confounded() } else { not_converged(0) }
        })?;
        if check {
            let pivots = factor.L().diagonal().column_vector();
            for row in players..dimension {
                if pivots[row] * pivots[row] < UNEXPLAINED * diagonal[row] {
                    return Err(confounded());
                }
            }
        }
        Ok(factor)
    }
}

/// Strengths are determined only up to a constant, which makes the information singular along it. Adds a multiple of that
/// direction's projection, returned, which changes nothing else.
pub(super) fn tie_down(information: &mut [f64], players: usize, dimension: usize) -> f64 {
    let trace: f64 = information.iter().step_by(dimension + 1).take(players).sum();
    let weight = (trace / players as f64).max(f64::MIN_POSITIVE);
    let share = weight / players as f64;
    for column in 0..players {
        let start = column * dimension;
        for entry in &mut information[start + column..start + players] {
            *entry += share;
        }
    }
    weight
}

/// The Cholesky factor of a matrix given by its lower triangle.
pub(super) fn factored(lower: &[f64], dimension: usize) -> Result<Llt<f64>, Undefined> {
    MatRef::from_column_major_slice(lower, dimension, dimension)
        .llt(Side::Lower)
        .map_err(|_| confounded())
}

/// Makes the mean zero.
pub(super) fn center(strengths: &mut [f64]) {
    let mean = strengths.iter().sum::<f64>() / strengths.len() as f64;
    strengths.iter_mut().for_each(|strength| *strength -= mean);
}

fn confounded() -> Undefined {
    Undefined::Confounded { what: "a covariate" }
}

fn not_converged(iterations: usize) -> Undefined {
    Undefined::NotConverged { what: WHAT, iterations }
}
