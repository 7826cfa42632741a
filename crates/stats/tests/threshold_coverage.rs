//! Marks and weights that were fitted, by simulation: how often intervals contain the truth, and how honest estimates are.
//!
//! `FULLBENCH_SIMULATIONS` sets the number of simulated studies; with `--nocapture` the table is printed.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use fullbench_stats::validity::{
    CrossValidation, Goal, Resampling, area_under_curve, stacked_weights, suggest_threshold,
};
use fullbench_stats::{Interval, normal_cdf, random_stream};
use rand::RngExt;
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;
use rayon::prelude::*;

const SEED: u64 = 20_240_601;

fn rounds() -> u64 {
    let given = std::env::var("FULLBENCH_SIMULATIONS").ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(150)
}

fn normal(random: &mut Pcg64) -> f64 {
    random.sample(StandardNormal)
}

/// What each study gave, of those that gave something.
fn studies<T: Send>(
    stream: u64,
    rounds: u64,
    study: impl Fn(&mut Pcg64) -> Option<T> + Sync,
) -> Vec<T> {
    let of = |index| study(&mut random_stream(SEED + stream, index));
    (0..rounds).into_par_iter().filter_map(of).collect()
}

/// The share of intervals that contain their truth.
fn coverage(name: &str, outcomes: &[(Interval, f64)], rounds: u64) -> f64 {
    let covers =
        |(interval, truth): &&(Interval, f64)| (interval.low..=interval.high).contains(truth);
    let share = outcomes.iter().filter(covers).count() as f64 / outcomes.len() as f64;
    let without = rounds as usize - outcomes.len();
    println!("{name:<64} {:>6.1}%  {rounds:>7} rounds, {without} without interval", share * 100.0);
    share
}

/// Asserts a share between two bounds, give or take four standard errors of the simulation.
#[track_caller]
fn within(share: f64, low: f64, high: f64, rounds: u64) {
    let error = |bound: f64| 4.0 * (bound * (1.0 - bound) / rounds as f64).sqrt();
    assert!(share >= low - error(low), "{share} is below {low}");
    assert!(share <= high + error(high), "{share} is above {high}");
}

/// Values of items that people pass with this rate: normal, and higher by `distance` where they pass.
fn labelled(random: &mut Pcg64, items: usize, rate: f64, distance: f64) -> (Vec<f64>, Vec<bool>) {
    (0..items)
        .map(|_| {
            let pass = random.random_bool(rate);
            (normal(random) + if pass { distance } else { 0.0 }, pass)
        })
        .unzip()
}

#[test]
fn areas_cover_the_truth() {
    let rounds = rounds();
    let mut stream = 0;
    for distance in [0.5, 1.0, 2.0] {
        let truth = normal_cdf(distance / std::f64::consts::SQRT_2);
        for rate in [0.5, 0.8] {
            for items in [30, 50, 100, 400] {
                stream += 1;
                let name = format!("area {truth:.2} of {items} items, {rate} pass");
                let found = studies(stream, rounds, |random| {
                    let (values, passes) = labelled(random, items, rate, distance);
                    let area = area_under_curve(&values, &passes, 0.95).ok()?;
                    Some((area.interval.ok()?, truth))
                });
                let share = coverage(&name, &found, rounds);
                within(share, if items < 100 { 0.91 } else { 0.93 }, 0.99, rounds);
            }
        }
    }
}

/// The best mark of the population, and how well any mark meets the goal there.
fn population(goal: Goal, rate: f64, distance: f64) -> (f64, impl Fn(f64) -> f64) {
    let odds = match goal {
        Goal::Youden | Goal::F1 => 1.0,
        Goal::Accuracy => (1.0 - rate) / rate,
        Goal::Cost { ratio } => ratio * (1.0 - rate) / rate,
    };
    let value = move |mark: f64| {
        let (sensitivity, specificity) = (normal_cdf(distance - mark), normal_cdf(mark));
        match goal {
            Goal::Youden | Goal::F1 => sensitivity + specificity - 1.0,
            Goal::Accuracy => rate * sensitivity + (1.0 - rate) * specificity,
            Goal::Cost { ratio } => {
                let failing = ratio * (1.0 - rate);
                (rate * sensitivity + failing * specificity) / (rate + failing)
            }
        }
    };
    (distance / 2.0 + odds.ln() / distance, value)
}

#[test]
fn marks_cover_the_best_one_and_corrected_goals_are_honest() {
    let rounds = rounds();
    let mut stream = 1000;
    let goals = [
        ("J", Goal::Youden, 0.5),
        ("J", Goal::Youden, 0.8),
        ("accuracy", Goal::Accuracy, 0.7),
        ("cost 3", Goal::Cost { ratio: 3.0 }, 0.5),
    ];
    for (goal_name, goal, rate) in goals {
        for distance in [1.0, 2.0] {
            for items in [30, 50, 100, 200, 400] {
                stream += 1;
                let (truth, value) = population(goal, rate, distance);
                let resampling = Resampling { rounds: 400, ..Resampling::default() };
                let found = studies(stream, rounds, |random| {
                    let (values, passes) = labelled(random, items, rate, distance);
                    suggest_threshold(&values, &passes, goal, &resampling).ok()
                });
                let name =
                    format!("mark by {goal_name} of {items}, distance {distance}, {rate} pass");
                let intervals: Vec<(Interval, f64)> = found
                    .iter()
                    .filter_map(|found| Some((found.interval.clone().ok()?, truth)))
                    .collect();
                let share = coverage(&name, &intervals, rounds);
                // The interval of a mark needs many items: below 100 it is rough, and the page says so.
                let lowest = match items {
                    200.. => 0.91,
                    100.. => 0.86,
                    _ => 0.70,
                };
                within(share, lowest, 1.0, rounds);
                let n = found.len() as f64;
                let apparent =
                    found.iter().map(|found| found.apparent - value(found.mark)).sum::<f64>() / n;
                let corrected: Vec<f64> = found
                    .iter()
                    .filter_map(|found| Some(found.corrected.clone().ok()? - value(found.mark)))
                    .collect();
                let corrected = corrected.iter().sum::<f64>() / corrected.len() as f64;
                let lost =
                    found.iter().map(|found| value(truth) - value(found.mark)).sum::<f64>() / n;
                let widths = intervals.iter().map(|(interval, _)| interval.high - interval.low);
                let width = widths.sum::<f64>() / intervals.len() as f64;
                println!(
                    "    too good by {apparent:.3}, corrected by {corrected:.3}; lost to the best mark {lost:.3}; width {width:.2}"
                );
                assert!(corrected.abs() < 0.6 * apparent, "{corrected} of {apparent}");
            }
        }
    }
}

#[test]
fn differences_of_errors_cover_the_truth() {
    let rounds = rounds();
    let panels: [(&str, &[f64]); 3] = [
        ("equally good members", &[1.0, 1.0, 1.0, 1.0]),
        ("somewhat unequal members", &[0.8, 1.0, 1.2, 1.4]),
        ("one good member of three", &[0.4, 1.5, 1.5]),
    ];
    for (index, (kind, spreads)) in panels.into_iter().enumerate() {
        // Errors are independent but for a part that all members share.
        let error_of = |weights: &[f64]| -> f64 {
            let own = weights.iter().zip(spreads).map(|(weight, spread)| (weight * spread).powi(2));
            own.sum::<f64>() + 0.25
        };
        for items in [20, 30, 50, 100, 400] {
            let stream = 2000 + 10_000 * index as u64 + items as u64;
            let found = studies(stream, rounds, |random| {
                let human: Vec<f64> = (0..items).map(|_| normal(random)).collect();
                let common: Vec<f64> = (0..items).map(|_| 0.5 * normal(random)).collect();
                let member = |spread: &f64| -> Vec<f64> {
                    let scores = human.iter().zip(&common);
                    scores.map(|(human, common)| human + common + spread * normal(random)).collect()
                };
                let members: Vec<Vec<f64>> = spreads.iter().map(member).collect();
                let views: Vec<&[f64]> = members.iter().map(Vec::as_slice).collect();
                stacked_weights(&views, &human, &CrossValidation::default()).ok()
            });
            let equal = vec![1.0 / spreads.len() as f64; spreads.len()];
            let outcomes: Vec<(Interval, f64)> = found
                .iter()
                .filter_map(|found| {
                    let truth = error_of(&found.weights) - error_of(&equal);
                    Some((found.against_equal.interval.clone().ok()?, truth))
                })
                .collect();
            let name = format!("learned − equal weights, {items} items, {kind}");
            let share = coverage(&name, &outcomes, rounds);
            within(share, 0.90, 1.0, rounds);
            // Ten folds: the correction makes the interval wider by √(1 + 10/9).
            let narrow = |(interval, truth): &(Interval, f64)| {
                let middle = f64::midpoint(interval.low, interval.high);
                let half = (interval.high - middle) / (1.0_f64 + 10.0 / 9.0).sqrt();
                (Interval { low: middle - half, high: middle + half }, *truth)
            };
            let narrow: Vec<(Interval, f64)> = outcomes.iter().map(narrow).collect();
            coverage("    the same without correction", &narrow, rounds);
            let n = outcomes.len() as f64;
            let truth = outcomes.iter().map(|(_, truth)| truth).sum::<f64>() / n;
            let estimate = found.iter().map(|found| found.against_equal.estimate).sum::<f64>() / n;
            let apparent =
                found.iter().map(|found| found.apparent_error - found.equal_error).sum::<f64>() / n;
            let pays =
                outcomes.iter().filter(|(interval, _)| interval.high < 0.0).count() as f64 / n;
            println!(
                "    difference {truth:.3}, cross-validated {estimate:.3}, apparent {apparent:.3}; said to pay in {pays:.3}"
            );
        }
    }
}
