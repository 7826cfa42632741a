//! How often experiments err, by simulation. `FULLBENCH_SIMULATIONS` sets the number of rounds; `--nocapture` shows the tables.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use fullbench_stats::compare::welch_t;
use fullbench_stats::experiment::{
    Arms, BetaPrior, ConfidenceSequence, Decision, GroupDesign, MixtureTest, NormalInverseGamma,
    Posterior, Rewards, Spending, alpha_spending, bayesian_means, bayesian_rates,
    confidence_sequence, group_sequential, mixture_test, o_brien_fleming, pocock, probability_best,
    thompson, top_two_thompson, ucb1,
};
use fullbench_stats::{Moments, random_stream};
use rand::RngExt;
use rand_distr::{Beta, Distribution, Gamma, StandardNormal};
use rayon::prelude::*;

const ALPHA: f64 = 0.05;
const DAYS: usize = 30;
const PER_DAY: usize = 30;
const SEED: u64 = 20_260_101;

fn rounds(default: u64) -> u64 {
    std::env::var("FULLBENCH_SIMULATIONS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

#[derive(Clone, Copy, Debug)]
enum Shape {
    Normal,
    /// Lognormal with log-deviation 1: skewness 6.2, as of costs and waiting times.
    Skewed,
}

impl Shape {
    fn values(self, count: usize, shift: f64, round: u64, arm: u64) -> Vec<f64> {
        let mut generator = random_stream(SEED + arm, round);
        let one = |_| {
            let z: f64 = StandardNormal.sample(&mut generator);
            match self {
                Self::Normal => z + shift,
                Self::Skewed => z.exp() + shift * 2.161_197,
            }
        };
        (0..count).map(one).collect()
    }
}

/// The look at which each method decided, counted from 1.
type Decided = Vec<Option<usize>>;

const METHODS: [&str; 8] = [
    "Welch at every look",
    "Welch once, at the end",
    "confidence sequence",
    "mixture SPRT",
    "O'Brien-Fleming",
    "Pocock",
    "spending, O'Brien-Fleming",
    "spending, Pocock",
];

fn designs(looks: usize) -> Vec<GroupDesign> {
    let fractions: Vec<f64> = (1..=looks).map(|look| look as f64 / looks as f64).collect();
    vec![
        o_brien_fleming(looks, ALPHA).unwrap(),
        pocock(looks, ALPHA).unwrap(),
        alpha_spending(Spending::OBrienFleming, &fractions, ALPHA).unwrap(),
        alpha_spending(Spending::Pocock, &fractions, ALPHA).unwrap(),
    ]
}

fn experiment(
    shape: Shape,
    looks: usize,
    shift: f64,
    round: u64,
    designs: &[GroupDesign],
) -> Decided {
    let control = shape.values(looks * PER_DAY, 0.0, round, 0);
    let treatment = shape.values(looks * PER_DAY, shift, round, 1);
    let slices: Vec<(&[f64], &[f64])> = (1..=looks)
        .map(|look| (&control[..look * PER_DAY], &treatment[..look * PER_DAY]))
        .collect();
    let mut arms = Vec::with_capacity(looks);
    let mut so_far = Arms::default();
    for look in 0..looks {
        let day = look * PER_DAY..(look + 1) * PER_DAY;
        control[day.clone()].iter().for_each(|value| so_far.control.add(*value));
        treatment[day].iter().for_each(|value| so_far.treatment.add(*value));
        arms.push(so_far);
    }
    let significant =
        |slice: &(&[f64], &[f64])| welch_t(slice.0, slice.1, 1.0 - ALPHA).unwrap().p_value < ALPHA;
    let first = |decisions: Vec<Decision>| {
        let decided =
            |each: &Decision| matches!(each, Decision::TreatmentBetter | Decision::TreatmentWorse);
        decisions.iter().position(decided).map(|look| look + 1)
    };
    let sequence = ConfidenceSequence::tuned(ALPHA, (2 * looks * PER_DAY) as f64).unwrap();
    let mixture = MixtureTest::new(ALPHA).unwrap();
    let mut decided = vec![
        slices.iter().position(significant).map(|look| look + 1),
        slices.last().filter(|slice| significant(slice)).map(|_| looks),
        first(confidence_sequence(&arms, &sequence, 30).iter().map(|look| look.decision).collect()),
        first(mixture_test(&arms, &mixture, 30).iter().map(|look| look.decision).collect()),
    ];
    for design in designs {
        let looks = group_sequential(design, &slices).unwrap();
        decided.push(first(looks.iter().map(|look| look.decision).collect()));
    }
    decided
}

/// How often each method decides, and when.
fn summary(
    shape: Shape,
    looks: usize,
    shift: f64,
    rounds: u64,
    designs: &[GroupDesign],
) -> Vec<(f64, f64)> {
    let all: Vec<Decided> = (0..rounds)
        .into_par_iter()
        .map(|round| experiment(shape, looks, shift, round, designs))
        .collect();
    (0..METHODS.len())
        .map(|method| {
            let looks: Vec<usize> = all.iter().filter_map(|decided| decided[method]).collect();
            let mean = looks.iter().sum::<usize>() as f64 / looks.len().max(1) as f64;
            (looks.len() as f64 / rounds as f64, mean)
        })
        .collect()
}

#[test]
fn looking_every_day_is_paid_for_by_tests_that_are_made_for_it() {
    let rounds = rounds(60);
    let noise = 4.0 * (ALPHA * (1.0 - ALPHA) / rounds as f64).sqrt();
    println!("A/A: {rounds} rounds, seed {SEED}, {PER_DAY} values an arm and look");
    let (fewer, daily) = (designs(20), designs(DAYS));
    for (shape, looks, designs) in
        [(Shape::Normal, 20, &fewer), (Shape::Normal, DAYS, &daily), (Shape::Skewed, DAYS, &daily)]
    {
        println!("{shape:?}, {looks} looks");
        let result = summary(shape, looks, 0.0, rounds, designs);
        for (method, (share, _)) in METHODS.iter().zip(&result) {
            println!("  {method:28} {:6.2}%", share * 100.0);
        }
        assert!(result[0].0 > 0.17, "{result:?}");
        for (share, _) in &result[1..] {
            assert!(*share < ALPHA + noise, "{result:?}");
        }
    }
    let shift = 0.2;
    println!("A/B: a difference of {shift} standard deviations, {DAYS} looks");
    let result = summary(Shape::Normal, DAYS, shift, rounds, &daily);
    for (method, (share, look)) in METHODS.iter().zip(&result) {
        println!("  {method:28} found {:5.1}%, on average at look {look:4.1}", share * 100.0);
    }
    assert!(result[2..].iter().all(|(share, _)| *share > 0.6), "{result:?}");
}

/// Looking after every single value, from 30 in each arm on.
#[test]
fn looking_at_every_value_is_allowed_where_it_says_so() {
    let rounds = rounds(120);
    let noise = 4.0 * (ALPHA * (1.0 - ALPHA) / rounds as f64).sqrt();
    let values = 1000;
    let sequence = ConfidenceSequence::tuned(ALPHA, 1000.0).unwrap();
    let mixture = MixtureTest::new(ALPHA).unwrap();
    println!("A/A: {rounds} rounds, seed {SEED}, a look at every value from 30 to {values} an arm");
    for shape in [Shape::Normal, Shape::Skewed] {
        let errs = |round: u64| {
            let control = shape.values(values, 0.0, round, 2);
            let treatment = shape.values(values, 0.0, round, 3);
            let mut so_far = Arms::default();
            let mut looks = Vec::with_capacity(values);
            for (first, second) in control.iter().zip(&treatment) {
                so_far.control.add(*first);
                so_far.treatment.add(*second);
                looks.push(so_far);
            }
            let last = |looks: Vec<fullbench_stats::experiment::Look>| {
                usize::from(looks.last().unwrap().decision != Decision::Continue)
            };
            let sequence = last(confidence_sequence(&looks, &sequence, 30));
            (sequence, last(mixture_test(&looks, &mixture, 30)))
        };
        let (first, second) = (0..rounds)
            .into_par_iter()
            .map(errs)
            .reduce(|| (0, 0), |one, other| (one.0 + other.0, one.1 + other.1));
        let share = |count: usize| count as f64 / rounds as f64;
        println!(
            "  {shape:?}: confidence sequence {:.2}%, mixture SPRT {:.2}%",
            share(first) * 100.0,
            share(second) * 100.0
        );
        assert!(share(first) < ALPHA + noise && share(second) < ALPHA + noise);
    }
}

/// When true values come from the prior, a 95% credible interval holds 95% of them.
#[test]
fn credible_intervals_hold_what_they_say() {
    let rounds = rounds(120) / 2;
    let noise = 4.0 * (ALPHA * (1.0 - ALPHA) / rounds as f64).sqrt();
    let prior = NormalInverseGamma { mean: 1.0, kappa: 0.5, alpha: 3.0, beta: 2.0 };
    let means = |round: u64| {
        let mut generator = random_stream(SEED + 4, round);
        let mut arm = || {
            let precision = Gamma::new(prior.alpha, 1.0 / prior.beta).unwrap();
            let deviation = f64::sqrt(1.0 / precision.sample(&mut generator));
            let mut normal = |mean: f64, deviation: f64| {
                let z: f64 = StandardNormal.sample(&mut generator);
                mean + deviation * z
            };
            let mean = normal(prior.mean, deviation / prior.kappa.sqrt());
            (mean, (0..8).map(|_| normal(mean, deviation)).collect::<Vec<f64>>())
        };
        let ((first, control), (second, treatment)) = (arm(), arm());
        let test = bayesian_means(&control, &treatment, &prior, ALPHA).unwrap();
        let weak =
            bayesian_means(&control, &treatment, &NormalInverseGamma::weak(), ALPHA).unwrap();
        let holds = |interval: fullbench_stats::Interval| {
            u64::from(interval.low <= second - first && second - first <= interval.high)
        };
        [holds(test.credible_interval), holds(weak.credible_interval)]
    };
    let rates = |round: u64| {
        let mut generator = random_stream(SEED + 5, round);
        let mut arm = || {
            let rate: f64 = Beta::new(1.0, 1.0).unwrap().sample(&mut generator);
            let successes = (0..30).filter(|_| generator.random::<f64>() < rate).count();
            (rate, (successes as u64, 30))
        };
        let ((first, control), (second, treatment)) = (arm(), arm());
        let test = bayesian_rates(control, treatment, &BetaPrior::uniform(), ALPHA).unwrap();
        let interval = test.credible_interval;
        u64::from(interval.low <= second - first && second - first <= interval.high)
    };
    let share = |count: u64| count as f64 / rounds as f64;
    let counts: Vec<([u64; 2], u64)> =
        (0..rounds).into_par_iter().map(|round| (means(round), rates(round))).collect();
    let same = share(counts.iter().map(|count| count.0[0]).sum());
    let weak = share(counts.iter().map(|count| count.0[1]).sum());
    let rate = share(counts.iter().map(|count| count.1).sum());
    println!("95% credible intervals: {rounds} rounds, seed {SEED}");
    println!("  means of 8, prior as drawn {:.2}%, weak prior {:.2}%", same * 100.0, weak * 100.0);
    println!("  rates of 30, uniform prior {:.2}%", rate * 100.0);
    assert!((same - 0.95).abs() < noise && (rate - 0.95).abs() < noise);
    assert!((weak - 0.95).abs() < noise + 0.02);
}

/// Which arm is thought best after a fixed number of plays, and how many plays it got.
#[test]
fn bandits_find_the_best_arm() {
    let rounds = rounds(120) / 4;
    let rates = [0.50, 0.55, 0.65];
    let plays = 600;
    println!("bandits: {rounds} rounds, seed {SEED}, {plays} plays, rates {rates:?}");
    let kinds: [&str; 4] = ["uniform", "Thompson", "top-two Thompson", "UCB1"];
    let mut found = Vec::new();
    for (kind, name) in kinds.iter().enumerate() {
        let one = |round: u64| {
            let mut generator = random_stream(SEED + 6, round);
            let mut counts = [(0_u64, 0_u64); 3];
            for play in 0..plays {
                let arms = counts.map(|(successes, count)| {
                    BetaPrior::uniform().updated(successes, count).unwrap()
                });
                let step = round * plays + play;
                let arm = match kind {
                    0 => (play % 3) as usize,
                    1 => thompson(&arms, SEED + 7, step).unwrap(),
                    2 => top_two_thompson(&arms, 0.5, SEED + 8, step).unwrap(),
                    _ => {
                        let rewards = counts.map(|(successes, count)| Rewards {
                            count,
                            mean: if count == 0 { 0.0 } else { successes as f64 / count as f64 },
                        });
                        ucb1(&rewards).unwrap()
                    }
                };
                counts[arm].1 += 1;
                counts[arm].0 += u64::from(generator.random::<f64>() < rates[arm]);
            }
            let arms: Vec<Posterior> = counts
                .iter()
                .map(|(successes, count)| BetaPrior::uniform().updated(*successes, *count).unwrap())
                .collect();
            let best = probability_best(&arms).unwrap();
            let right = best[2] > best[0] && best[2] > best[1];
            (u64::from(right), best[2], counts[2].1 as f64 / plays as f64)
        };
        let all: Vec<(u64, f64, f64)> = (0..rounds).into_par_iter().map(one).collect();
        let right = all.iter().map(|each| each.0).sum::<u64>() as f64 / rounds as f64;
        let sure: Moments = all.iter().map(|each| each.1).collect();
        let share: Moments = all.iter().map(|each| each.2).collect();
        println!(
            "  {name:18} best arm found {:.1}%, its probability {:.3}, its share of plays {:.3}",
            right * 100.0,
            sure.mean().unwrap(),
            share.mean().unwrap()
        );
        found.push((right, sure.mean().unwrap(), share.mean().unwrap()));
    }
    assert!(found.iter().all(|(right, ..)| *right > 0.85), "{found:?}");
    assert!(found[1].2 > 0.6 && found[2].1 > found[1].1 - 0.03, "{found:?}");
}
