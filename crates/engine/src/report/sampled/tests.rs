//! The whole way from the draws of a real cascade to its estimate, over populations whose last tier is known.

#![allow(clippy::unwrap_used)]

use fullbench_score::{Item, NamedScorer, ScorerConfig, build};
use fullbench_stats::Moments;
use fullbench_types::{
    CascadeEnd, CascadePath, Generation, Outcome, Score, ScorePath, TestCase, TierEntry, TierPath,
    UnscoredReason,
};
use serde_json::{Map, Value, json};

use super::PathSums;

const WORDS: [&str; 10] =
    ["red", "blue", "green", "gold", "grey", "pink", "black", "white", "brown", "lime"];
const CASES: usize = 500;

fn scorer(entry: Value) -> NamedScorer {
    build(&serde_json::from_value::<ScorerConfig>(entry).unwrap()).unwrap()
}

/// Numbers from 0 to 1 that depend on where they are drawn (SplitMix64; Steele, Lea, Flood 2014).
fn uniform(population: u64, case: usize, what: u64) -> f64 {
    let mut value = population
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(case as u64)
        .wrapping_mul(0xbf58_476d_1ce4_e5b9)
        .wrapping_add(what.wrapping_mul(0x94d0_49bb_1331_11eb));
    for shift in [30, 27, 31] {
        value = (value ^ (value >> shift)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    }
    (value >> 11) as f64 / (1_u64 << 53) as f64
}

/// Outputs that have some of ten words; a fast judge that sees a mark, more or less where the words are; some that are too long.
fn population(number: u64) -> Vec<(TestCase, Generation)> {
    let accuracy = 0.6 + 0.35 * uniform(number, 0, 1);
    let level = 0.3 + 0.6 * uniform(number, 0, 2);
    let case = |at: usize| {
        let draw = |what| uniform(number, at + 1, what);
        let share = (level + 0.8 * (draw(3) - 0.5)).clamp(0.0, 1.0);
        let known = (share * 10.0).round() as usize;
        let is_good = known >= 4;
        let says_good = (draw(4) < accuracy) == is_good;
        let mut words: Vec<&str> = WORDS[..known].to_vec();
        words.push(if says_good { "fine" } else { "poor" });
        if draw(6) < 0.03 {
            words.extend(["and"; 30]);
        }
        let case = TestCase {
            index: at as u64,
            key: format!("{number} {at}"),
            input: Value::Null,
            references: vec![json!(WORDS.join(" "))],
            fields: Map::from_iter([("sure".to_owned(), json!(draw(5) < 0.3))]),
        };
        (case, Generation::recorded(words.join(" ")))
    };
    (0..CASES).map(case).collect()
}

fn cascade(seed: u64) -> NamedScorer {
    scorer(
        json!({"type": "cascade", "seed": seed, "target_confidence": 0.9, "audit": 0.1, "tiers": [
            {"name": "checks", "scorers": [{"type": "length", "unit": "words", "max": 20}], "hard_fail": "checks.failed"},
            {"name": "fast", "scorers": [{"type": "contains", "values": ["fine"]}], "sample": 0.5,
                "confidence": "0.95 if case.sure else 0.5"},
            {"name": "full", "scorers": ["token_f1"], "sample": 0.2},
        ]}),
    )
}

/// The error of one population's estimate in its last tier's mean, and whether the interval has that mean.
async fn estimated(number: u64) -> (f64, bool) {
    let (cascade, full) = (cascade(number), scorer(json!("token_f1")));
    let population = population(number);
    let items: Vec<Item<'_>> =
        population.iter().map(|(case, generation)| Item::new(case, generation)).collect();
    let mut truth = Moments::default();
    for score in full.scorer.score(&items).await {
        truth.add_many(score.value.unwrap(), 1);
    }
    let mut sums = PathSums::default();
    for score in cascade.scorer.score(&items).await {
        sums.add(&score, None);
    }
    let summary = sums.summary(&cascade.scorer.tiers()).cascade.unwrap();
    assert_eq!(summary.outputs, CASES as u64);
    assert!(summary.hard_fails.0 > 0 && summary.confident.0 > 0);
    let (mean, truth) = (summary.mean_of_all.unwrap(), truth.mean().unwrap());
    let covers = mean.low.unwrap() <= truth && truth <= mean.high.unwrap();
    (mean.estimate - truth, covers)
}

#[test]
fn a_real_cascade_is_unbiased_and_its_interval_covers() {
    let populations = if std::env::var_os("FULLBENCH_SOAK").is_some() { 5_000 } else { 200 };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut errors = Moments::default();
    let mut covered = 0;
    for number in 0..populations {
        let (error, covers) = runtime.block_on(estimated(number));
        errors.add_many(error, 1);
        covered += u64::from(covers);
    }
    let (bias, spread) = (errors.mean().unwrap(), errors.variance().unwrap().sqrt());
    let standard_error = spread / (populations as f64).sqrt();
    assert!(bias.abs() < 2.0 * standard_error, "bias {bias}, standard error {standard_error}");
    let share = covered as f64 / populations as f64;
    assert!((0.92..=0.98).contains(&share), "{covered} of {populations} intervals cover");
}

#[test]
fn what_could_not_be_judged_stands_for_as_many_as_its_chance_says() {
    let path = |end, probability| {
        let tier = TierPath {
            probability,
            entry: TierEntry::Drawn,
            outcome: Outcome::Scored,
            value: None,
            cost: None,
            full_cost: None,
            similar: None,
        };
        let path = CascadePath { end, audited: None, undecided: false, tiers: vec![tier] };
        Some(Box::new(ScorePath::Cascade(path)))
    };
    let mut sums = PathSums::default();
    let judged = Score { path: path(CascadeEnd::Judged, 0.1), ..Score::graded(1.0, 1.0, None) };
    let failed = Score::unscored(UnscoredReason::ProviderError);
    sums.add(&judged, None);
    sums.add(&Score { path: path(CascadeEnd::Open, 0.05), ..failed.clone() }, None);
    sums.add(&Score { path: path(CascadeEnd::Judged, 0.5), ..failed }, None);
    let cascade = sums.cascade.unwrap();
    assert_eq!((cascade.outputs(), cascade.missing), (3, (2, 22.0)));
    assert_eq!(cascade.closed().judged(), 1);
}
