//! Pass marks from labels: the report in numbers and words.
#![allow(clippy::unwrap_used)]

use fullbench_analysis::threshold::{ThresholdOptions, ThresholdReport, suggest};
use fullbench_analysis::{AnalysisError, Report};
use fullbench_stats::validity::{Goal, Resampling};

/// Numbers that look random and are the same on every machine.
fn noise(index: u32, salt: u32) -> f64 {
    let word = index.wrapping_mul(2_654_435_761).wrapping_add(salt.wrapping_mul(40_503));
    let word = (word ^ (word >> 15)).wrapping_mul(2_246_822_519);
    f64::from((word ^ (word >> 13)) % 10_000) / 10_000.0
}

/// Scores of items that people pass where the quality is above 0.7, seen by a judge with an error of this size.
fn judged(items: u32, error: f64) -> (Vec<f64>, Vec<bool>) {
    let of = |item| (noise(item, 1) + error * (noise(item, 2) - 0.5), noise(item, 1) > 0.7);
    (0..items).map(of).unzip()
}

fn run(data: &(Vec<f64>, Vec<bool>), options: ThresholdOptions) -> ThresholdReport {
    suggest(&data.0, &data.1, &options).unwrap()
}

fn with_present(mark: f64) -> ThresholdOptions {
    ThresholdOptions { present: Some(mark), ..ThresholdOptions::default() }
}

fn text(report: &ThresholdReport) -> String {
    let conclusion = report.conclusion();
    conclusion.meaning.iter().chain(&conclusion.firmer).cloned().collect::<Vec<_>>().join("\n")
}

#[test]
fn a_mark_that_is_too_low_is_found_out() {
    let report = run(&judged(400, 0.3), with_present(0.5));
    let found = &report.suggestion;
    assert!((found.mark - 0.7).abs() < 0.1, "{}", found.mark);
    assert!(found.interval.as_ref().unwrap().low > 0.5);
    assert!(found.corrected.as_ref().unwrap() < &found.apparent);
    let present = report.present.as_ref().unwrap();
    assert!(present.counts.false_passes > found.counts.false_passes);
    assert!(*present.p_value.as_ref().unwrap() < 0.001 && *present.gain.as_ref().unwrap() > 0.0);
    let wrong = |counts: &fullbench_stats::validity::MarkCounts| {
        counts.false_passes + counts.false_failures
    };
    let more = present.only_suggested_right - present.only_present_right;
    assert_eq!(more, wrong(&present.counts) - wrong(&found.counts));
    let said = text(&report);
    assert!(said.contains("the suggested one is right more often"), "{said}");
    assert!(said.contains("McNemar's test favours the suggested mark"), "{said}");
    assert!(said.contains("can be expected to add"), "{said}");
    assert!(!said.contains("are few for a mark"), "{said}");
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["suggestion"]["goal"], "youden");
    assert_eq!(json["suggestion"]["curve"].as_array().unwrap().len(), found.curve.len());
    assert!(json["suggestion"]["interval"]["low"].is_number());
    let grids = report.grids();
    assert!(grids.iter().all(|grid| grid.rows.iter().all(|row| row.len() == grid.header.len())));
    assert_eq!(grids[0].rows.len(), 2);
    assert!(grids[2].rows.len() <= 23, "{}", grids[2].rows.len());
}

#[test]
fn the_same_mark_is_no_change() {
    let data = judged(60, 0.3);
    let mark = run(&data, ThresholdOptions::default()).suggestion.mark;
    let report = run(&data, with_present(mark));
    let present = report.present.as_ref().unwrap();
    assert!(present.p_value.is_err());
    let said = text(&report);
    assert!(said.contains("there is no reason to change it"), "{said}");
    assert!(said.contains("60 labels with"), "{said}");
    assert!(run(&data, ThresholdOptions::default()).present.is_none());
}

#[test]
fn dear_false_passes_raise_the_mark() {
    let data = judged(400, 0.6);
    let with = |goal| run(&data, ThresholdOptions { goal, ..ThresholdOptions::default() });
    let (cheap, dear) = (with(Goal::Cost { ratio: 0.2 }), with(Goal::Cost { ratio: 5.0 }));
    assert!(cheap.suggestion.mark < dear.suggestion.mark);
    assert!(cheap.suggestion.counts.false_passes > dear.suggestion.counts.false_passes);
    assert!(text(&dear).contains("counted 5 times"));
    let json = serde_json::to_value(&dear).unwrap();
    assert_eq!(
        (&json["suggestion"]["goal"], &json["suggestion"]["ratio"]),
        (&"cost".into(), &5.0.into())
    );
}

#[test]
fn a_judge_that_knows_nothing_is_called_so() {
    let passes: Vec<bool> = (0..300).map(|item| noise(item, 3) > 0.5).collect();
    let values: Vec<f64> = (0..300).map(|item| noise(item, 4)).collect();
    let said = text(&run(&(values.clone(), passes.clone()), ThresholdOptions::default()));
    assert!(said.contains("no evidence that the values tell the two kinds apart"), "{said}");
    let (values, passes) = judged(300, 0.3);
    let negated: Vec<f64> = values.iter().map(|value| -value).collect();
    let said = text(&run(&(negated, passes), ThresholdOptions::default()));
    assert!(said.contains("point the wrong way"), "{said}");
    assert!(said.contains("No mark beats"), "{said}");
}

#[test]
fn a_coarse_scale_has_a_clear_mark() {
    let (values, passes) = judged(300, 0.1);
    let steps: Vec<f64> = values.iter().map(|value| (value * 5.0 + 0.5).floor()).collect();
    let report = run(&(steps, passes), ThresholdOptions::default());
    assert!(report.suggestion.interval.is_err(), "{:?}", report.suggestion.interval);
    let said = text(&report);
    assert!(said.contains("led to the same mark"), "{said}");
}

#[test]
fn what_is_wrong_is_told_with_a_hint() {
    let refused = |values: &[f64], passes: &[bool], options: ThresholdOptions| -> AnalysisError {
        suggest(values, passes, &options).unwrap_err()
    };
    let plain = ThresholdOptions::default();
    let error = refused(&[0.1, 0.9], &[true, true], plain);
    assert_eq!(error.to_string(), "the pass mark is undefined: no variation: all labels are equal");
    assert!(error.hint().unwrap().contains("some that should fail"));
    assert!(refused(&[0.5, 0.5], &[true, false], plain).hint().unwrap().contains("another scorer"));
    assert!(refused(&[], &[], plain).hint().unwrap().contains("better a hundred"));
    assert!(refused(&[0.5], &[], plain).hint().unwrap().contains("one label for each"));
    let options = [
        with_present(f64::NAN),
        ThresholdOptions { goal: Goal::Cost { ratio: 0.0 }, ..plain },
        ThresholdOptions { resampling: Resampling { rounds: 5, ..plain.resampling }, ..plain },
        ThresholdOptions {
            resampling: Resampling { confidence: 95.0, ..plain.resampling },
            ..plain
        },
    ];
    for options in options {
        let error = refused(&[0.1, 0.9], &[false, true], options);
        assert!(matches!(error, AnalysisError::Question { .. }), "{error}");
        assert!(error.hint().unwrap().contains("give"));
    }
}
