//! How often intervals cover, tests err and plans find, by simulation.
//!
//! FULLBENCH_SIMULATIONS sets the number of studies in each row; `--nocapture` shows the table.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use fullbench_stats::compare::{
    Design, clustered_paired_t, mann_whitney, mcnemar_exact, mcnemar_pairs_needed, mcnemar_power,
    paired_bootstrap, paired_t, permutation_test, proportion_sample_size, sign_flip_test,
    two_proportion_z, welch_t, wilcoxon,
};
use fullbench_stats::{
    Bootstrap, BootstrapMethod, Interval, Moments, Undefined, clopper_pearson_interval,
    clustered_mean, mean_interval, random_stream, wilson_interval,
};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, Exp1, StandardNormal};
use rayon::prelude::*;

const ALPHA: f64 = 0.05;

fn rounds() -> u64 {
    std::env::var("FULLBENCH_SIMULATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(300)
}

/// The share of simulated studies in which something happened, which must lie within the bounds up to four standard errors
/// of the simulation. A study on which the number is undefined counts as one in which nothing happened.
fn share(name: &str, seed: u64, low: f64, high: f64, study: impl Fn(u64) -> Option<bool> + Sync) {
    let rounds = rounds();
    let happened =
        (0..rounds).into_par_iter().filter(|round| study(seed << 32 | round) == Some(true));
    let share = happened.count() as f64 / rounds as f64;
    let error = |p: f64| 4.0 * (p * (1.0 - p) / rounds as f64).sqrt();
    println!("| {name} | {share:.3} | {low:.3}–{high:.3} |");
    assert!(share >= low - error(low) && share <= high + error(high), "{name}: {share}");
}

fn stream(study: u64) -> impl Rng {
    random_stream(20_240, study)
}

fn normal(random: &mut impl Rng, n: usize, mean: f64, deviation: f64) -> Vec<f64> {
    (0..n)
        .map(|_| {
            let z: f64 = StandardNormal.sample(random);
            mean + deviation * z
        })
        .collect()
}

fn skewed(random: &mut impl Rng, n: usize) -> Vec<f64> {
    (0..n).map(|_| Exp1.sample(random)).collect()
}

fn successes(random: &mut impl Rng, n: u64, rate: f64) -> u64 {
    (0..n).filter(|_| random.random_bool(rate)).count() as u64
}

/// Values around `mean` of total variance 1, of which `share` is between clusters of one to `2·size − 1` values.
fn clustered(
    random: &mut impl Rng,
    clusters: u32,
    size: usize,
    equal: bool,
    mean: f64,
    share: f64,
) -> (Vec<f64>, Vec<u32>) {
    let (mut values, mut ids) = (Vec::new(), Vec::new());
    for cluster in 0..clusters {
        let count = if equal { size } else { random.random_range(1..2 * size) };
        let own = normal(random, 1, mean, share.sqrt())[0];
        values.extend(normal(random, count, own, (1.0 - share).sqrt()));
        ids.extend(vec![cluster; count]);
    }
    (values, ids)
}

fn covers(interval: Result<Interval, Undefined>, truth: f64) -> Option<bool> {
    interval.ok().map(|interval| interval.low <= truth && truth <= interval.high)
}

fn mean_of(values: &[f64]) -> impl Fn(&[usize]) -> Result<f64, Undefined> + Sync {
    |drawn| Ok(drawn.iter().map(|&index| values[index]).sum::<f64>() / drawn.len() as f64)
}

#[test]
fn intervals_cover() {
    println!("| 95% interval | covers | expected |");
    share("t, 10 normal values", 1, 0.95, 0.95, |study| {
        let moments: Moments = normal(&mut stream(study), 10, 3.0, 2.0).into_iter().collect();
        covers(mean_interval(&moments, 0.95), 3.0)
    });
    share("t, 60 skewed values", 2, 0.92, 0.95, |study| {
        let moments: Moments = skewed(&mut stream(study), 60).into_iter().collect();
        covers(mean_interval(&moments, 0.95), 1.0)
    });
    share("Wilson, 40 yes/no, rates 5–95%", 3, 0.94, 0.96, |study| {
        let mut random = stream(study);
        let rate = random.random_range(0.05..0.95);
        covers(wilson_interval(successes(&mut random, 40, rate), 40, 0.95), rate)
    });
    share("Clopper–Pearson, the same", 4, 0.95, 0.985, |study| {
        let mut random = stream(study);
        let rate = random.random_range(0.05..0.95);
        covers(clopper_pearson_interval(successes(&mut random, 40, rate), 40, 0.95), rate)
    });
    for (name, seed, method, low) in [
        ("percentile bootstrap, 60 skewed values", 5, BootstrapMethod::Percentile, 0.91),
        ("BCa bootstrap, 60 skewed values", 6, BootstrapMethod::Bca, 0.92),
    ] {
        share(name, seed, low, 0.955, |study| {
            let values = skewed(&mut stream(study), 60);
            let bootstrap = Bootstrap { method, rounds: 1000, confidence: 0.95, seed: study };
            covers(bootstrap.interval(60, mean_of(&values)).map(|found| found.interval), 1.0)
        });
    }
    share("t, 200 values in 40 clusters, clusters ignored", 7, 0.70, 0.85, |study| {
        let (values, _) = clustered(&mut stream(study), 40, 5, false, 0.5, 0.3);
        covers(mean_interval(&values.into_iter().collect(), 0.95), 0.5)
    });
    share("clustered t, the same", 8, 0.93, 0.955, |study| {
        let (values, ids) = clustered(&mut stream(study), 40, 5, false, 0.5, 0.3);
        covers(clustered_mean(&values, &ids).and_then(|mean| mean.interval(0.95)), 0.5)
    });
    share("cluster bootstrap (percentile), the same", 9, 0.92, 0.955, |study| {
        let (values, ids) = clustered(&mut stream(study), 40, 5, false, 0.5, 0.3);
        let method = BootstrapMethod::Percentile;
        let bootstrap = Bootstrap { method, rounds: 1000, confidence: 0.95, seed: study };
        let found = bootstrap.clustered_interval(&ids, mean_of(&values));
        covers(found.map(|found| found.interval), 0.5)
    });
}

#[test]
fn tests_keep_their_level() {
    println!("| test at 5%, no difference | rejects | expected |");
    let rejects = |p: Result<f64, Undefined>| p.ok().map(|p| p <= ALPHA);
    share("Welch, 10 against 30 values, deviations 3 and 1", 21, 0.045, 0.055, |study| {
        let mut random = stream(study);
        let (a, b) = (normal(&mut random, 10, 0.0, 3.0), normal(&mut random, 30, 0.0, 1.0));
        rejects(welch_t(&a, &b, 0.95).map(|test| test.p_value))
    });
    let pairs = |study: u64, n: usize| {
        let mut random = stream(study);
        let before = normal(&mut random, n, 0.0, 2.0);
        let noise = normal(&mut random, n, 0.0, 1.0);
        let after: Vec<f64> = before.iter().zip(noise).map(|(value, off)| value + off).collect();
        (before, after)
    };
    share("paired t, 12 pairs", 22, 0.05, 0.05, |study| {
        let (before, after) = pairs(study, 12);
        rejects(paired_t(&before, &after, 0.95).map(|test| test.p_value))
    });
    share("clustered paired t, 40 clusters", 23, 0.045, 0.07, |study| {
        let (after, ids) = clustered(&mut stream(study), 40, 5, false, 0.0, 0.3);
        let before = vec![0.0; after.len()];
        rejects(clustered_paired_t(&before, &after, &ids, 0.95).map(|test| test.p_value))
    });
    share("McNemar exact, 100 pairs, 20% changed", 24, 0.0, 0.05, |study| {
        let mut random = stream(study);
        let changed = successes(&mut random, 100, 0.2);
        let fixed = successes(&mut random, changed, 0.5);
        rejects(mcnemar_exact(fixed, changed - fixed))
    });
    share("Wilcoxon, 15 pairs", 25, 0.035, 0.05, |study| {
        let (before, after) = pairs(study, 15);
        rejects(wilcoxon(&before, &after).map(|test| test.p_value))
    });
    share("Mann–Whitney, 20 against 25 skewed values", 26, 0.04, 0.055, |study| {
        let mut random = stream(study);
        let (a, b) = (skewed(&mut random, 20), skewed(&mut random, 25));
        rejects(mann_whitney(&a, &b).map(|test| test.p_value))
    });
    share("permutation, 8 against 12 skewed values", 27, 0.035, 0.05, |study| {
        let mut random = stream(study);
        let (a, b) = (skewed(&mut random, 8), skewed(&mut random, 12));
        rejects(permutation_test(&a, &b, 999, study).map(|test| test.p_value))
    });
    share("sign flips, 20 pairs", 28, 0.035, 0.05, |study| {
        let (before, after) = pairs(study, 20);
        rejects(sign_flip_test(&before, &after, 999, study).map(|test| test.p_value))
    });
    share("paired bootstrap, 50 pairs", 29, 0.045, 0.07, |study| {
        let (before, after) = pairs(study, 50);
        let bootstrap = Bootstrap { rounds: 1000, seed: study, ..Bootstrap::default() };
        rejects(paired_bootstrap(&before, &after, None, &bootstrap).map(|test| test.p_value))
    });
}

/// The study is as large as the formula says for a power of 0.8, rounded up, and so is its bound.
#[test]
fn plans_find_what_they_promise() {
    println!("| plan for a power of 0.8 | finds | expected |");
    let finds = |p: Result<f64, Undefined>| p.ok().map(|p| p <= ALPHA);
    let independent = Design::Independent { standard_deviation: 2.0, ratio: 1.0 };
    let n = independent.units_needed(1.0, ALPHA, 0.8).unwrap().ceil();
    let promised = independent.power(n, 1.0, ALPHA).unwrap();
    let name = format!("independent, {n} on each side");
    share(&name, 41, promised - 0.002, promised + 0.002, |study| {
        let mut random = stream(study);
        let (a, b) =
            (normal(&mut random, n as usize, 0.0, 2.0), normal(&mut random, n as usize, 1.0, 2.0));
        finds(welch_t(&a, &b, 0.95).map(|test| test.p_value))
    });
    let paired = Design::Paired { standard_deviation: 1.0 };
    let n = paired.units_needed(0.5, ALPHA, 0.8).unwrap().ceil();
    let promised = paired.power(n, 0.5, ALPHA).unwrap();
    share(&format!("paired, {n} pairs"), 42, promised, promised, |study| {
        let after = normal(&mut stream(study), n as usize, 0.5, 1.0);
        finds(paired_t(&vec![0.0; n as usize], &after, 0.95).map(|test| test.p_value))
    });
    let in_clusters = Design::Clustered {
        standard_deviation: 1.0,
        cluster_size: 5.0,
        size_variation: 0.0,
        intra_cluster_correlation: 0.3,
    };
    let n = in_clusters.units_needed(0.3, ALPHA, 0.8).unwrap().ceil();
    let promised = in_clusters.power(n, 0.3, ALPHA).unwrap();
    share(&format!("clustered, {n} clusters of 5"), 43, promised, promised, |study| {
        let (after, ids) = clustered(&mut stream(study), n as u32, 5, true, 0.3, 0.3);
        let before = vec![0.0; after.len()];
        finds(clustered_paired_t(&before, &after, &ids, 0.95).map(|test| test.p_value))
    });
    let n = mcnemar_pairs_needed(0.15, 0.08, ALPHA, 0.8).unwrap();
    let promised = mcnemar_power(n, 0.15, 0.08, ALPHA).unwrap();
    share(&format!("yes/no, {n} pairs, 15% changed"), 45, promised, promised, |study| {
        let mut random = stream(study);
        let changed = successes(&mut random, n, 0.15);
        let fixed = successes(&mut random, changed, 0.23 / 0.3);
        finds(mcnemar_exact(fixed, changed - fixed))
    });
    let n = proportion_sample_size(0.7, 0.8, 1.0, ALPHA, 0.8).unwrap().ceil();
    share(&format!("rates of 70% and 80%, {n} on each side"), 44, 0.79, 0.81, |study| {
        let mut random = stream(study);
        let n = n as u64;
        let (first, second) = (successes(&mut random, n, 0.7), successes(&mut random, n, 0.8));
        finds(two_proportion_z((first, n), (second, n)).map(|test| test.p_value))
    });
}
