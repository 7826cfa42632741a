//! How often intervals of agreement cover the truth, and what label models recover, by simulation with fixed seeds.
//!
//! `FULLBENCH_SIMULATIONS` sets the number of simulated studies; `--nocapture` prints the tables.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use fullbench_stats::agreement::{
    CategoryWeights, Level, Ratings, alpha, alpha_interval, cohen_kappa, fleiss_kappa, gwet_ac,
    pair_tables,
};
use fullbench_stats::labels::{DawidSkeneOptions, MaceOptions, dawid_skene, mace, majority};
use fullbench_stats::{Interval, random_stream};
use rand::RngExt;
use rayon::prelude::*;

fn simulations(default: usize) -> usize {
    let given = std::env::var("FULLBENCH_SIMULATIONS").ok();
    given.map_or(default, |number| number.parse().unwrap())
}

/// How frequent each label is.
const EVEN: &[f64] = &[0.2, 0.2, 0.2, 0.2, 0.2];
const SKEWED: &[f64] = &[0.7, 0.2, 0.1];

/// A study: each annotator gives the true label with probability `knows`, and else draws one from the same distribution. Then
/// alpha, kappa and Fleiss' kappa are `knows`² at every level, in the long run.
#[derive(Clone, Copy)]
struct Study {
    items: u32,
    annotators: u32,
    labels: &'static [f64],
    knows: f64,
    missing: f64,
}

impl Study {
    fn draw(&self, seed: u64, round: u64) -> Ratings {
        let mut random = random_stream(seed, round);
        let label = |at: f64| {
            let mut below = 0.0;
            let mut beyond = |share: &f64| {
                below += share;
                below <= at
            };
            self.labels.iter().take_while(|share| beyond(share)).count().min(self.labels.len() - 1)
                as u32
        };
        let (mut items, mut annotators, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for item in 0..self.items {
            let truth = label(random.random());
            for annotator in 0..self.annotators {
                let guess = label(random.random());
                let value = if random.random::<f64>() < self.knows { truth } else { guess };
                if random.random::<f64>() >= self.missing {
                    items.push(item);
                    annotators.push(annotator);
                    values.push(value);
                }
            }
        }
        let numbers: Vec<f64> = (0..self.labels.len()).map(|place| place as f64).collect();
        Ratings::with_numbers(&items, &annotators, &values, &numbers).unwrap()
    }
}

/// How many of the intervals cover, and of how many.
fn covered(
    rounds: usize,
    truth: f64,
    interval: impl Fn(u64) -> Option<Interval> + Sync + Send,
) -> (f64, usize) {
    let intervals: Vec<Interval> =
        (0..rounds as u64).into_par_iter().filter_map(interval).collect();
    let inside = intervals.iter().filter(|ends| ends.low <= truth && truth <= ends.high).count();
    (inside as f64 / intervals.len() as f64, intervals.len())
}

/// Asserts a share within bounds that are widened by four standard errors of the simulation.
fn assert_between(what: &str, share: f64, rounds: usize, low: f64, high: f64) {
    let noise = 4.0 * (0.95 * 0.05 / rounds as f64).sqrt();
    assert!(share >= low - noise && share <= high + noise, "{what}: {share} of {rounds}");
}

#[test]
fn random_labels_score_nothing() {
    let rounds = simulations(100);
    for labels in [EVEN, SKEWED] {
        let study = Study { items: 200, annotators: 3, labels, knows: 0.0, missing: 0.2 };
        for level in Level::ALL {
            let alphas = (0..rounds as u64)
                .into_par_iter()
                .map(|round| alpha(&study.draw(1, round), level).unwrap().alpha);
            let all: Vec<f64> = alphas.collect();
            let mean = all.iter().sum::<f64>() / rounds as f64;
            let squares: f64 = all.iter().map(|alpha| (alpha - mean).powi(2)).sum();
            let error = (squares / (rounds as f64 - 1.0) / rounds as f64).sqrt();
            println!(
                "{:>8} {} labels: mean alpha {mean:+.4} ± {error:.4}",
                level.name(),
                labels.len()
            );
            assert!(mean.abs() <= 4.0 * error, "{level:?}: {mean} ± {error}");
        }
    }
}

#[test]
fn the_bootstrap_of_alpha_covers() {
    let rounds = simulations(150);
    println!("alpha, {rounds} studies of 3 annotators, 20% missing, 400 resamples, nominal 95%");
    for (items, low) in [(30, 0.88), (100, 0.93), (300, 0.93)] {
        for (labels, knows) in [(EVEN, 0.6), (EVEN, 0.9), (SKEWED, 0.8)] {
            let study = Study { items, annotators: 3, labels, knows, missing: 0.2 };
            for level in [Level::Nominal, Level::Ordinal, Level::Interval] {
                let interval = |round| {
                    let ratings = study.draw(2, round);
                    Some(alpha_interval(&ratings, level, 0.95, 400, round).ok()?.interval)
                };
                let (share, defined) = covered(rounds, knows * knows, interval);
                println!(
                    "{items:>4} items, {} labels, alpha {:.2}, {:>8}: {share:.3} of {defined}",
                    labels.len(),
                    knows * knows,
                    level.name()
                );
                assert_between("alpha", share, rounds, low, 0.97);
            }
        }
    }
}

#[test]
fn intervals_of_kappa_fleiss_and_gwet_cover() {
    let rounds = simulations(500);
    println!("{rounds} studies, nominal 95%");
    for items in [50, 200] {
        for (labels, knows) in [(EVEN, 0.8), (SKEWED, 0.8)] {
            let pair = Study { items, annotators: 2, labels, knows, missing: 0.0 };
            let truth = knows * knows;
            let identity = CategoryWeights::identity(labels.len()).unwrap();
            let places: Vec<f64> = (0..labels.len()).map(|place| place as f64).collect();
            let quadratic = CategoryWeights::quadratic(&places).unwrap();
            for (name, weights) in [("plain kappa", &identity), ("quadratic kappa", &quadratic)] {
                let (share, defined) = covered(rounds, truth, |round| {
                    let table = &pair_tables(&pair.draw(3, round)).unwrap()[0];
                    cohen_kappa(&table.counts, weights, 0.95).ok()?.interval
                });
                println!(
                    "{items:>4} items, {} labels, {name}: {share:.3} of {defined}",
                    labels.len()
                );
                // The standard error is for many items; with few of skewed labels it is too small.
                let low = if items < 100 { 0.87 } else { 0.92 };
                assert_between(name, share, rounds, low, 0.97);
            }
            let many = Study { annotators: 4, missing: 0.1, ..pair };
            let (share, defined) = covered(rounds, truth, |round| {
                fleiss_kappa(&many.draw(4, round), &identity, 0.95).ok()?.interval
            });
            println!("{items:>4} items, {} labels, Fleiss: {share:.3} of {defined}", labels.len());
            assert_between("fleiss", share, rounds, 0.92, 0.97);
            let same: f64 = labels.iter().map(|share| share * share).sum();
            let observed = truth + (1.0 - truth) * same;
            let expected = (1.0 - same) / (labels.len() as f64 - 1.0);
            let truth = (observed - expected) / (1.0 - expected);
            let (share, defined) = covered(rounds, truth, |round| {
                gwet_ac(&many.draw(4, round), &identity, 0.95).ok()?.interval
            });
            println!(
                "{items:>4} items, {} labels, Gwet AC1: {share:.3} of {defined}",
                labels.len()
            );
            assert_between("gwet", share, rounds, 0.92, 0.97);
        }
    }
}

/// Shares of right labels by majority, Dawid–Skene and MACE.
type Rights = [f64; 3];

/// Annotators of known accuracy, whose errors fall evenly on the other labels.
fn known_annotators(
    accuracies: &[f64],
    items: u32,
    labels: u32,
    round: u64,
) -> (Ratings, Vec<u32>) {
    let mut random = random_stream(5, round);
    let truth: Vec<u32> = (0..items).map(|_| random.random_range(0..labels)).collect();
    let (mut of_items, mut annotators, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for item in 0..items {
        for (annotator, accuracy) in accuracies.iter().enumerate() {
            let right = truth[item as usize];
            let wrong = (right + random.random_range(1..labels)) % labels;
            of_items.push(item);
            annotators.push(annotator as u32);
            values.push(if random.random::<f64>() < *accuracy { right } else { wrong });
        }
    }
    (Ratings::new(&of_items, &annotators, &values).unwrap(), truth)
}

#[test]
fn models_recover_labels_and_accuracies() {
    let rounds = simulations(20).min(200);
    let accuracies = [0.9, 0.85, 0.55, 0.5, 0.45];
    let studies: Vec<(Rights, f64)> = (0..rounds as u64)
        .into_par_iter()
        .map(|round| {
            let (ratings, truth) = known_annotators(&accuracies, 600, 3, round);
            let right = |label: &dyn Fn(usize) -> Option<u32>| {
                let right = (0..truth.len()).filter(|&item| label(item) == Some(truth[item]));
                right.count() as f64 / truth.len() as f64
            };
            let votes = majority(&ratings);
            let model = dawid_skene(&ratings, &DawidSkeneOptions::default()).unwrap();
            let options = MaceOptions { restarts: 3, ..MaceOptions::default() };
            let other = mace(&ratings, &options).unwrap();
            let shares = [
                right(&|item| votes[item].label),
                right(&|item| model.posteriors.best(item).map(|best| best.0)),
                right(&|item| other.posteriors.best(item).map(|best| best.0)),
            ];
            let errors = accuracies
                .iter()
                .enumerate()
                .map(|(who, accuracy)| (model.accuracy(who).unwrap() - accuracy).abs());
            (shares, errors.sum::<f64>() / accuracies.len() as f64)
        })
        .collect();
    let mean = |sum: f64| sum / rounds as f64;
    let [votes, model, other] =
        [0, 1, 2].map(|method| mean(studies.iter().map(|(rights, _)| rights[method]).sum()));
    let error = mean(studies.iter().map(|(_, error)| error).sum());
    println!("{rounds} studies of 600 items, 5 annotators {accuracies:?}, 3 labels");
    println!(
        "right: majority {votes:.3}, Dawid-Skene {model:.3}, MACE {other:.3}; accuracies off by {error:.3}"
    );
    assert!(model > votes + 0.02 && other > votes + 0.02);
    assert!(error < 0.04);
}
