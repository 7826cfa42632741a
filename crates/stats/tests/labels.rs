//! Label aggregation against crowd-kit, and by hand.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use fullbench_stats::Undefined;
use fullbench_stats::agreement::Ratings;
use fullbench_stats::labels::{
    DawidSkeneOptions, Decision, MaceOptions, annotator_quality, clearly_below, dawid_skene,
    lower_median, mace, majority, weighted_majority,
};
use proptest::prelude::*;
use serde_json::Value;
use statrs::function::gamma::digamma;

/// The committed reference values, or those of the folder that `FULLBENCH_STATS_REFERENCE` names.
fn reference() -> Value {
    let committed = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference/stats");
    let folder = std::env::var_os("FULLBENCH_STATS_REFERENCE").map(PathBuf::from);
    let path = folder.unwrap_or_else(|| committed.into()).join("labels.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn matrix(value: &Value) -> Vec<Vec<f64>> {
    value.as_array().unwrap().iter().map(numbers).collect()
}

fn ratings_of(case: &Value) -> Ratings {
    let column = |index: usize| -> Vec<u32> {
        let rows = case["rows"].as_array().unwrap().iter();
        rows.map(|row| row[index].as_u64().unwrap() as u32).collect()
    };
    Ratings::new(&column(0), &column(1), &column(2)).unwrap()
}

fn close(what: &str, ours: f64, theirs: f64, tolerance: f64) {
    assert!((ours - theirs).abs() <= tolerance, "{what}: {ours} is not {theirs}");
}

/// Labels of one item by as many annotators.
fn one_item(values: &[u32]) -> Ratings {
    let annotators: Vec<u32> = (0..values.len() as u32).collect();
    Ratings::new(&vec![0; values.len()], &annotators, values).unwrap()
}

#[test]
fn votes_equal_crowd_kit() {
    for case in reference()["cases"].as_array().unwrap() {
        let ratings = ratings_of(case);
        let plain = (majority(&ratings), matrix(&case["majority"]));
        let weights = numbers(&case["weights"]);
        let weighted = (weighted_majority(&ratings, &weights).unwrap(), matrix(&case["weighted"]));
        for (ours, theirs) in [plain, weighted] {
            for (vote, shares) in ours.iter().zip(&theirs) {
                let most = shares.iter().copied().fold(0.0, f64::max);
                close("share", vote.share, most, 1e-12);
                let leading: Vec<usize> =
                    (0..shares.len()).filter(|&label| shares[label] > most - 1e-12).collect();
                assert_eq!(vote.tie, leading.len() > 1);
                assert_eq!(
                    vote.label.map(|label| label as usize),
                    (!vote.tie).then_some(leading[0])
                );
            }
        }
    }
}

#[test]
fn dawid_skene_equals_crowd_kit_at_equal_iterations() {
    for case in reference()["cases"].as_array().unwrap() {
        let ratings = ratings_of(case);
        for theirs in case["dawid_skene"].as_array().unwrap() {
            let iterations = theirs["iterations"].as_u64().unwrap() as usize;
            let options = DawidSkeneOptions { iterations, tolerance: 0.0 };
            let ours = dawid_skene(&ratings, &options).unwrap();
            for (item, probabilities) in matrix(&theirs["probabilities"]).iter().enumerate() {
                for (ours, theirs) in ours.posteriors.of(item).iter().zip(probabilities) {
                    close("probability", *ours, *theirs, 1e-9);
                }
            }
            for (ours, theirs) in ours.priors.iter().zip(numbers(&theirs["priors"])) {
                close("prior", *ours, theirs, 1e-9);
            }
            for row in matrix(&theirs["errors"]) {
                let confusion = ours.confusion(row[0] as usize);
                for (truth, rate) in row[2..].iter().enumerate() {
                    close("rate", confusion[truth][row[1] as usize], *rate, 1e-9);
                }
            }
        }
    }
}

/// crowd-kit starts from other random numbers; both are let run until they stand still.
#[test]
fn mace_equals_crowd_kit_where_both_end() {
    let reference = reference();
    // Where crowd-kit is still on its way after 400 iterations, there is no end to compare.
    let settled = |case: &&Value| case["mace"]["settled"] == true;
    let cases: Vec<&Value> =
        reference["cases"].as_array().unwrap().iter().filter(settled).collect();
    assert!(!cases.is_empty(), "nothing was compared");
    for case in cases {
        let ratings = ratings_of(case);
        let options = MaceOptions { iterations: 400, tolerance: 0.0, ..MaceOptions::default() };
        let ours = mace(&ratings, &options).unwrap();
        for (item, theirs) in matrix(&case["mace"]["probabilities"]).iter().enumerate() {
            for (ours, theirs) in ours.posteriors.of(item).iter().zip(theirs) {
                close("probability", *ours, *theirs, 1e-6);
            }
        }
        let quality = annotator_quality(&ratings, &vec![None; ratings.items()], 0.95).unwrap();
        for (annotator, theirs) in numbers(&case["mace"]["knowing"]).iter().enumerate() {
            let all = quality[annotator].ratings as f64 + 1.0;
            let known = ours.competences[annotator] * all;
            close("knowing", (digamma(known) - digamma(all)).exp(), *theirs, 1e-6);
        }
        assert!(ours.starts_at_best > 0);
    }
}

/// The seed asked for 0.67 and so refused 2 of 3, which is 0.667.
#[test]
fn two_of_three_is_two_thirds() {
    let vote = majority(&one_item(&[1, 1, 0]))[0];
    assert_eq!((vote.label, vote.decision, vote.tie), (Some(1), Decision::Consensus, false));
    assert!(vote.share < 0.67);
    assert_eq!(majority(&one_item(&[1, 1, 1, 0, 2]))[0].decision, Decision::NeedsAdjudication);
    assert_eq!(majority(&one_item(&[1, 1, 1, 1, 0, 2]))[0].decision, Decision::Consensus);
    let third = [1.0 / 3.0; 3];
    assert_eq!(
        weighted_majority(&one_item(&[1, 1, 0]), &third).unwrap()[0].decision,
        Decision::Consensus
    );
}

#[test]
fn ties_are_reported_and_single_votes_are_not_enough() {
    let vote = majority(&one_item(&[1, 0]))[0];
    assert_eq!((vote.label, vote.tie, vote.share), (None, true, 0.5));
    assert_eq!(vote.decision, Decision::NeedsAdjudication);
    let vote = majority(&one_item(&[1]))[0];
    assert_eq!((vote.label, vote.tie, vote.decision), (Some(1), false, Decision::Insufficient));
    // 0.1 + 0.2 against 0.3 is a tie, although the sums differ in their last digit.
    let vote = weighted_majority(&one_item(&[1, 1, 0]), &[0.1, 0.2, 0.3]).unwrap()[0];
    assert_eq!((vote.label, vote.tie), (None, true));
    // Who has no weight has no vote.
    let vote = weighted_majority(&one_item(&[1, 0]), &[0.0, 2.0]).unwrap()[0];
    assert_eq!((vote.label, vote.decision), (Some(0), Decision::Insufficient));
}

/// The seed took the rounded mean: of 1 1 1 1 5 5 5 it is 3, which nobody said.
#[test]
fn the_median_is_a_label_that_someone_gave() {
    let vote = lower_median(&one_item(&[1, 1, 1, 1, 5, 5, 5]), None).unwrap()[0];
    assert_eq!((vote.label, vote.tie, vote.decision), (Some(1), false, Decision::Consensus));
    let vote = lower_median(&one_item(&[3, 5]), None).unwrap()[0];
    assert_eq!((vote.label, vote.tie, vote.decision), (Some(3), true, Decision::NeedsAdjudication));
    let vote = lower_median(&one_item(&[3, 5]), Some(&[0.6, 0.9])).unwrap()[0];
    assert_eq!((vote.label, vote.tie), (Some(5), false));
    let vote = lower_median(&one_item(&[4, 2, 2, 4]), None).unwrap()[0];
    assert_eq!((vote.label, vote.tie), (Some(2), true));
    let vote = lower_median(&one_item(&[2, 2]), None).unwrap()[0];
    assert_eq!((vote.label, vote.tie, vote.share), (Some(2), false, 1.0));
    assert_eq!(lower_median(&one_item(&[2]), None).unwrap()[0].decision, Decision::Insufficient);
}

/// The seed paused annotators below 0.7 on the last few items: one slip in three was enough.
#[test]
fn one_slip_in_three_is_no_reason_to_pause() {
    assert!(!clearly_below(2, 3, 0.7, 10, 0.95).unwrap());
    assert!(!clearly_below(2, 3, 0.7, 0, 0.95).unwrap());
    assert!(!clearly_below(6, 10, 0.7, 10, 0.95).unwrap());
    assert!(clearly_below(10, 30, 0.7, 10, 0.95).unwrap());
    assert!(!clearly_below(0, 0, 0.7, 0, 0.95).unwrap());
    assert!(clearly_below(5, 4, 0.7, 0, 0.95).is_err());
}

#[test]
fn quality_counts_only_items_with_a_label() {
    let ratings = Ratings::new(&[0, 0, 1, 1, 3], &[0, 1, 0, 1, 0], &[1, 1, 0, 1, 1]).unwrap();
    let quality = annotator_quality(&ratings, &[Some(1), None, None, Some(0)], 0.95).unwrap();
    assert_eq!((quality[0].ratings, quality[0].compared, quality[0].agreed), (3, 2, 1));
    assert_eq!((quality[1].ratings, quality[1].compared, quality[1].share), (2, 1, Some(1.0)));
    assert!(annotator_quality(&ratings, &[None], 0.95).is_err());
}

#[test]
fn degenerate_data_are_named() {
    let constant = Ratings::new(&[0, 0, 1], &[0, 1, 0], &[0, 0, 0]).unwrap();
    assert!(matches!(
        dawid_skene(&constant, &DawidSkeneOptions::default()),
        Err(Undefined::TooFew { .. })
    ));
    assert!(matches!(mace(&constant, &MaceOptions::default()), Err(Undefined::TooFew { .. })));
    let ratings = Ratings::new(&[0, 0, 2], &[0, 1, 0], &[0, 1, 0]).unwrap();
    let none = DawidSkeneOptions { iterations: 0, tolerance: 0.0 };
    assert!(dawid_skene(&ratings, &none).is_err());
    assert!(mace(&ratings, &MaceOptions { restarts: 0, ..MaceOptions::default() }).is_err());
    assert!(weighted_majority(&ratings, &[1.0]).is_err());
    assert!(weighted_majority(&ratings, &[1.0, -1.0]).is_err());
    assert!(weighted_majority(&ratings, &[1.0, f64::NAN]).is_err());
    assert!(lower_median(&ratings, Some(&[1.0, -1.0])).is_err());
    // Item 1 has no ratings: no label, and no part in the priors.
    let result = dawid_skene(&ratings, &DawidSkeneOptions::default()).unwrap();
    assert_eq!(result.posteriors.best(1), None);
    assert_eq!(result.posteriors.best(9), None);
    assert!((result.priors.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    assert!(result.confusion(7).is_empty() && result.accuracy(7).is_none());
    assert_eq!(majority(&ratings)[1].decision, Decision::Insufficient);
    assert_eq!(majority(&ratings)[1].share, 0.0);
}

#[test]
fn results_do_not_depend_on_threads() {
    let case = &reference()["cases"][1];
    let ratings = ratings_of(case);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let dawid_skene = dawid_skene(&ratings, &DawidSkeneOptions::default()).unwrap();
            (dawid_skene, mace(&ratings, &MaceOptions::default()).unwrap())
        })
    };
    assert_eq!(on(1), on(3));
}

fn any_ratings() -> impl Strategy<Value = Ratings> {
    proptest::collection::btree_map((0u32..10, 0u32..5), 0u32..4, 4..50).prop_filter_map(
        "two labels at least",
        |cells| {
            let items: Vec<u32> = cells.keys().map(|(item, _)| *item).collect();
            let annotators: Vec<u32> = cells.keys().map(|(_, annotator)| *annotator).collect();
            let values: Vec<u32> = cells.into_values().collect();
            let ratings = Ratings::new(&items, &annotators, &values).unwrap();
            (ratings.numbers().len() > 1).then_some(ratings)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Probabilities sum to 1, rows of confusion matrices too, and the likelihood never falls.
    #[test]
    fn models_stay_proper(ratings in any_ratings()) {
        let mut last = f64::NEG_INFINITY;
        for iterations in [1, 2, 3, 5, 9, 20] {
            let result = dawid_skene(&ratings, &DawidSkeneOptions { iterations, tolerance: 0.0 }).unwrap();
            prop_assert!(result.log_likelihood >= last - 1e-6);
            last = result.log_likelihood;
            for item in (0..ratings.items()).filter(|&item| !ratings.item(item).1.is_empty()) {
                prop_assert!((result.posteriors.of(item).iter().sum::<f64>() - 1.0).abs() < 1e-12);
            }
            for annotator in 0..ratings.annotators() {
                for row in result.confusion(annotator) {
                    prop_assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-9);
                }
            }
        }
        let result = mace(&ratings, &MaceOptions { restarts: 2, ..MaceOptions::default() }).unwrap();
        prop_assert!(result.log_likelihood.is_finite());
        for competence in &result.competences {
            prop_assert!((0.0..=1.0).contains(competence));
        }
    }
}
