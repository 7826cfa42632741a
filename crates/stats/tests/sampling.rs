//! Outputs judged with unequal probabilities: reference values of statsmodels and samplics, examples by hand, and what holds
//! for any data.
//!
//! `FULLBENCH_STATS_REFERENCE` names another folder of reference values, made with another seed.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use fullbench_stats::sampling::{
    PairedWeightedCluster, PairedWeightedSums, Target, WeightedCluster, WeightedSums,
    WeightedValues,
};
use fullbench_stats::{Interval, Moments, Undefined, wilson_interval};
use proptest::prelude::*;
use serde_json::Value;

fn reference() -> Value {
    let folder = std::env::var("FULLBENCH_STATS_REFERENCE").unwrap_or_else(|_| {
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference/stats").to_owned()
    });
    let text = std::fs::read_to_string(format!("{folder}/sampling.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn pairs(case: &Value) -> Vec<(f64, f64)> {
    numbers(&case["values"]).into_iter().zip(numbers(&case["probabilities"])).collect()
}

fn sums(outputs: &[(f64, f64)]) -> WeightedSums {
    let mut sums = WeightedSums::default();
    outputs.iter().for_each(|&(value, probability)| sums.add(value, probability).unwrap());
    sums
}

#[track_caller]
fn close(found: f64, expected: &Value) {
    let expected = expected.as_f64().unwrap();
    assert!(
        (found - expected).abs() <= 1e-9 * expected.abs().max(1e-3),
        "{found} is not {expected}"
    );
}

#[test]
fn means_and_their_errors_equal_statsmodels_and_samplics() {
    for case in reference()["means"].as_array().unwrap() {
        let outputs = pairs(case);
        let single = sums(&outputs);
        close(single.ratio().unwrap(), &case["ratio"]);
        close(single.mean().unwrap(), &case["mean"]);
        close(single.standard_error(Target::ThisPopulation).unwrap(), &case["design_error"]);
        close(single.standard_error(Target::OtherOutputs).unwrap(), &case["error"]);
        let mut clusters: BTreeMap<u64, WeightedCluster> = BTreeMap::new();
        for (cluster, &(value, probability)) in numbers(&case["clusters"]).iter().zip(&outputs) {
            clusters.entry(*cluster as u64).or_default().add(value, probability).unwrap();
        }
        let mut clustered = WeightedSums::default();
        clusters.values().for_each(|cluster| clustered.add_cluster(cluster));
        close(clustered.standard_error(Target::OtherOutputs).unwrap(), &case["clustered_error"]);
        close(clustered.standard_error(Target::ThisPopulation).unwrap(), &case["design_error"]);
    }
}

#[test]
fn differences_and_their_errors_equal_the_definition() {
    for case in reference()["differences"].as_array().unwrap() {
        let of = |field: &str| numbers(&case[field]);
        let first: Vec<(f64, f64)> =
            of("first").into_iter().zip(of("first_probabilities")).collect();
        let second: Vec<(f64, f64)> =
            of("second").into_iter().zip(of("second_probabilities")).collect();
        let (both, ids) = (of("both"), of("clusters"));
        let mut clusters: BTreeMap<u64, PairedWeightedCluster> = BTreeMap::new();
        let mut single = PairedWeightedSums::default();
        for (index, judged) in case["judged"].as_array().unwrap().iter().enumerate() {
            let (one, other) = (first[index], second[index]);
            let take = |cluster: &mut PairedWeightedCluster| match judged.as_str().unwrap() {
                "first" => cluster.add_first(one.0, one.1).unwrap(),
                "second" => cluster.add_second(other.0, other.1).unwrap(),
                _ => cluster.add_both(one, other, both[index]).unwrap(),
            };
            take(clusters.entry(ids[index] as u64).or_default());
            let mut alone = PairedWeightedCluster::default();
            take(&mut alone);
            single.add_cluster(&alone);
        }
        let mut clustered = PairedWeightedSums::default();
        clusters.values().for_each(|cluster| clustered.add_cluster(cluster));
        let error = |sums: &PairedWeightedSums, target| sums.standard_error(target).unwrap();
        close(error(&single, Target::OtherOutputs), &case["error"]);
        close(error(&clustered, Target::OtherOutputs), &case["clustered_error"]);
        close(error(&clustered, Target::ThisPopulation), &case["design_error"]);
        let estimate = single.second().mean().unwrap() - single.first().mean().unwrap();
        close(estimate, &case["estimate"]);
        if first.len() == 6 {
            // One of so few may carry a side alone, and there is no interval then.
            continue;
        }
        let found = single.difference(Target::OtherOutputs, 0.95).unwrap();
        assert_eq!(found.estimate, estimate);
        assert!(found.interval.low < estimate && estimate < found.interval.high);
    }
}

#[test]
fn quantiles_equal_numpy_on_repeated_values() {
    for case in reference()["quantiles"].as_array().unwrap() {
        let mut values = WeightedValues::default();
        for (value, probability) in pairs(case) {
            values.add(value, probability).unwrap();
        }
        for (level, expected) in numbers(&case["levels"]).iter().zip(numbers(&case["quantiles"])) {
            assert_eq!(values.quantile(*level), Ok(expected), "{level}");
        }
    }
}

/// Two outputs that stand for two and eight: (2·0 + 8·1) / 10, and 0.8 less the bias of the ratio.
#[test]
fn a_small_example_by_hand() {
    let sums = sums(&[(0.0, 0.5), (1.0, 0.125)]);
    assert_eq!((sums.judged(), sums.population(), sums.ratio()), (2, 10.0, Ok(0.8)));
    // Σ w(w−1)(y−ȳ) / 10² = (2·(−0.8) + 56·0.2) / 100.
    assert!((sums.mean().unwrap() - 0.896).abs() < 1e-12);
    // Σ w(w−1)(y−ȳ)² = 2·0.64 + 56·0.04.
    let error = sums.standard_error(Target::ThisPopulation).unwrap();
    assert!((error - 3.52_f64.sqrt() / 10.0).abs() < 1e-12);
    assert!((sums.effective_size().unwrap() - 100.0 / 68.0).abs() < 1e-12);
    // The one heavy output carries the estimate: too few to say how far it may be off.
    let too_few = sums.score_interval(Target::ThisPopulation, 0.95);
    assert!(matches!(too_few, Err(Undefined::TooFew { given: 1, needed: 2, .. })));
}

#[test]
fn where_all_judged_agree_the_interval_still_has_a_width() {
    let outputs: Vec<(f64, f64)> = [(1.0, 0.01), (1.0, 0.05)].repeat(30);
    let sums = sums(&outputs);
    assert_eq!(sums.mean(), Ok(1.0));
    let none = sums.interval(Target::ThisPopulation, 0.95);
    assert_eq!(none, Err(Undefined::NoVariation { what: "values" }));
    for target in [Target::ThisPopulation, Target::OtherOutputs] {
        let Interval { low, high } = sums.score_interval(target, 0.95).unwrap();
        // 60 outputs whose weights are as good as 41.5.
        let equal = wilson_interval(41, 41, 0.95).unwrap();
        assert!(high == 1.0 && (low - equal.low).abs() < 0.01, "{low} and {}", equal.low);
    }
}

#[test]
fn what_was_judged_in_full_is_known_for_this_population_and_not_for_others() {
    let outputs: Vec<(f64, f64)> = (0..40).map(|i| (f64::from(u8::from(i % 5 > 0)), 1.0)).collect();
    let sums = sums(&outputs);
    let known = Interval { low: 0.8, high: 0.8 };
    assert_eq!(sums.score_interval(Target::ThisPopulation, 0.95), Ok(known));
    assert_eq!(sums.interval(Target::ThisPopulation, 0.95), Ok(known));
    let moments: Moments = outputs.iter().map(|(value, _)| *value).collect();
    let error = sums.standard_error(Target::OtherOutputs).unwrap();
    assert!((error - moments.standard_error().unwrap()).abs() < 1e-12);
    let other = sums.score_interval(Target::OtherOutputs, 0.95).unwrap();
    assert!(other.low < 0.67 && other.high > 0.89, "{other:?}");
    let total = sums.total(1000, Target::OtherOutputs, 0.95).unwrap();
    assert!((total.estimate - 800.0).abs() < 1e-9 && total.interval.low < 700.0, "{total:?}");
}

#[test]
fn what_cannot_have_been_drawn_is_refused() {
    let mut sums = WeightedSums::default();
    for (value, probability) in [(1.0, 0.0), (1.0, 1.5), (1.0, f64::NAN), (f64::NAN, 0.5)] {
        assert!(sums.add(value, probability).is_err());
        assert!(WeightedValues::default().add(value, probability).is_err());
    }
    assert!(sums.mean().is_err() && sums.effective_size().is_err());
    sums.add(2.0, 0.5).unwrap();
    assert!(sums.standard_error(Target::ThisPopulation).is_err());
    sums.add(0.5, 0.5).unwrap();
    let outside = sums.score_interval(Target::ThisPopulation, 0.95);
    assert!(matches!(outside, Err(Undefined::OutOfRange { value: 2.0, .. })));
    let mut case = PairedWeightedCluster::default();
    assert!(case.add_both((1.0, 0.5), (1.0, 0.2), 0.3).is_err());
    assert_eq!(case, PairedWeightedCluster::default());
    assert!(PairedWeightedSums::default().difference(Target::OtherOutputs, 0.95).is_err());
}

/// The same outputs on both sides, drawn by one number: no difference, and no claim that there is none.
#[test]
fn equal_sides_have_no_interval() {
    let mut sums = PairedWeightedSums::default();
    for index in 0..20 {
        let output = (f64::from(index % 2), 0.1);
        let mut case = PairedWeightedCluster::default();
        case.add_both(output, output, 0.1).unwrap();
        sums.add_cluster(&case);
    }
    for target in [Target::ThisPopulation, Target::OtherOutputs] {
        let found = sums.difference(target, 0.95);
        assert!(matches!(found, Err(Undefined::NoVariation { .. })), "{found:?}");
    }
}

fn outputs() -> impl Strategy<Value = Vec<(f64, f64)>> {
    let value = prop_oneof![Just(0.0), Just(1.0), 0.0..1.0];
    proptest::collection::vec((value, 0.001..=1.0), 2..60)
}

proptest! {
    #[test]
    fn parts_that_are_merged_equal_one_pass(outputs in outputs(), cut in 0.0..1.0) {
        let (left, right) = outputs.split_at((cut * outputs.len() as f64) as usize);
        let mut merged = sums(left);
        merged.merge(&sums(right));
        let whole = sums(&outputs);
        prop_assert_eq!(whole.judged(), merged.judged());
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        prop_assert!(near(whole.mean().unwrap(), merged.mean().unwrap()));
        for target in [Target::ThisPopulation, Target::OtherOutputs] {
            let error = |sums: &WeightedSums| sums.standard_error(target).unwrap();
            prop_assert!(near(error(&whole), error(&merged)));
        }
    }

    #[test]
    fn means_and_intervals_stay_within_the_scale(outputs in outputs()) {
        let sums = sums(&outputs);
        let mean = sums.mean().unwrap();
        let values = || outputs.iter().map(|(value, _)| *value);
        prop_assert!(values().any(|value| value <= mean) && values().any(|value| value >= mean));
        for target in [Target::ThisPopulation, Target::OtherOutputs] {
            if let Ok(Interval { low, high }) = sums.score_interval(target, 0.95) {
                prop_assert!(0.0 <= low && low <= mean && mean <= high && high <= 1.0);
                prop_assert!(low < high || outputs.iter().all(|(_, probability)| *probability == 1.0));
            }
        }
    }

    #[test]
    fn quantiles_rise_and_lie_in_their_intervals(outputs in outputs(), p in 0.02..0.98) {
        let mut values = WeightedValues::default();
        outputs.iter().for_each(|&(value, probability)| values.add(value, probability).unwrap());
        prop_assert!(values.quantile(p - 0.02).unwrap() <= values.quantile(p).unwrap());
        if let Ok(interval) = values.quantile_interval(p, Target::OtherOutputs, 0.95) {
            let quantile = values.quantile(p).unwrap();
            prop_assert!(interval.low <= quantile && quantile <= interval.high, "{:?}", interval);
        }
    }
}
