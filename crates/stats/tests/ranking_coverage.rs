//! How often intervals of ratings, differences and ranks hold the truth, by simulation with fixed seeds.
//!
//! `FULLBENCH_SIMULATIONS` sets the number of simulated tournaments; the table is printed with `--nocapture`.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use fullbench_stats::random_stream;
use fullbench_stats::ranking::{
    Battles, BradleyTerry, BradleyTerryOptions, Covariance, Outcome, RankAdjustment, Ties,
    bradley_terry,
};
use rand::{Rng, RngExt};
use rayon::prelude::*;

const CONFIDENCE: f64 = 0.95;
const BOOTSTRAP: usize = 200;

fn simulations() -> u64 {
    std::env::var("FULLBENCH_SIMULATIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(200)
}

#[derive(Default)]
struct Duels {
    first: Vec<u32>,
    second: Vec<u32>,
    outcomes: Vec<Outcome>,
    groups: Vec<u32>,
}

impl Duels {
    fn push(&mut self, pair: (u32, u32), outcome: Outcome, group: usize) {
        self.first.push(pair.0);
        self.second.push(pair.1);
        self.outcomes.push(outcome);
        self.groups.push(group as u32);
    }

    fn fit(&self, players: usize, grouped: bool, options: &BradleyTerryOptions) -> BradleyTerry {
        let battles = Battles {
            players,
            first: &self.first,
            second: &self.second,
            outcomes: &self.outcomes,
            groups: grouped.then_some(&self.groups),
            ..Battles::default()
        };
        bradley_terry(&battles, options).unwrap()
    }
}

fn pair(players: usize, random: &mut impl Rng) -> (u32, u32) {
    let first = random.random_range(0..players as u32);
    (first, (first + random.random_range(1..players as u32)) % players as u32)
}

fn outcome(strengths: &[f64], (first, second): (u32, u32), random: &mut impl Rng) -> Outcome {
    let lead = strengths[first as usize] - strengths[second as usize];
    if random.random::<f64>() < 1.0 / (1.0 + (-lead).exp()) {
        Outcome::FirstWins
    } else {
        Outcome::SecondWins
    }
}

fn with(covariance: Covariance) -> BradleyTerryOptions {
    BradleyTerryOptions { covariance, ..BradleyTerryOptions::default() }
}

fn bootstrap(seed: u64) -> Covariance {
    Covariance::Bootstrap { rounds: BOOTSTRAP, seed }
}

/// The share of ratings and of differences whose interval holds the truth.
fn covered(fit: &BradleyTerry, strengths: &[f64]) -> [f64; 2] {
    let mean = strengths.iter().sum::<f64>() / strengths.len() as f64;
    let (mut ratings, mut differences, mut pairs) = (0.0, 0.0, 0.0);
    for player in 0..strengths.len() {
        let interval = fit.rating(player, CONFIDENCE).unwrap().interval;
        let truth = strengths[player] - mean;
        ratings += f64::from(u8::from(interval.low <= truth && truth <= interval.high));
        for other in 0..player {
            let found = fit.difference(player, other, CONFIDENCE).unwrap().difference.interval;
            let truth = strengths[player] - strengths[other];
            differences += f64::from(u8::from(found.low <= truth && truth <= found.high));
            pairs += 1.0;
        }
    }
    [ratings / strengths.len() as f64, differences / pairs]
}

/// The mean of shares over all simulations, side by side.
fn simulated<const N: usize>(of: impl Fn(u64) -> [f64; N] + Send + Sync) -> [f64; N] {
    let shares: Vec<[f64; N]> = (0..simulations()).into_par_iter().map(of).collect();
    let mut mean = [0.0; N];
    for share in &shares {
        mean.iter_mut().zip(share).for_each(|(mean, share)| *mean += share / shares.len() as f64);
    }
    mean
}

/// Four standard errors of a share near 95%.
fn noise() -> f64 {
    4.0 * (0.05 * 0.95 / simulations() as f64).sqrt()
}

#[track_caller]
fn assert_nominal(name: &str, coverage: f64) {
    println!("{name:<52} {:5.1}%", 100.0 * coverage);
    assert!((0.93 - noise()..=0.97 + noise()).contains(&coverage), "{name}: {coverage}");
}

const STRENGTHS: [f64; 6] = [0.9, 0.5, 0.2, -0.1, -0.5, -1.0];

#[test]
fn intervals_of_independent_duels_cover() {
    let coverage = simulated(|seed| {
        let mut random = random_stream(1, seed);
        let mut duels = Duels::default();
        for index in 0..400 {
            let pair = pair(6, &mut random);
            duels.push(pair, outcome(&STRENGTHS, pair, &mut random), index);
        }
        let of = |covariance| covered(&duels.fit(6, false, &with(covariance)), &STRENGTHS);
        let (hessian, sandwich) = (of(Covariance::Hessian), of(Covariance::Sandwich));
        let resampled = of(bootstrap(seed));
        [hessian[0], hessian[1], sandwich[0], sandwich[1], resampled[0], resampled[1]]
    });
    for (method, pair) in ["hessian", "sandwich", "bootstrap"].iter().zip(coverage.chunks(2)) {
        assert_nominal(&format!("independent, ratings, {method}"), pair[0]);
        assert_nominal(&format!("independent, differences, {method}"), pair[1]);
    }
}

/// Davidson's model on duels that follow it.
#[test]
fn intervals_after_davidson_cover() {
    let tie = 0.8_f64;
    let coverage = simulated(|seed| {
        let mut random = random_stream(2, seed);
        let mut duels = Duels::default();
        for index in 0..400 {
            let pair = pair(6, &mut random);
            let lead = STRENGTHS[pair.0 as usize] - STRENGTHS[pair.1 as usize];
            let (win, lose) = ((0.5 * lead).exp(), (-0.5 * lead).exp());
            let drawn = random.random::<f64>() * (win + lose + tie);
            let outcome = if drawn < win {
                Outcome::FirstWins
            } else if drawn < win + lose {
                Outcome::SecondWins
            } else {
                Outcome::Tie
            };
            duels.push(pair, outcome, index);
        }
        let options = with(Covariance::Sandwich);
        let options = BradleyTerryOptions { ties: Ties::Davidson, ..options };
        covered(&duels.fit(6, false, &options), &STRENGTHS)
    });
    assert_nominal("Davidson, ratings, sandwich", coverage[0]);
    assert_nominal("Davidson, differences, sandwich", coverage[1]);
}

/// A judge sees one pair four times, in both orders, and mostly repeats itself: 150 judgements, 600 duels.
#[test]
fn grouped_duels_need_grouped_intervals() {
    let coverage = simulated(|seed| {
        let mut random = random_stream(3, seed);
        let mut duels = Duels::default();
        for group in 0..150 {
            let (first, second) = pair(6, &mut random);
            let opinion = outcome(&STRENGTHS, (first, second), &mut random);
            for repetition in 0..4 {
                let judgement = if random.random::<f64>() < 0.7 {
                    opinion
                } else {
                    outcome(&STRENGTHS, (first, second), &mut random)
                };
                let turned = match judgement {
                    Outcome::FirstWins => Outcome::SecondWins,
                    _ => Outcome::FirstWins,
                };
                if repetition % 2 == 0 {
                    duels.push((first, second), judgement, group);
                } else {
                    duels.push((second, first), turned, group);
                }
            }
        }
        let of =
            |grouped, covariance| covered(&duels.fit(6, grouped, &with(covariance)), &STRENGTHS);
        let naive = of(false, Covariance::Sandwich);
        let (cluster, resampled) = (of(true, Covariance::Cluster), of(true, bootstrap(seed)));
        [naive[0], naive[1], cluster[0], cluster[1], resampled[0], resampled[1]]
    });
    println!("grouped, ratings, sandwich that ignores groups        {:5.1}%", 100.0 * coverage[0]);
    println!("grouped, differences, sandwich that ignores groups    {:5.1}%", 100.0 * coverage[1]);
    assert!(coverage[0] < 0.88 && coverage[1] < 0.88, "{coverage:?}");
    assert_nominal("grouped, ratings, cluster", coverage[2]);
    assert_nominal("grouped, differences, cluster", coverage[3]);
    assert_nominal("grouped, ratings, bootstrap of groups", coverage[4]);
    assert_nominal("grouped, differences, bootstrap of groups", coverage[5]);
}

/// All ranks at once, of ten models of which several are equal: no range may exclude a rank that is right.
#[test]
fn ranges_of_ranks_hold_all_at_once() {
    let strengths = [1.0, 0.6, 0.6, 0.3, 0.0, 0.0, 0.0, -0.4, -0.4, -1.2];
    let right = |fit: &BradleyTerry, ranges: Vec<fullbench_stats::ranking::RankRange>| {
        let held = (0..fit.players()).all(|player| {
            let own = strengths[player];
            let better = strengths.iter().filter(|other| **other > own).count();
            let worse = strengths.iter().filter(|other| **other < own).count();
            ranges[player].best <= 1 + better && ranges[player].worst >= fit.players() - worse
        });
        f64::from(u8::from(held))
    };
    let coverage = simulated(|seed| {
        let mut random = random_stream(4, seed);
        let mut duels = Duels::default();
        for index in 0..1500 {
            let pair = pair(10, &mut random);
            duels.push(pair, outcome(&strengths, pair, &mut random), index);
        }
        let fit = duels.fit(10, false, &with(bootstrap(seed)));
        [
            right(&fit, fit.ranks(CONFIDENCE, RankAdjustment::Holm).unwrap()),
            right(&fit, fit.ranks(CONFIDENCE, RankAdjustment::None).unwrap()),
            right(&fit, fit.resampled_ranks(CONFIDENCE).unwrap().unwrap()),
        ]
    });
    for (name, share) in
        ["Holm", "each pair alone", "percentiles of resampled ranks"].iter().zip(coverage)
    {
        println!("all ranks at once, {name:<33} {:5.1}%", 100.0 * share);
    }
    assert!(coverage[0] >= 0.95 - noise(), "{coverage:?}");
    assert!(coverage[1] < 0.9, "{coverage:?}");
}
