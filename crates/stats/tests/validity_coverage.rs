//! Coverage by simulation: how often 95% intervals contain the truth.
//!
//! `FULLBENCH_SIMULATIONS` sets the number of simulated studies; with `--nocapture` the table is printed.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use fullbench_stats::validity::{
    Coefficient, JudgedRates, PartlyLabelled, Resampled, Resampling, clustered_interval, correlate,
    group_correlation, prediction_powered_difference, prediction_powered_mean, rogan_gladen,
    system_correlations,
};
use fullbench_stats::{Interval, random_stream};
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

/// The share of rounds whose interval covers the truth, and how many had none.
fn coverage(
    name: &str,
    stream: u64,
    rounds: u64,
    round: impl Fn(&mut Pcg64) -> Option<(Interval, f64)> + Sync,
) -> f64 {
    let outcomes: Vec<Option<bool>> = (0..rounds)
        .into_par_iter()
        .map(|index| {
            let mut random = random_stream(SEED + stream, index);
            round(&mut random)
                .map(|(interval, truth)| interval.low <= truth && truth <= interval.high)
        })
        .collect();
    let defined = outcomes.iter().flatten().count();
    let covered = outcomes.iter().flatten().filter(|covered| **covered).count();
    let share = covered as f64 / defined as f64;
    let undefined = outcomes.len() - defined;
    println!(
        "{name:<64} {:>6.1}%  {rounds:>7} rounds, {undefined} without interval",
        share * 100.0
    );
    share
}

/// Asserts a share between two bounds, give or take four standard errors of the simulation.
#[track_caller]
fn within(share: f64, low: f64, high: f64, rounds: u64) {
    let error = |bound: f64| 4.0 * (bound * (1.0 - bound) / rounds as f64).sqrt();
    assert!(share >= low - error(low), "{share} is below {low}");
    assert!(share <= high + error(high), "{share} is above {high}");
}

/// A pair with a correlation; on a scale of five steps where asked.
fn pair(random: &mut Pcg64, correlation: f64, steps: bool) -> (f64, f64) {
    let x = normal(random);
    let y = correlation * x + (1.0 - correlation * correlation).sqrt() * normal(random);
    let step = |value: f64| (value + 3.0).round().clamp(1.0, 5.0);
    if steps { (step(x), step(y)) } else { (x, y) }
}

/// The value in the population: exact for normal pairs, of a large sample for steps.
fn truth(coefficient: Coefficient, correlation: f64, steps: bool) -> f64 {
    if steps {
        let mut random = random_stream(SEED, u64::MAX);
        let (x, y): (Vec<f64>, Vec<f64>) =
            (0..100_000).map(|_| pair(&mut random, correlation, true)).unzip();
        return fullbench_stats::validity::correlation(coefficient, &x, &y).unwrap();
    }
    match coefficient {
        Coefficient::Pearson => correlation,
        Coefficient::Spearman => 6.0 / std::f64::consts::PI * (correlation / 2.0).asin(),
        Coefficient::Kendall => 2.0 / std::f64::consts::PI * correlation.asin(),
    }
}

#[test]
fn correlations_cover_the_truth() {
    let rounds = rounds();
    let mut stream = 0;
    for steps in [false, true] {
        for correlation in [0.0, 0.5, 0.8] {
            for coefficient in Coefficient::ALL {
                let truth = truth(coefficient, correlation, steps);
                for n in [10, 20, 50, 200] {
                    stream += 1;
                    let kind = if steps { "five steps" } else { "normal" };
                    let name = format!("{coefficient:?} of {n} {kind} pairs, rho {correlation}");
                    let share = coverage(&name, stream, rounds, |random| {
                        let (x, y): (Vec<f64>, Vec<f64>) =
                            (0..n).map(|_| pair(random, correlation, steps)).unzip();
                        let found = correlate(coefficient, &x, &y, 0.95).ok()?;
                        Some((found.interval.ok()?, truth))
                    });
                    if n >= 50 {
                        within(share, 0.93, 0.97, rounds);
                    } else {
                        within(share, 0.88, 0.99, rounds);
                    }
                }
            }
        }
    }
}

/// Four answers to each question share its difficulty.
fn clustered_study(random: &mut Pcg64, clusters: usize) -> (Vec<f64>, Vec<f64>, Vec<u32>) {
    let (mut x, mut y, mut codes) = (Vec::new(), Vec::new(), Vec::new());
    for cluster in 0..clusters as u32 {
        let (a, b) = pair(random, 0.5, false);
        for _ in 0..4 {
            let (c, d) = pair(random, 0.5, false);
            x.push(a + c);
            y.push(b + d);
            codes.push(cluster);
        }
    }
    (x, y, codes)
}

#[test]
fn clustered_and_grouped_correlations_cover_the_truth() {
    let rounds = rounds();
    for (index, coefficient) in Coefficient::ALL.into_iter().enumerate() {
        // The sum of two normal pairs with correlation 0.5 has it too.
        let truth = truth(coefficient, 0.5, false);
        for clusters in [20, 50] {
            let stream = 1000 + 10 * index as u64 + clusters as u64;
            let name = format!("{coefficient:?} of {clusters} questions with 4 answers, clustered");
            let share = coverage(&name, stream, rounds, |random| {
                let (x, y, codes) = clustered_study(random, clusters);
                let found = clustered_interval(coefficient, &x, &y, &codes, 0.95);
                found.ok().map(|interval| (interval, truth))
            });
            within(share, if clusters < 50 { 0.90 } else { 0.92 }, 0.97, rounds);
            let name = format!("{coefficient:?} of the same, as if independent");
            coverage(&name, stream, rounds, |random| {
                let (x, y, _) = clustered_study(random, clusters);
                let found = correlate(coefficient, &x, &y, 0.95).ok()?;
                Some((found.interval.ok()?, truth))
            });
        }
    }
    // Inside groups of four, the mean of Kendall's tau is that of the population: it is unbiased.
    let truth = truth(Coefficient::Kendall, 0.5, false);
    for groups in [20, 100] {
        let name = format!("mean Kendall of {groups} groups of 4, bootstrap");
        let share = coverage(&name, 2000 + groups as u64, rounds, |random| {
            let (mut x, mut y, mut codes) = (Vec::new(), Vec::new(), Vec::new());
            for group in 0..groups {
                for _ in 0..4 {
                    let (a, b) = pair(random, 0.5, false);
                    x.push(a);
                    y.push(b);
                    codes.push(group);
                }
            }
            let resampling = Resampling { rounds: 400, ..Resampling::default() };
            let found = group_correlation(Coefficient::Kendall, &x, &y, &codes, &resampling);
            Some((found.ok()?.interval.ok()?, truth))
        });
        within(share, if groups < 100 { 0.90 } else { 0.93 }, 0.97, rounds);
    }
}

#[test]
fn system_correlations_cover_the_truth_roughly() {
    // Each round is a bootstrap of thousands of scores.
    let rounds = rounds() / 5;
    for systems in [6, 12, 30] {
        for coefficient in [Coefficient::Pearson, Coefficient::Kendall] {
            // With many items the means are the systems' own pairs.
            let truth = truth(coefficient, 0.8, false);
            let name = format!("{coefficient:?} of {systems} systems on 40 items, bootstrap");
            let stream = 3000 + u64::from(systems) + coefficient as u64;
            let share = coverage(&name, stream, rounds, |random| {
                let (mut x, mut y, mut codes, mut items) = (vec![], vec![], vec![], vec![]);
                for system in 0..systems {
                    let (a, b) = pair(random, 0.8, false);
                    for item in 0..40_u32 {
                        x.push(a + 0.3 * normal(random));
                        y.push(b + 0.3 * normal(random));
                        codes.push(system);
                        items.push(item);
                    }
                }
                let resampling = Resampling { rounds: 200, ..Resampling::default() };
                let found = system_correlations(
                    &[coefficient],
                    &x,
                    &y,
                    &codes,
                    &items,
                    Resampled::Both,
                    &resampling,
                );
                Some((found.ok()?.remove(0).ok()?.interval.ok()?, truth))
            });
            within(share, 0.80, 0.99, rounds);
        }
    }
}

/// Human scores of some items and judge scores of all; the population mean is `shift`.
fn judged(
    random: &mut Pcg64,
    labelled: usize,
    unlabelled: usize,
    quality: f64,
    shift: f64,
    binary: bool,
) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let (mut human, mut judge, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for index in 0..labelled + unlabelled {
        let (mut truth, mut score) = if binary {
            let truth = f64::from(u8::from(random.random_bool(shift)));
            let flip = random.random_bool(0.5 * (1.0 - quality));
            (truth, if flip { 1.0 - truth } else { truth })
        } else {
            pair(random, quality, false)
        };
        if !binary {
            truth += shift;
            // The judge is too generous by a lot.
            score += 2.0;
        }
        if index < labelled {
            human.push(truth);
            judge.push(score);
        } else {
            rest.push(score);
        }
    }
    (human, judge, rest)
}

#[test]
fn prediction_powered_means_cover_the_truth_and_are_never_much_wider() {
    let rounds = rounds();
    let mut stream = 4000;
    for (quality, binary) in [(0.0, false), (0.5, false), (0.9, false), (0.0, true), (0.8, true)] {
        for labelled in [20, 50, 200] {
            stream += 1;
            let kind = if binary { "yes/no" } else { "normal" };
            let name =
                format!("PPI++ mean, {labelled} {kind} labels of 2,000, judge quality {quality}");
            let study = |random: &mut Pcg64| {
                judged(random, labelled, 2000 - labelled, quality, 0.4, binary)
            };
            let share = coverage(&name, stream, rounds, |random| {
                let (human, judge, rest) = study(random);
                let found = prediction_powered_mean(&human, &judge, &rest, 0.95).ok()?;
                Some((found.interval, 0.4))
            });
            within(share, if labelled < 50 { 0.88 } else { 0.93 }, 0.97, rounds);
            let share = coverage("    the same by Student's t", stream, rounds, |random| {
                let (human, judge, rest) = study(random);
                let found = prediction_powered_mean(&human, &judge, &rest, 0.95).ok()?;
                Some((found.student_interval, 0.4))
            });
            within(share, if labelled < 50 { 0.91 } else { 0.93 }, 0.97, rounds);
            let ratios = (0..rounds).into_par_iter().filter_map(|index| {
                let (human, judge, rest) = study(&mut random_stream(SEED + stream, index));
                let found = prediction_powered_mean(&human, &judge, &rest, 0.95).ok()?;
                Some(found.variance_ratio.sqrt())
            });
            let ratios: Vec<f64> = ratios.collect();
            let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
            let widest = ratios.iter().copied().fold(0.0, f64::max);
            let wider = ratios.iter().filter(|ratio| **ratio > 1.05).count();
            let wider = wider as f64 / ratios.len() as f64;
            println!(
                "    width beside human labels alone: mean {mean:.3}, widest {widest:.3}, over 1.05 in {wider:.4}"
            );
            assert!(mean < 1.01, "{mean}");
            within(wider, 0.0, 0.01, rounds);
            if quality == 0.0 {
                assert!(mean > 0.95, "a useless judge cannot help: {mean}");
            }
            if quality >= 0.9 {
                assert!(mean < 0.60, "{mean}");
            }
        }
    }
}

#[test]
fn prediction_powered_differences_cover_the_truth() {
    let rounds = rounds();
    for (index, shared) in [false, true].into_iter().enumerate() {
        for labelled in [50, 200] {
            let kind = if shared { "common" } else { "different" };
            let name = format!("PPI++ difference, {labelled} labels of 1,000 {kind} items");
            let stream = 5000 + 10 * index as u64 + labelled as u64;
            let share = coverage(&name, stream, rounds, |random| {
                let difficulty: Vec<f64> = (0..1000).map(|_| normal(random)).collect();
                let mut side = |shift: f64, from: usize| {
                    let (mut judge, mut human) = (Vec::new(), Vec::new());
                    for (item, difficulty) in difficulty.iter().enumerate() {
                        let own = if shared { *difficulty } else { normal(random) };
                        let truth = own + shift + normal(random);
                        judge.push(truth + 1.0 + normal(random));
                        // Each system has its own labels, half of them in common.
                        let labelled = (from..from + labelled).contains(&item);
                        human.push(labelled.then_some(truth));
                    }
                    (judge, human)
                };
                let (first, second) = (side(0.3, 0), side(0.0, labelled / 2));
                let items: Vec<u32> = (0..1000).collect();
                let others: Vec<u32> = (0..1000).map(|item| item + 5000).collect();
                let found = prediction_powered_difference(
                    PartlyLabelled { items: &items, judge: &first.0, human: &first.1 },
                    PartlyLabelled {
                        items: if shared { &items } else { &others },
                        judge: &second.0,
                        human: &second.1,
                    },
                    0.95,
                );
                Some((found.ok()?.interval, 0.3))
            });
            within(share, 0.93, 0.97, rounds);
        }
    }
}

#[test]
fn rogan_gladen_covers_the_truth() {
    let rounds = rounds();
    let mut stream = 6000;
    for (sensitivity, specificity) in [(0.9, 0.8), (0.75, 0.7)] {
        for rate in [0.1, 0.5] {
            for labelled in [40, 100, 400] {
                stream += 1;
                let name = format!(
                    "Rogan–Gladen, rate {rate}, {labelled} labels, judge {sensitivity}/{specificity}"
                );
                let share = coverage(&name, stream, rounds, |random| {
                    let mut counts = JudgedRates {
                        human_yes: 0,
                        judge_yes_of_human_yes: 0,
                        human_no: 0,
                        judge_no_of_human_no: 0,
                        unlabelled: 0,
                        judge_yes_of_unlabelled: 0,
                    };
                    for index in 0..1000 {
                        let yes = random.random_bool(rate);
                        let right = random.random_bool(if yes { sensitivity } else { specificity });
                        let right = u64::from(right);
                        match (index < labelled, yes) {
                            (true, true) => {
                                counts.human_yes += 1;
                                counts.judge_yes_of_human_yes += right;
                            }
                            (true, false) => {
                                counts.human_no += 1;
                                counts.judge_no_of_human_no += right;
                            }
                            (false, yes) => {
                                counts.unlabelled += 1;
                                counts.judge_yes_of_unlabelled +=
                                    if yes { right } else { 1 - right };
                            }
                        }
                    }
                    rogan_gladen(&counts, 0.95).ok().map(|found| (found.interval, rate))
                });
                within(share, 0.93, 1.0, rounds);
            }
        }
    }
}
