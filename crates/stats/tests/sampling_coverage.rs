//! Estimates from outputs judged with known, unequal probabilities, by simulation: bias, and how often intervals cover.
//!
//! `FULLBENCH_SIMULATIONS` sets the number of simulated populations in each row; with `--nocapture` the table is printed.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use fullbench_stats::sampling::{
    PairedWeightedCluster, PairedWeightedSums, Target, WeightedCluster, WeightedSums,
    WeightedValues,
};
use fullbench_stats::{Interval, Moments, mean_interval, normal_quantile, random_stream};
use rand::RngExt;
use rand_distr::StandardNormal;
use rand_pcg::Pcg64;
use rayon::prelude::*;

const SEED: u64 = 20_261_116;
const CASES: usize = 10_000;
/// The share of cases that fail a programmatic check.
const HARD_FAILS: f64 = 0.03;
/// Of those, the share of which the check is wrong.
const WRONGLY_FAILED: f64 = 0.1;
/// The share of outputs the fast judge sees, and of what it passes without doubt or confidence, the share that goes on.
const SAMPLED: f64 = 0.1;

/// A cascade and what it judges: programmatic checks, a fast judge on a sample, the last tier.
#[derive(Debug, Clone, Copy)]
struct Scenario {
    /// The last tier says yes or no, else one of five grades.
    binary: bool,
    /// How often the fast judge tells the better half from the worse.
    accuracy: f64,
    /// The share the last tier fails; of grades, a share like it of each low one.
    failing: f64,
    /// The share the fast judge fails or doubts.
    doubted: f64,
    /// The share it passes with confidence, which go on by audit only.
    confident: f64,
    /// The probability with which a short cut is audited.
    audit: f64,
}

/// An output: what the last tier would say, and the probability that it is asked.
type Output = (f64, f64);

impl Scenario {
    fn drawn_at_random(random: &mut Pcg64) -> Self {
        Self {
            binary: random.random_bool(0.5),
            accuracy: random.random_range(0.6..0.95),
            failing: random.random_range(0.05..0.35),
            doubted: random.random_range(0.03..0.08),
            confident: random.random_range(0.05..0.7),
            audit: 0.05,
        }
    }

    fn name(&self) -> String {
        let kind = if self.binary { "yes/no" } else { "grades" };
        format!(
            "{kind}, {:.0}% fail, fast judge right in {:.0}%, confident in {:.0}%, audit {}",
            self.failing * 100.0,
            self.accuracy * 100.0,
            self.confident * 100.0,
            self.audit
        )
    }

    fn population(&self, random: &mut Pcg64) -> Vec<Output> {
        let marks = Marks::of(self);
        (0..CASES).map(|_| marks.output(random)).collect()
    }
}

/// Where a scenario draws its lines on normal variables.
struct Marks {
    correlation: f64,
    grades: Vec<f64>,
    doubted: f64,
    confident: f64,
    audit: f64,
}

impl Marks {
    /// Quality decides what the last tier says, and what the fast judge sees of it is as good as its accuracy: for two
    /// normal variables with correlation ρ the better halves agree with probability ½ + arcsin(ρ)/π (Sheppard 1899).
    fn of(scenario: &Scenario) -> Self {
        let shares: &[f64] = if scenario.binary { &[1.0] } else { &[0.25, 0.5, 1.0, 2.5] };
        let at = |share: &f64| normal_quantile(share * scenario.failing).unwrap();
        Self {
            correlation: (std::f64::consts::PI * (scenario.accuracy - 0.5)).sin(),
            grades: shares.iter().map(at).collect(),
            doubted: normal_quantile(scenario.doubted).unwrap(),
            confident: normal_quantile(1.0 - scenario.confident).unwrap(),
            audit: scenario.audit,
        }
    }

    fn output(&self, random: &mut Pcg64) -> Output {
        let quality: f64 = random.sample(StandardNormal);
        let noise: f64 = random.sample(StandardNormal);
        let seen = self.correlation * quality + (1.0 - self.correlation.powi(2)).sqrt() * noise;
        let hard_fail = random.random_bool(HARD_FAILS);
        let rightly = !random.random_bool(WRONGLY_FAILED);
        let reached = self.grades.iter().filter(|&&mark| quality > mark).count();
        let grade = reached as f64 / self.grades.len() as f64;
        let value = if hard_fail && rightly { 0.0 } else { grade };
        let probability = match seen {
            _ if hard_fail => self.audit,
            seen if seen < self.doubted => SAMPLED,
            seen if seen > self.confident => SAMPLED * self.audit,
            _ => SAMPLED * SAMPLED,
        };
        (value, probability)
    }
}

fn rounds(short: u64) -> u64 {
    let given = std::env::var("FULLBENCH_SIMULATIONS").ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(short)
}

fn mean_of(population: &[Output]) -> f64 {
    population.iter().map(|(value, _)| value).sum::<f64>() / population.len() as f64
}

fn judged(random: &mut Pcg64, population: &[Output]) -> Vec<Output> {
    population.iter().copied().filter(|&(_, probability)| random.random_bool(probability)).collect()
}

fn sums(judged: &[Output]) -> WeightedSums {
    let mut sums = WeightedSums::default();
    judged.iter().for_each(|&(value, probability)| sums.add(value, probability).unwrap());
    sums
}

/// What one study found: estimate, interval, truth.
type Found = (f64, Option<Interval>, f64);

#[derive(Debug)]
struct Quality {
    /// Average error in its own standard errors.
    bias: f64,
    /// Average error in standard deviations of an estimate.
    relative_bias: f64,
    coverage: f64,
    width: f64,
}

/// Bias and coverage over many studies; a study without an interval does not cover.
fn quality(name: &str, found: &[Found]) -> Quality {
    let errors: Moments = found.iter().map(|(estimate, _, truth)| estimate - truth).collect();
    let covers = |(_, interval, truth): &&Found| {
        interval.is_some_and(|interval| (interval.low..=interval.high).contains(truth))
    };
    let widths: Moments = found
        .iter()
        .filter_map(|found| found.1)
        .map(|interval| interval.high - interval.low)
        .collect();
    let quality = Quality {
        bias: errors.mean().unwrap() / errors.standard_error().unwrap(),
        relative_bias: errors.mean().unwrap() / errors.variance().unwrap().sqrt(),
        coverage: found.iter().filter(covers).count() as f64 / found.len() as f64,
        width: widths.mean().unwrap_or(0.0),
    };
    println!(
        "| {name} | {:+.3} | {:.1}% | {:.3} |",
        quality.relative_bias,
        quality.coverage * 100.0,
        quality.width
    );
    quality
}

fn studies(stream: u64, rounds: u64, study: impl Fn(&mut Pcg64) -> Found + Sync) -> Vec<Found> {
    (0..rounds)
        .into_par_iter()
        .map(|round| study(&mut random_stream(SEED + stream, round)))
        .collect()
}

/// Asserts a share between two bounds, give or take three standard errors of the simulation.
#[track_caller]
fn within(name: &str, share: f64, low: f64, high: f64, rounds: u64) {
    let error = |bound: f64| 3.0 * (bound * (1.0 - bound) / rounds as f64).sqrt();
    assert!(share >= low - error(low), "{name}: {share} is below {low}");
    assert!(share <= high + error(high), "{name}: {share} is above {high}");
}

/// What the last tier would give on all cases, over populations of every kind: no bias, and 95% intervals that cover in 92–98%.
#[test]
fn the_weighted_mean_is_unbiased_and_its_interval_covers() {
    let rounds = rounds(4000);
    println!("| populations | bias | covers | width |");
    let found = studies(0, rounds, |random| {
        let population = Scenario::drawn_at_random(random).population(random);
        let sums = sums(&judged(random, &population));
        let interval = sums.score_interval(Target::ThisPopulation, 0.95);
        (sums.mean().unwrap(), interval.ok(), mean_of(&population))
    });
    let all = quality(&format!("{rounds} of every kind"), &found);
    assert!(all.bias.abs() < 2.0, "{all:?}");
    assert!((0.92..=0.98).contains(&all.coverage), "{all:?}");
    // A set of 200 is within two standard errors as often as one without bias is: 19 times of 20.
    let sets: Vec<Quality> =
        found.chunks_exact(200).map(|set| quality("a set of 200", set)).collect();
    let unbiased = sets.iter().filter(|set| set.bias.abs() < 2.0).count() as f64;
    let share = unbiased / sets.len().max(1) as f64;
    println!("{:.1}% of sets of 200 within two standard errors", share * 100.0);
    within("sets without bias", share, 0.954, 0.955, sets.len() as u64);
}

/// The plain mean of what was judged is that of the suspicious: far too low, and sure of it.
#[test]
fn the_plain_mean_of_judged_outputs_is_biased() {
    let rounds = rounds(4000);
    let found = studies(0, rounds, |random| {
        let population = Scenario::drawn_at_random(random).population(random);
        let plain: Moments = judged(random, &population).iter().map(|(value, _)| *value).collect();
        (plain.mean().unwrap(), mean_interval(&plain, 0.95).ok(), mean_of(&population))
    });
    let quality = quality("plain mean of the same", &found);
    assert!(quality.bias < -10.0 && quality.coverage < 0.2, "{quality:?}");
}

/// The same by kind of population, with the interval for any values beside that for values from 0 to 1.
#[test]
fn intervals_cover_for_each_kind_of_population() {
    let rounds = rounds(200);
    println!("| population, interval | bias | covers | width |");
    let mut stream = 0;
    for binary in [true, false] {
        for (accuracy, failing, confident, audit) in [
            (0.6, 0.05, 0.2, 0.05),
            (0.6, 0.15, 0.6, 0.05),
            (0.6, 0.35, 0.6, 0.05),
            (0.75, 0.05, 0.6, 0.05),
            (0.75, 0.15, 0.2, 0.05),
            (0.95, 0.05, 0.6, 0.05),
            (0.95, 0.15, 0.6, 0.05),
            (0.95, 0.35, 0.2, 0.05),
            (0.75, 0.15, 0.6, 0.2),
            (0.75, 0.15, 0.6, 0.01),
        ] {
            stream += 1;
            let scenario = Scenario { binary, accuracy, failing, doubted: 0.05, confident, audit };
            for (kind, low) in [("score", 0.92), ("t", 0.90)] {
                let name = format!("{}, {kind}", scenario.name());
                let found = studies(stream, rounds, |random| {
                    let population = scenario.population(random);
                    let sums = sums(&judged(random, &population));
                    let interval = match kind {
                        "score" => sums.score_interval(Target::ThisPopulation, 0.95),
                        _ => sums.interval(Target::ThisPopulation, 0.95),
                    };
                    (sums.mean().unwrap(), interval.ok(), mean_of(&population))
                });
                let quality = quality(&name, &found);
                // Three standard errors of the simulation, and a tenth of that of an estimate.
                let allowed = 3.0 + 0.1 * (rounds as f64).sqrt();
                assert!(quality.bias.abs() < allowed, "{name}: {quality:?}");
                within(&name, quality.coverage, low, 0.98, rounds);
            }
        }
    }
}

/// Groups of ten cases, alike within: the interval for other outputs covers the mean of all groups there could be when it knows of
/// them, and is far too narrow when it does not.
#[test]
fn intervals_for_other_outputs_cover_by_clusters() {
    let rounds = rounds(400);
    let groups = |random: &mut Pcg64| -> Vec<Vec<Output>> {
        let group = |random: &mut Pcg64| {
            let own: f64 = random.sample(StandardNormal);
            let output = |random: &mut Pcg64| {
                let noise: f64 = random.sample(StandardNormal);
                let value = f64::from(u8::from(own + noise > -1.0));
                (value, if noise < 0.0 { 0.8 } else { 0.2 })
            };
            (0..10).map(|_| output(random)).collect()
        };
        (0..150).map(|_| group(random)).collect()
    };
    let truth = fullbench_stats::normal_cdf(1.0 / std::f64::consts::SQRT_2);
    println!("| other outputs, 150 groups of 10 | bias | covers | width |");
    for (name, clustered, low, high) in
        [("groups known", true, 0.93, 0.97), ("groups ignored", false, 0.6, 0.85)]
    {
        let found = studies(100, rounds, |random| {
            let mut sums = WeightedSums::default();
            for group in groups(random) {
                let mut cluster = WeightedCluster::default();
                for (value, probability) in judged(random, &group) {
                    if clustered {
                        cluster.add(value, probability).unwrap();
                    } else {
                        sums.add(value, probability).unwrap();
                    }
                }
                sums.add_cluster(&cluster);
            }
            let interval = sums.score_interval(Target::OtherOutputs, 0.95);
            (sums.mean().unwrap(), interval.ok(), truth)
        });
        within(name, quality(name, &found).coverage, low, high, rounds);
    }
}

/// Two models on the same cases, each with its own cascade: draws of their own, and one draw for both.
#[test]
fn intervals_of_differences_cover() {
    let rounds = rounds(200);
    let marks = [0.7, 0.8].map(|share| normal_quantile(share).unwrap());
    println!("| difference of two models | bias | covers | width |");
    for (stream, shared, target) in [
        (200, false, Target::ThisPopulation),
        (201, true, Target::ThisPopulation),
        (202, false, Target::OtherOutputs),
        (203, true, Target::OtherOutputs),
    ] {
        let name = format!("{} draw, {target:?}", if shared { "one" } else { "each its own" });
        let found = studies(stream, rounds, |random| {
            let mut sums = PairedWeightedSums::default();
            let (mut first, mut second) = (0.0, 0.0);
            for _ in 0..CASES {
                let (one, other) = pair(random, marks);
                first += one.0;
                second += other.0;
                let draw: f64 = random.random();
                let again = if shared { draw } else { random.random() };
                let both = if shared { one.1.min(other.1) } else { one.1 * other.1 };
                let mut case = PairedWeightedCluster::default();
                match (draw < one.1, again < other.1) {
                    (true, true) => case.add_both(one, other, both).unwrap(),
                    (true, false) => case.add_first(one.0, one.1).unwrap(),
                    (false, true) => case.add_second(other.0, other.1).unwrap(),
                    (false, false) => continue,
                }
                sums.add_cluster(&case);
            }
            let found = sums.difference(target, 0.95).unwrap();
            let truth = match target {
                Target::ThisPopulation => (second - first) / CASES as f64,
                Target::OtherOutputs => 0.8 - 0.7,
            };
            (found.estimate, Some(found.interval), truth)
        });
        let quality = quality(&name, &found);
        assert!(quality.bias.abs() < 3.0, "{name}: {quality:?}");
        within(&name, quality.coverage, 0.935, 0.965, rounds);
    }
}

/// Two outputs for one case: 70% and 80% pass, and a fast judge doubts some of each.
fn pair(random: &mut Pcg64, marks: [f64; 2]) -> (Output, Output) {
    let case: f64 = random.sample(StandardNormal);
    let half = 0.5_f64.sqrt();
    let mut side = |mark: f64| {
        let own: f64 = random.sample(StandardNormal);
        let quality = half * case + half * own;
        let noise: f64 = random.sample(StandardNormal);
        let value = f64::from(u8::from(quality < mark));
        (value, if quality + noise > 1.0 { 0.1 } else { 0.02 })
    };
    (side(marks[0]), side(marks[1]))
}

#[test]
fn intervals_of_quantiles_cover() {
    let rounds = rounds(200);
    println!("| quantile of what judging costs | bias | covers | width |");
    for (stream, p) in [(300, 0.5), (301, 0.9)] {
        let found = studies(stream, rounds, |random| {
            let mut values = WeightedValues::default();
            let mut all = Vec::with_capacity(CASES);
            for _ in 0..CASES {
                let size: f64 = random.sample(StandardNormal);
                let (cost, probability) = (size.exp(), if size > 0.5 { 0.1 } else { 0.02 });
                all.push(cost);
                if random.random_bool(probability) {
                    values.add(cost, probability).unwrap();
                }
            }
            let interval = values.quantile_interval(p, Target::ThisPopulation, 0.95).unwrap();
            let truth = fullbench_stats::quantile(&all, p).unwrap();
            (values.quantile(p).unwrap(), Some(interval), truth)
        });
        let quality = quality(&format!("{p}"), &found);
        within("quantile", quality.coverage, 0.935, 0.97, rounds);
    }
}
