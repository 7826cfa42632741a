//! Pass marks from labels: reference values of scikit-learn, examples by hand, and what holds for any data.
//!
//! `FULLBENCH_STATS_REFERENCE` names another folder of reference values, made with another seed.
#![allow(clippy::unwrap_used)]

use fullbench_stats::validity::{
    Goal, MarkCounts, Resampling, SuggestedThreshold, area_under_curve, suggest_threshold,
};
use fullbench_stats::{Interval, Undefined};
use proptest::prelude::*;
use serde_json::Value;

const GOALS: [(Goal, &str); 5] = [
    (Goal::Youden, "youden"),
    (Goal::Accuracy, "accuracy"),
    (Goal::F1, "f1"),
    (Goal::Cost { ratio: 0.2 }, "cost 0.2"),
    (Goal::Cost { ratio: 3.0 }, "cost 3.0"),
];

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

fn few_rounds() -> Resampling {
    Resampling { rounds: 100, ..Resampling::default() }
}

fn suggest(values: &[f64], passes: &[bool], goal: Goal) -> Result<SuggestedThreshold, Undefined> {
    suggest_threshold(values, passes, goal, &few_rounds())
}

#[track_caller]
fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-12, "{found} is not {expected}");
}

#[test]
fn curves_areas_and_best_goals_equal_scikit_learn() {
    for case in reference()["marks"].as_array().unwrap() {
        let values = numbers(&case["values"]);
        let passes: Vec<bool> =
            case["passes"].as_array().unwrap().iter().map(|pass| pass.as_bool().unwrap()).collect();
        for (goal, name) in GOALS {
            let found = suggest(&values, &passes, goal).unwrap();
            close(found.apparent, case["best"][name].as_f64().unwrap());
            assert_eq!(MarkCounts::at(found.mark, &values, &passes).unwrap(), found.counts);
        }
        let found = suggest(&values, &passes, Goal::default()).unwrap();
        let counts = |of: fn(&MarkCounts) -> u64| -> Vec<f64> {
            found.curve.iter().map(|counts| of(counts) as f64).collect()
        };
        assert_eq!(counts(|counts| counts.true_passes), numbers(&case["true_passes"]));
        assert_eq!(counts(|counts| counts.false_passes), numbers(&case["false_passes"]));
        for (counts, threshold) in found.curve.iter().zip(numbers(&case["thresholds"])) {
            assert!(counts.mark < threshold, "{counts:?} above {threshold}");
        }
        close(found.area.area, case["area"].as_f64().unwrap());
        let error = case["area_error"].as_f64().unwrap();
        close(found.area.standard_error.clone().unwrap(), error);
        assert_eq!(area_under_curve(&values, &passes, 0.95).unwrap(), found.area);
    }
}

/// Five items: people fail 1, 2, 4 and pass 3, 5.
#[test]
fn a_small_example_by_hand() {
    let values = [1.0, 2.0, 3.0, 4.0, 5.0];
    let passes = [false, false, true, false, true];
    let found = suggest(&values, &passes, Goal::Youden).unwrap();
    // At 2.5: sensitivity 1, specificity 2/3. At 4.5: 1/2 and 1.
    close(found.mark, 2.5);
    close(found.apparent, 2.0 / 3.0);
    assert_eq!((found.best_marks.low, found.best_marks.high, found.tied), (2.0, 3.0, 1));
    let marks: Vec<f64> = found.curve.iter().map(|counts| counts.mark).collect();
    assert_eq!(marks, [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]);
    close(found.area.area, 5.0 / 6.0);
    close(found.accuracy, 0.8);
    // F1: 4/5 at 2.5, 2/3 at 4.5.
    close(suggest(&values, &passes, Goal::F1).unwrap().apparent, 0.8);
    // A false pass that costs 10 false failures moves the mark up: 31 of 32 are right at 4.5.
    let dear = suggest(&values, &passes, Goal::Cost { ratio: 10.0 }).unwrap();
    close(dear.mark, 4.5);
    close(dear.apparent, 31.0 / 32.0);
}

#[test]
fn of_marks_that_fit_equally_well_it_is_the_middle_of_the_widest_interval() {
    // Accuracy is 5/6 from above 1 up to 2, and from above 3 up to 9.
    let values = [0.0, 1.0, 2.0, 3.0, 9.0, 10.0];
    let passes = [false, false, true, false, true, true];
    let found = suggest(&values, &passes, Goal::Accuracy).unwrap();
    close(found.mark, 6.0);
    assert_eq!((found.best_marks.low, found.best_marks.high, found.tied), (3.0, 9.0, 2));
    // A value that people judge both ways joins the marks on its two sides: from above 1 up to 5.
    let values = [0.0, 1.0, 2.0, 2.0, 5.0, 6.0];
    let passes = [false, false, true, false, true, true];
    let found = suggest(&values, &passes, Goal::Accuracy).unwrap();
    assert_eq!((found.best_marks.low, found.best_marks.high, found.tied), (1.0, 5.0, 2));
    close(found.mark, 3.5);
}

#[test]
fn what_has_no_mark_says_why() {
    let no_variation = |what| Err(Undefined::NoVariation { what });
    let of = |values: &[f64], passes: &[bool]| suggest(values, passes, Goal::Youden).map(|_| ());
    assert_eq!(of(&[1.0, 2.0], &[true, true]), no_variation("labels"));
    assert_eq!(of(&[1.0, 2.0], &[false, false]), no_variation("labels"));
    assert_eq!(of(&[0.0, -0.0], &[false, true]), no_variation("values"));
    assert!(matches!(of(&[], &[]), Err(Undefined::TooFew { given: 0, .. })));
    assert!(matches!(of(&[1.0], &[]), Err(Undefined::LengthsDiffer { .. })));
    assert!(matches!(of(&[1.0, f64::NAN], &[true, false]), Err(Undefined::NotFinite { .. })));
    assert!(matches!(of(&[1.0, f64::MAX], &[true, false]), Err(Undefined::OutOfRange { .. })));
    for ratio in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let found = suggest(&[1.0, 2.0], &[false, true], Goal::Cost { ratio });
        assert!(matches!(found, Err(Undefined::OutOfRange { .. })), "{found:?}");
    }
    let none = Resampling { rounds: 10, ..Resampling::default() };
    assert!(suggest_threshold(&[1.0, 2.0], &[false, true], Goal::Youden, &none).is_err());
}

/// Labels that the values separate have a mark, but no interval of the area; a mark that every round finds has none either.
#[test]
fn perfect_separation_has_no_interval() {
    let values: Vec<f64> = (0..40).map(|item| f64::from(item / 20)).collect();
    let passes: Vec<bool> = (0..40).map(|item| item >= 20).collect();
    let found = suggest(&values, &passes, Goal::Youden).unwrap();
    assert_eq!((found.mark, found.apparent, found.area.area), (0.5, 1.0, 1.0));
    assert!(found.area.interval.is_err() && found.interval.is_err());
    assert_eq!((found.same_choice, found.corrected), (Ok(1.0), Ok(1.0)));
    // A single item of one label has an area, and no error of it.
    let single = area_under_curve(&[1.0, 2.0, 3.0], &[false, true, true], 0.95).unwrap();
    assert!(matches!(single.standard_error, Err(Undefined::TooFew { .. })));
}

#[test]
fn values_that_say_the_opposite_get_a_mark_at_an_end() {
    let found = suggest(&[1.0, 2.0, 3.0, 4.0], &[true, true, false, false], Goal::Youden).unwrap();
    assert_eq!((found.apparent, found.area.area), (0.0, 0.0));
    assert!(found.counts.true_passes + found.counts.false_passes == 4 || found.mark > 4.0);
}

#[test]
fn neighbouring_numbers_are_told_apart() {
    let values = [1.0, 1.0_f64.next_up(), 1.0, 1.0_f64.next_up()];
    let found = suggest(&values, &[false, true, false, true], Goal::Youden).unwrap();
    assert_eq!((found.apparent, found.counts.true_passes), (1.0, 2));
    assert_eq!(
        MarkCounts::at(found.mark, &values, &[false, true, false, true]).unwrap(),
        found.counts
    );
    assert!(found.curve.last().unwrap().mark > values[1]);
}

fn labelled() -> impl Strategy<Value = Vec<(f64, bool)>> {
    prop::collection::vec(((-12..12_i32).prop_map(|v| f64::from(v) / 4.0), any::<bool>()), 2..40)
}

fn goal() -> impl Strategy<Value = Goal> {
    prop_oneof![
        Just(Goal::Youden),
        Just(Goal::Accuracy),
        Just(Goal::F1),
        (0.01..100.0).prop_map(|ratio| Goal::Cost { ratio }),
    ]
}

proptest! {
    /// No mark whatever is better, and every mark of the stated interval is as good.
    #[test]
    fn no_mark_is_better(items in labelled(), goal in goal(), other in -4.0..4.0_f64, at in 0.0..1.0_f64) {
        let (values, passes): (Vec<f64>, Vec<bool>) = items.into_iter().unzip();
        let Ok(found) = suggest(&values, &passes, goal) else { return Ok(()) };
        let value = |mark| goal.value(&MarkCounts::at(mark, &values, &passes).unwrap()).unwrap();
        prop_assert!(value(other) <= found.apparent + 1e-12);
        let Interval { low, high } = found.best_marks;
        let inside = high - at * (high - low) * 0.999;
        prop_assert!((value(inside) - found.apparent).abs() < 1e-12, "{inside} in {low} to {high}");
        prop_assert!((value(found.mark) - found.apparent).abs() < 1e-12);
        prop_assert!(!values.contains(&found.mark));
        let first = found.curve.first().unwrap();
        let last = found.curve.last().unwrap();
        prop_assert_eq!(first.true_failures + first.false_failures, 0);
        prop_assert_eq!(last.true_passes + last.false_passes, 0);
        prop_assert!(found.curve.windows(2).all(|pair| pair[0].mark < pair[1].mark));
    }

    /// The order of items and the unit of the values change nothing but the unit of the mark; the seed decides the rest.
    #[test]
    fn units_and_order_do_not_matter(items in labelled(), goal in goal()) {
        let (values, passes): (Vec<f64>, Vec<bool>) = items.iter().copied().unzip();
        let Ok(found) = suggest(&values, &passes, goal) else { return Ok(()) };
        let scaled: Vec<f64> = values.iter().map(|value| 8.0 * value + 16.0).collect();
        let in_other_unit = suggest(&scaled, &passes, goal).unwrap();
        prop_assert_eq!(in_other_unit.mark, 8.0 * found.mark + 16.0);
        prop_assert_eq!(&in_other_unit.corrected, &found.corrected);
        let (backwards, labels): (Vec<f64>, Vec<bool>) = items.iter().rev().copied().unzip();
        let reversed = suggest(&backwards, &labels, goal).unwrap();
        prop_assert_eq!(reversed.counts, found.counts);
        prop_assert_eq!(reversed.area, found.area.clone());
        prop_assert_eq!(suggest(&values, &passes, goal).unwrap(), found);
    }

    /// Turned round, values and labels have the same area.
    #[test]
    fn areas_are_symmetric(items in labelled()) {
        let (values, passes): (Vec<f64>, Vec<bool>) = items.into_iter().unzip();
        let Ok(found) = area_under_curve(&values, &passes, 0.95) else { return Ok(()) };
        let negated: Vec<f64> = values.iter().map(|value| -value).collect();
        let turned: Vec<bool> = passes.iter().map(|pass| !pass).collect();
        let other = area_under_curve(&negated, &turned, 0.95).unwrap();
        prop_assert!((found.area - other.area).abs() < 1e-12);
        if let Ok(interval) = found.interval {
            prop_assert!(0.0 < interval.low && interval.low < found.area);
            prop_assert!(found.area < interval.high && interval.high < 1.0);
        }
    }

    /// Numbers that break formulas give an answer or a reason.
    #[test]
    fn nothing_panics(items in prop::collection::vec((any::<f64>(), any::<bool>()), 0..12), goal in goal()) {
        let (values, passes): (Vec<f64>, Vec<bool>) = items.into_iter().unzip();
        if let Ok(found) = suggest(&values, &passes, goal) {
            prop_assert!(found.mark.is_finite() && found.apparent.is_finite());
        }
    }
}
