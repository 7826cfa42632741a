//! Weights of a panel: reference values of scipy, examples by hand, and what holds for any data.
//!
//! `FULLBENCH_STATS_REFERENCE` names another folder of reference values, made with another seed.
#![allow(clippy::unwrap_used)]

use fullbench_stats::Undefined;
use fullbench_stats::validity::{CrossValidation, StackedWeights, stacked_weights};
use proptest::prelude::*;
use serde_json::Value;

fn reference() -> Value {
    let folder = std::env::var("FULLBENCH_STATS_REFERENCE").unwrap_or_else(|_| {
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference/stats").to_owned()
    });
    let text = std::fs::read_to_string(format!("{folder}/threshold.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn stacked(members: &[Vec<f64>], human: &[f64]) -> Result<StackedWeights, Undefined> {
    let members: Vec<&[f64]> = members.iter().map(Vec::as_slice).collect();
    stacked_weights(&members, human, &CrossValidation::default())
}

#[track_caller]
fn all_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    let near = |(one, two): (&f64, &f64)| (one - two).abs() <= tolerance;
    assert!(found.iter().zip(expected).all(near), "{found:?} is not {expected:?}");
}

/// Numbers that look random and are the same on every machine.
fn noise(index: u32, salt: u32) -> f64 {
    let word = index.wrapping_mul(2_654_435_761).wrapping_add(salt.wrapping_mul(40_503));
    let word = (word ^ (word >> 15)).wrapping_mul(2_246_822_519);
    f64::from((word ^ (word >> 13)) % 10_000) / 5000.0 - 1.0
}

#[test]
fn weights_equal_scipy() {
    for case in reference()["panels"].as_array().unwrap() {
        let human = numbers(&case["human"]);
        let members: Vec<Vec<f64>> =
            case["members"].as_array().unwrap().iter().map(numbers).collect();
        let found = stacked(&members, &human).unwrap();
        all_close(&found.weights, &numbers(&case["weights"]), 1e-7);
        all_close(&[found.apparent_error], &[case["error"].as_f64().unwrap()], 1e-10);
        all_close(&found.member_errors, &numbers(&case["member_errors"]), 1e-10);
        all_close(&[found.equal_error], &[case["equal_error"].as_f64().unwrap()], 1e-10);
    }
}

/// The cross-validated errors again, from weights of the others' items.
#[test]
fn each_fold_is_predicted_by_the_others() {
    let human: Vec<f64> = (0..12).map(|item| 2.0 * noise(item, 1)).collect();
    let member = |salt: u32, size: f64| -> Vec<f64> {
        human.iter().zip(0..).map(|(score, item)| score + size * noise(item, salt)).collect()
    };
    let members = [member(2, 0.5), member(3, 1.0), member(4, 2.0)];
    // With as many folds as items, each is predicted by all others.
    let views: Vec<&[f64]> = members.iter().map(Vec::as_slice).collect();
    let leave_one_out = CrossValidation { folds: 50, ..CrossValidation::default() };
    let found = stacked_weights(&views, &human, &leave_one_out).unwrap();
    assert_eq!(found.folds, 12);
    let (mut learned, mut single) = (0.0, 0.0);
    let mut lowest = 1.0_f64;
    for left_out in 0..12 {
        let without = |scores: &[f64]| -> Vec<f64> {
            let kept = scores.iter().enumerate().filter(|(item, _)| *item != left_out);
            kept.map(|(_, score)| *score).collect()
        };
        let others: Vec<Vec<f64>> = members.iter().map(|scores| without(scores)).collect();
        let fit = stacked(&others, &without(&human)).unwrap();
        let predicted: f64 = fit
            .weights
            .iter()
            .zip(&members)
            .map(|(weight, scores)| weight * scores[left_out])
            .sum();
        learned += (predicted - human[left_out]).powi(2) / 12.0;
        let best = (0..3).min_by(|&a, &b| fit.member_errors[a].total_cmp(&fit.member_errors[b]));
        single += (members[best.unwrap()][left_out] - human[left_out]).powi(2) / 12.0;
        lowest = lowest.min(fit.weights[0]);
    }
    all_close(&[found.learned_error, found.best_single_error], &[learned, single], 1e-9);
    all_close(&[found.fold_weights[0].low], &[lowest], 1e-9);
    all_close(&[found.against_equal.estimate], &[learned - found.equal_error], 1e-9);
    all_close(&[found.against_best_single.estimate], &[learned - single], 1e-9);
}

#[test]
fn identical_members_share_equally() {
    let human: Vec<f64> = (0..60).map(|item| noise(item, 1)).collect();
    let good: Vec<f64> = (0..60).map(|item| noise(item, 1) + 0.5 * noise(item, 2)).collect();
    let other: Vec<f64> = (0..60).map(|item| noise(item, 1) + 0.5 * noise(item, 3)).collect();
    let pair = stacked(&[good.clone(), other.clone()], &human).unwrap();
    let three = stacked(&[good.clone(), other.clone(), good.clone()], &human).unwrap();
    assert_eq!(three.weights[0], three.weights[2]);
    all_close(&[2.0 * three.weights[0], three.weights[1]], &pair.weights, 1e-8);
    all_close(&[three.learned_error], &[pair.learned_error], 1e-8);
    let alone = stacked(&[good.clone(), good.clone()], &human).unwrap();
    assert_eq!(alone.weights, [0.5, 0.5]);
    assert!(matches!(alone.against_equal.interval, Err(Undefined::NoVariation { .. })));
    // Errors e + ½ and ½ − e, and their mean ½. What fits depends on how much more weight the first has than the second, by
    // least squares; the rest is decided by the smallest squares, which give the mean a third.
    let errors: Vec<f64> = (0..60).map(|item| 0.5 * noise(item, 2)).collect();
    let with = |sign: f64| -> Vec<f64> {
        human.iter().zip(&errors).map(|(human, error)| human + 0.5 + sign * error).collect()
    };
    let found = stacked(&[with(1.0), with(-1.0), with(0.0)], &human).unwrap();
    let squares: f64 = errors.iter().map(|error| error * error).sum();
    let more = -0.5 * errors.iter().sum::<f64>() / squares;
    let expected = [1.0 / 3.0 + more / 2.0, 1.0 / 3.0 - more / 2.0, 1.0 / 3.0];
    all_close(&found.weights, &expected, 1e-5);
}

#[test]
fn a_member_that_is_right_gets_everything() {
    let human: Vec<f64> = (0..30).map(|item| noise(item, 1)).collect();
    let wrong: Vec<f64> = (0..30).map(|item| noise(item, 2)).collect();
    let found = stacked(&[wrong.clone(), human.clone()], &human).unwrap();
    all_close(&found.weights, &[0.0, 1.0], 1e-9);
    assert!(found.learned_error < 1e-15 && found.equal_error > 0.1);
    // All are right: equal weights.
    let found = stacked(&[human.clone(), human.clone()], &human).unwrap();
    assert_eq!((found.weights, found.learned_error), (vec![0.5, 0.5], 0.0));
    // A single member has nothing to be weighed against.
    let found = stacked(&[wrong], &human).unwrap();
    assert_eq!((found.weights, found.against_equal.estimate), (vec![1.0], 0.0));
    assert!(found.against_equal.interval.is_err());
}

#[test]
fn what_cannot_be_learned_says_why() {
    let of = |members: &[Vec<f64>], human: &[f64]| stacked(members, human).map(|_| ());
    let member = || vec![1.0, 2.0, 3.0];
    assert_eq!(of(&[member()], &[2.0; 3]), Err(Undefined::NoVariation { what: "human scores" }));
    assert!(matches!(of(&[], &[1.0, 2.0]), Err(Undefined::TooFew { what: "members", .. })));
    assert!(matches!(of(&[vec![1.0]], &[1.0]), Err(Undefined::TooFew { what: "items", .. })));
    assert!(matches!(of(&[member()], &[1.0, 2.0]), Err(Undefined::LengthsDiffer { .. })));
    let infinite = vec![1.0, f64::INFINITY, 3.0];
    assert!(matches!(of(&[infinite], &[1.0, 2.0, 3.0]), Err(Undefined::NotFinite { .. })));
    let huge = vec![1e200, 2.0, 3.0];
    assert!(matches!(of(&[huge, member()], &[1.0, 2.0, 3.0]), Err(Undefined::OutOfRange { .. })));
    let one_fold = CrossValidation { folds: 1, ..CrossValidation::default() };
    assert!(stacked_weights(&[&[1.0, 2.0]], &[1.0, 2.0], &one_fold).is_err());
}

fn panel() -> impl Strategy<Value = (Vec<Vec<f64>>, Vec<f64>)> {
    (1..7_usize, 2..30_usize).prop_flat_map(|(members, items)| {
        let score = || (-20..20_i32).prop_map(|value| f64::from(value) / 4.0);
        let scores = move || prop::collection::vec(score(), items);
        (prop::collection::vec(scores(), members), scores())
    })
}

proptest! {
    /// Weights are shares, and no step towards any member lowers the error: the condition of Karush, Kuhn and Tucker.
    #[test]
    fn no_other_weights_are_better((members, human) in panel()) {
        let Ok(found) = stacked(&members, &human) else {
            prop_assert!(human.iter().all(|score| *score == human[0]));
            return Ok(());
        };
        prop_assert!(found.weights.iter().all(|weight| *weight >= 0.0));
        prop_assert!((found.weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let error = |item: usize| -> f64 {
            let weighted = found.weights.iter().zip(&members);
            weighted.map(|(weight, scores)| weight * (scores[item] - human[item])).sum()
        };
        let scale = found.member_errors.iter().copied().fold(0.0, f64::max);
        for scores in &members {
            let towards = |item: usize| error(item) * (scores[item] - human[item] - error(item));
            let slope = (0..human.len()).map(towards).sum::<f64>() / human.len() as f64;
            prop_assert!(slope >= -1e-8 * scale, "{slope} of {scale}");
        }
        prop_assert!(found.apparent_error <= found.equal_error + 1e-8 * scale);
    }

    /// The unit of the scores and the order of the members do not matter.
    #[test]
    fn units_and_order_do_not_matter((members, human) in panel()) {
        let Ok(found) = stacked(&members, &human) else { return Ok(()) };
        let scaled = |scores: &Vec<f64>| -> Vec<f64> { scores.iter().map(|s| 4.0 * s).collect() };
        let in_other_unit =
            stacked(&members.iter().map(scaled).collect::<Vec<_>>(), &scaled(&human)).unwrap();
        prop_assert_eq!(&in_other_unit.weights, &found.weights);
        let backwards: Vec<Vec<f64>> = members.iter().rev().cloned().collect();
        let reversed = stacked(&backwards, &human).unwrap();
        for (one, two) in reversed.weights.iter().rev().zip(&found.weights) {
            prop_assert!((one - two).abs() < 1e-4, "{:?} {:?}", reversed.weights, found.weights);
        }
        prop_assert!((reversed.apparent_error - found.apparent_error).abs() < 1e-8);
    }
}
