//! MACE: annotators who know the answer or guess.

use rand::RngExt;
use serde::Serialize;
use statrs::function::gamma::digamma;

use super::given::Given;
use super::posterior::{Posteriors, normalize_logarithms};
use crate::agreement::Ratings;
use crate::{Undefined, random_stream};

/// The prior of knowing and of guessing: Beta(0.5, 0.5).
const KNOWING_PRIOR: f64 = 0.5;
/// The prior of each label when guessing: Dirichlet(10, …, 10).
const STRATEGY_PRIOR: f64 = 10.0;

/// How the parameters are looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MaceOptions {
    /// How often to start anew from random parameters; the most likely result is kept.
    pub restarts: usize,
    /// At most this many iterations for each start.
    pub iterations: usize,
    /// A start ends when the log-likelihood changes by less than this for each rating; 0 or less never ends early.
    pub tolerance: f64,
    /// The seed of the random parameters.
    pub seed: u64,
}

impl Default for MaceOptions {
    fn default() -> Self {
        Self { restarts: 10, iterations: 50, tolerance: 1e-7, seed: 1 }
    }
}

/// Labels and annotators as MACE sees them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mace {
    /// For each item the probability of each label.
    pub posteriors: Posteriors,
    /// For each annotator the probability of knowing the answer instead of guessing: the mean of its posterior.
    pub competences: Vec<f64>,
    /// Log-likelihood of the ratings in the start that was kept.
    pub log_likelihood: f64,
    /// Iterations of this start.
    pub iterations: usize,
    /// Whether its log-likelihood settled before the iterations were used up.
    pub converged: bool,
    /// How many starts came within 10⁻⁶ for each rating of the best. Few of many says that the best was found by luck.
    pub starts_at_best: usize,
}

/// Labels and annotators' competences after Hovy et al. (2013), by variational Bayes with their priors: Beta(0.5, 0.5) on
/// knowing, Dirichlet(10, …) on the labels of those who guess.
///
/// It assumes that each item has one true label, all labels equally frequent, and that an annotator either knows it or draws
/// from a distribution of their own. The result depends on the seed but not on the number of threads. Items without ratings have probabilities
/// of 0. Undefined for fewer than two labels, for no restarts or iterations, and when the result would have more than 2²⁸ numbers.
pub fn mace(ratings: &Ratings, options: &MaceOptions) -> Result<Mace, Undefined> {
    Undefined::unless_enough("labels", ratings.numbers().len(), 2)?;
    Undefined::unless_enough("restarts", options.restarts, 1)?;
    Undefined::unless_enough("iterations", options.iterations, 1)?;
    let given = Given::new(ratings)?;
    let mut best: Option<Mace> = None;
    let mut ends = Vec::with_capacity(options.restarts);
    for start in 0..options.restarts as u64 {
        let result = one_start(&given, options, start)?;
        ends.push(result.log_likelihood);
        if best.as_ref().is_none_or(|best| result.log_likelihood > best.log_likelihood) {
            best = Some(result);
        }
    }
    let mut best = best.ok_or(Undefined::NotConverged { what: "MACE", iterations: 0 })?;
    let near = best.log_likelihood - 1e-6 * ratings.len() as f64;
    best.starts_at_best = ends.iter().filter(|end| **end >= near).count();
    Ok(best)
}

/// The parameters: for each annotator the weight of knowing, for each pair of annotator and label that of guessing the label.
struct Parameters {
    knowing: Vec<f64>,
    guessing: Vec<f64>,
}

impl Parameters {
    /// As in the authors' program: equal shares with noise of up to a half.
    fn random(given: &Given<'_>, seed: u64, start: u64) -> Self {
        let mut random = random_stream(seed, start);
        let mut noisy = || 1.0 + 0.5 * random.random::<f64>();
        let size = given.ratings.numbers().len() as f64;
        let mut knowing = vec![0.0; given.pairs()];
        let mut guessing = vec![0.0; given.pairs()];
        for range in given.starts.windows(2) {
            let (spam, know) = (noisy(), noisy());
            for pair in range[0]..range[1] {
                knowing[pair] = know / (spam + know);
                guessing[pair] = spam / (spam + know) * noisy() / (1.25 * size);
            }
        }
        Self { knowing, guessing }
    }

    /// Expected counts of guessing made into parameters (variational M-step): exp ψ of counts and priors.
    fn from_counts(given: &Given<'_>, guesses: &[f64], numbers: &[f64]) -> Self {
        let size = given.ratings.numbers().len() as f64;
        let mut knowing = vec![0.0; given.pairs()];
        let mut guessing = vec![0.0; given.pairs()];
        for range in given.starts.windows(2) {
            let range = range[0]..range[1];
            let guessed: f64 = guesses[range.clone()].iter().sum();
            let all: f64 = numbers[range.clone()].iter().sum();
            let total = digamma(all + 2.0 * KNOWING_PRIOR);
            let know = (digamma(all - guessed + KNOWING_PRIOR) - total).exp();
            let spam = (digamma(guessed + KNOWING_PRIOR) - total).exp();
            let strategy = digamma(guessed + STRATEGY_PRIOR * size);
            for pair in range {
                knowing[pair] = know;
                guessing[pair] = spam * (digamma(guesses[pair] + STRATEGY_PRIOR) - strategy).exp();
            }
        }
        Self { knowing, guessing }
    }
}

fn one_start(given: &Given<'_>, options: &MaceOptions, start: u64) -> Result<Mace, Undefined> {
    let ratings = given.ratings;
    let size = ratings.numbers().len();
    let mut posteriors = Posteriors::zeros(ratings.items(), size)?;
    let mut parameters = Parameters::random(given, options.seed, start);
    let (mut guesses, mut log_likelihood) = expected(given, &parameters, &mut posteriors);
    let numbers = numbers(given);
    let (mut done, mut converged) = (0, false);
    while done < options.iterations && !converged {
        parameters = Parameters::from_counts(given, &guesses, &numbers);
        let (counts, likelihood) = expected(given, &parameters, &mut posteriors);
        guesses = counts;
        converged = (likelihood - log_likelihood).abs() < options.tolerance * ratings.len() as f64;
        log_likelihood = likelihood;
        done += 1;
    }
    let competence = |range: &[usize]| {
        let guessed: f64 = guesses[range[0]..range[1]].iter().sum();
        let all: f64 = numbers[range[0]..range[1]].iter().sum();
        (all - guessed + KNOWING_PRIOR) / (all + 2.0 * KNOWING_PRIOR)
    };
    let competences = given.starts.windows(2).map(competence).collect();
    let iterations = done;
    Ok(Mace { posteriors, competences, log_likelihood, iterations, converged, starts_at_best: 0 })
}

/// How many ratings each pair of annotator and label has.
fn numbers(given: &Given<'_>) -> Vec<f64> {
    let mut numbers = vec![0.0; given.pairs()];
    given.pair_of().iter().for_each(|&pair| numbers[pair as usize] += 1.0);
    numbers
}

/// The E-step: probabilities of labels, for each pair how often the label was guessed, and the log-likelihood.
fn expected(
    given: &Given<'_>,
    parameters: &Parameters,
    posteriors: &mut Posteriors,
) -> (Vec<f64>, f64) {
    let logarithm = |pair: usize| {
        let (know, guess) = (parameters.knowing[pair], parameters.guessing[pair]);
        (guess.ln(), ((guess + know) / guess).ln(), guess / (guess + know))
    };
    let of_pair: Vec<(f64, f64, f64)> = (0..given.pairs()).map(logarithm).collect();
    let uniform = -(given.ratings.numbers().len() as f64).ln();
    let step =
        |pairs: &[u32], values: &[u32], shares: &mut [f64], counts: &mut [f64], all: &mut [f64]| {
            let guessed: f64 = pairs.iter().map(|&pair| of_pair[pair as usize].0).sum();
            shares.fill(uniform + guessed);
            for (&pair, &value) in pairs.iter().zip(values) {
                shares[value as usize] += of_pair[pair as usize].1;
            }
            all[0] += normalize_logarithms(shares);
            for (&pair, &value) in pairs.iter().zip(values) {
                let right = shares[value as usize];
                // A wrong label was guessed; a right one was guessed or known.
                counts[pair as usize] += 1.0 - right + right * of_pair[pair as usize].2;
            }
        };
    let (counts, all) = given.sums(&mut posteriors.probabilities, 1, 1, step);
    (counts, all.first().copied().unwrap_or(0.0))
}
