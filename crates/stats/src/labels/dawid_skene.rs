//! The model of Dawid and Skene.

use serde::Serialize;

use super::given::Given;
use super::posterior::{Posteriors, normalize_logarithms, unless_small};
use crate::Undefined;
use crate::agreement::Ratings;

/// Expected counts and shares below this are raised to it, so that no logarithm is infinite.
const LEAST: f64 = 1e-10;

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DawidSkeneOptions {
    /// At most this many iterations.
    pub iterations: usize,
    /// Stops when the log-likelihood rises by less than this for each rating; 0 or less never stops early.
    pub tolerance: f64,
}

impl Default for DawidSkeneOptions {
    fn default() -> Self {
        Self { iterations: 100, tolerance: 1e-7 }
    }
}

/// Labels, annotators and classes as Dawid and Skene's model sees them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DawidSkene {
    /// For each item the probability of each label.
    pub posteriors: Posteriors,
    /// How frequent each label is.
    pub priors: Vec<f64>,
    /// Log-likelihood of the ratings under the parameters that the posteriors were made with.
    pub log_likelihood: f64,
    /// Iterations done.
    pub iterations: usize,
    /// Whether the log-likelihood settled before the iterations were used up.
    pub converged: bool,
    rates: Rates,
}

/// For each pair of annotator and label that occurs, the probability of the label under each true one.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Rates {
    labels: Vec<u32>,
    starts: Vec<usize>,
    probabilities: Vec<f64>,
}

impl DawidSkene {
    /// The confusion matrix of an annotator: row by true label, column by the label given; rows sum to 1. Labels that the annotator
    /// never gave have probability 0. Empty for an annotator who does not exist or has no ratings.
    #[must_use]
    pub fn confusion(&self, annotator: usize) -> Vec<Vec<f64>> {
        let size = self.priors.len();
        let (start, end) = self.pairs(annotator);
        if start == end {
            return Vec::new();
        }
        let mut matrix = vec![vec![0.0; size]; size];
        for pair in start..end {
            let given = self.rates.labels[pair] as usize;
            for (truth, row) in matrix.iter_mut().enumerate() {
                row[given] = self.rates.probabilities[pair * size + truth];
            }
        }
        matrix
    }

    /// The probability that an annotator gives the true label, over the frequencies of labels; none for an annotator who does not
    /// exist or has no ratings.
    #[must_use]
    pub fn accuracy(&self, annotator: usize) -> Option<f64> {
        let size = self.priors.len();
        let (start, end) = self.pairs(annotator);
        let right = |pair: usize| {
            let label = self.rates.labels[pair] as usize;
            self.priors[label] * self.rates.probabilities[pair * size + label]
        };
        (start < end).then(|| (start..end).map(right).sum())
    }

    fn pairs(&self, annotator: usize) -> (usize, usize) {
        match (self.rates.starts.get(annotator), self.rates.starts.get(annotator + 1)) {
            (Some(&start), Some(&end)) => (start, end),
            _ => (0, 0),
        }
    }
}

/// Labels and annotators' confusion matrices by maximum likelihood (Dawid and Skene 1979), found with the EM algorithm.
///
/// It assumes that each item has one true label, and that given it annotators err independently, each with their own confusion matrix that is the
/// same for all items. It starts from the shares of votes, so that a majority of good annotators is needed; the
/// likelihood may have other maxima. Expected counts and shares of labels are raised to 10⁻¹⁰, and a confusion matrix is over the labels that the annotator
/// gave, both as in crowd-kit, so that equal iterations give equal results. Products are sums of logarithms. Items without ratings have probabilities of 0.
///
/// Undefined for fewer than two labels, for no iterations, and when the result would have more than 2²⁸ numbers.
pub fn dawid_skene(
    ratings: &Ratings,
    options: &DawidSkeneOptions,
) -> Result<DawidSkene, Undefined> {
    let size = ratings.numbers().len();
    Undefined::unless_enough("labels", size, 2)?;
    Undefined::unless_enough("iterations", options.iterations, 1)?;
    let given = Given::new(ratings)?;
    unless_small("the number of labels by annotator times labels", given.pairs(), size)?;
    let mut posteriors = Posteriors::zeros(ratings.items(), size)?;
    let rated = given.rated_items() as f64;

    let votes =
        |pairs: &[u32], values: &[u32], shares: &mut [f64], counts: &mut [f64], all: &mut [f64]| {
            for &value in values {
                shares[value as usize] += 1.0 / values.len() as f64;
            }
            add(pairs, shares, counts, all);
        };
    let (counts, sums) = given.sums(&mut posteriors.probabilities, size, size, votes);
    let mut rates = normalized(&given, counts, size);
    let mut priors: Vec<f64> = sums.iter().map(|sum| sum / rated).collect();

    let (mut log_likelihood, mut done, mut converged) = (f64::NEG_INFINITY, 0, false);
    while done < options.iterations && !converged {
        let logarithms: Vec<f64> = rates.iter().map(|rate| rate.ln()).collect();
        let log_priors: Vec<f64> = priors.iter().map(|prior| prior.max(LEAST).ln()).collect();
        let step =
            |pairs: &[u32], _: &[u32], shares: &mut [f64], counts: &mut [f64], all: &mut [f64]| {
                shares.copy_from_slice(&log_priors);
                for &pair in pairs {
                    let start = pair as usize * size;
                    let rates = &logarithms[start..start + size];
                    shares.iter_mut().zip(rates).for_each(|(share, rate)| *share += rate);
                }
                all[size] += normalize_logarithms(shares);
                add(pairs, shares, counts, all);
            };
        let (counts, sums) = given.sums(&mut posteriors.probabilities, size, size + 1, step);
        rates = normalized(&given, counts, size);
        priors = sums[..size].iter().map(|sum| sum / rated).collect();
        let rise = sums[size] - log_likelihood;
        converged = options.tolerance > 0.0 && rise < options.tolerance * ratings.len() as f64;
        log_likelihood = sums[size];
        done += 1;
    }
    let rates = Rates { labels: given.labels, starts: given.starts, probabilities: rates };
    Ok(DawidSkene { posteriors, priors, log_likelihood, iterations: done, converged, rates })
}

/// Adds the probabilities of an item's labels to those of its pairs and of all items.
fn add(pairs: &[u32], shares: &[f64], counts: &mut [f64], all: &mut [f64]) {
    let size = shares.len();
    for &pair in pairs {
        let start = pair as usize * size;
        let counts = &mut counts[start..start + size];
        counts.iter_mut().zip(shares).for_each(|(count, share)| *count += share);
    }
    all.iter_mut().zip(shares).for_each(|(sum, share)| *sum += share);
}

/// Expected counts made into probabilities of what an annotator says under each true label.
fn normalized(given: &Given<'_>, mut counts: Vec<f64>, size: usize) -> Vec<f64> {
    for range in given.starts.windows(2) {
        let counts = &mut counts[range[0] * size..range[1] * size];
        for truth in 0..size {
            let mut sum = 0.0;
            for count in counts.iter_mut().skip(truth).step_by(size) {
                *count = count.max(LEAST);
                sum += *count;
            }
            counts.iter_mut().skip(truth).step_by(size).for_each(|count| *count /= sum);
        }
    }
    counts
}
