//! A/B tests of files.
#![allow(clippy::unwrap_used)]

mod refused;

use std::io::Write;

use fullbench_analysis::ab::{
    AbInput, AbMethod, AbOptions, AbPrior, AbReport, AbResult, SequentialKind, SequentialReport, ab,
};
use fullbench_analysis::{AnalysisError, Report};
use fullbench_stats::experiment::{Decision, Spending};
use serde_json::Value;
use tempfile::NamedTempFile;

const A: [f64; 12] = [0.62, 0.71, 0.55, 0.8, 0.66, 0.59, 0.73, 0.68, 0.61, 0.77, 0.64, 0.7];
const B: [f64; 12] = [0.72, 0.79, 0.66, 0.85, 0.7, 0.69, 0.74, 0.81, 0.65, 0.88, 0.71, 0.76];

fn file(text: &str) -> NamedTempFile {
    let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

fn column(values: &[f64]) -> String {
    let lines: Vec<String> = values.iter().map(f64::to_string).collect();
    format!("value\n{}\n", lines.join("\n"))
}

fn compared(
    control: &str,
    treatment: &str,
    options: &AbOptions,
) -> Result<AbReport, AnalysisError> {
    let (control, treatment) = (file(control), file(treatment));
    let input = AbInput::Files {
        control: control.path().to_owned(),
        treatment: treatment.path().to_owned(),
    };
    ab(&input, options)
}

fn method(method: AbMethod) -> AbOptions {
    AbOptions { method, ..AbOptions::default() }
}

fn sequential(kind: SequentialKind) -> AbOptions {
    AbOptions { sequential: Some(kind), ..method(AbMethod::Sequential) }
}

/// Values without chance: a wave around a level.
fn wave(count: usize, level: f64) -> Vec<f64> {
    (0..count).map(|index| level + ((index * 7919 % 101) as f64 - 50.0) / 50.0).collect()
}

#[test]
fn welch_speaks_in_the_words_of_the_recommendation() {
    let report = compared(&column(&A), &column(&B), &AbOptions::default()).unwrap();
    let AbResult::Frequentist(test) = &report.result else { panic!("{report:?}") };
    assert!((test.comparison.p_value - 0.020_855_606_177_289_758).abs() < 1e-9);
    let said = &report.conclusion().meaning[0];
    assert!(said.starts_with("Treatment is significantly BETTER than control"), "{said}");
    assert!(said.contains("0.0750") && said.contains("0.0209"), "{said}");
    let json: Value = serde_json::to_value(&report).unwrap();
    assert_eq!(json["method"], "frequentist");
    assert!(json["frequentist"]["comparison"]["interval"]["low"].is_f64());
    assert!(json["conclusion"]["meaning"][0].is_string());
    let other_way = compared(&column(&B), &column(&A), &AbOptions::default()).unwrap();
    assert!(other_way.conclusion.meaning[0].contains("significantly WORSE"));
}

#[test]
fn no_evidence_is_not_called_equality() {
    let report = compared(&column(&A[..6]), &column(&A[6..]), &AbOptions::default()).unwrap();
    assert!(report.conclusion.meaning[0].starts_with("No significant difference detected"));
    assert!(report.conclusion.meaning[1].contains("no evidence that the arms are equal"));
    assert!(report.conclusion.firmer[0].contains("values in all"), "{:?}", report.conclusion);
}

#[test]
fn values_that_do_not_vary_have_a_difference_and_no_test() {
    for chosen in [AbMethod::Frequentist, AbMethod::Bayesian] {
        let report = compared("value\n2\n2\n2\n", "value\n5\n5\n", &method(chosen)).unwrap();
        assert!(matches!(report.result, AbResult::Undefined(_)), "{report:?}");
        assert_eq!(report.difference, 3.0);
        assert!(report.conclusion.meaning[0].contains("3.0000"));
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["undefined"]["reason"], "no_variation");
        assert_eq!(report.grids().len(), 2);
    }
    let report = compared("value\n2\n", "value\n5\n6\n", &AbOptions::default()).unwrap();
    assert_eq!(serde_json::to_value(&report).unwrap()["undefined"]["reason"], "too_few");
}

#[test]
fn yes_and_no_are_rates_and_everything_else_means() {
    let yes_no = |yes: usize, count: usize| {
        column(&(0..count).map(|i| f64::from(u8::from(i < yes))).collect::<Vec<_>>())
    };
    let report =
        compared(&yes_no(120, 1000), &yes_no(150, 1000), &method(AbMethod::Bayesian)).unwrap();
    let AbResult::Bayesian(bayesian) = &report.result else { panic!("{report:?}") };
    assert_eq!(bayesian.model, "beta_binomial");
    assert!((bayesian.test.probability_of_improvement - 0.975_067_836_812_098_6).abs() < 1e-9);
    let options = AbOptions { prior: Some(AbPrior::Reference), ..method(AbMethod::Bayesian) };
    let report = compared(&yes_no(120, 1000), &yes_no(150, 1000), &options).unwrap();
    assert!(report.conclusion.firmer[0].contains("`--prior`"), "{:?}", report.conclusion);
    let report = compared(&column(&A), &column(&B), &method(AbMethod::Bayesian)).unwrap();
    let AbResult::Bayesian(bayesian) = &report.result else { panic!("{report:?}") };
    assert_eq!(bayesian.model, "normal_inverse_gamma");
    assert!((bayesian.test.probability_of_improvement - 0.988_518_384_440_470_2).abs() < 1e-9);
    assert!(report.conclusion.meaning[0].starts_with("High confidence treatment is BETTER (>95%)"));
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["bayesian"]["prior"]["kappa"], 1e-6);
}

#[test]
fn a_prior_that_does_not_fit_the_values_is_named() {
    let tiny: Vec<f64> = A.iter().map(|value| value * 1e-6).collect();
    let other: Vec<f64> = B.iter().map(|value| value * 1e-6).collect();
    let report = compared(&column(&tiny), &column(&other), &method(AbMethod::Bayesian)).unwrap();
    let said = &report.conclusion.meaning[0];
    assert!(said.starts_with("Do not rely on these probabilities"), "{said}");
    assert!(said.contains("`--prior reference`"), "{said}");
    let options = AbOptions { prior: Some(AbPrior::Reference), ..method(AbMethod::Bayesian) };
    let probability = |control: &[f64], treatment: &[f64]| {
        let report = compared(&column(control), &column(treatment), &options).unwrap();
        let AbResult::Bayesian(bayesian) = &report.result else { panic!("{report:?}") };
        bayesian.test.probability_of_improvement
    };
    assert!((probability(&tiny, &other) - probability(&A, &B)).abs() < 1e-9);
    let report = compared(&column(&tiny), &column(&other), &options).unwrap();
    assert!(!report.conclusion.meaning[0].contains("prior"));
    let far = |values: &[f64]| values.iter().map(|value| value + 1e12).collect::<Vec<_>>();
    let report =
        compared(&column(&far(&A)), &column(&far(&B)), &method(AbMethod::Bayesian)).unwrap();
    assert!(report.conclusion.meaning[0].starts_with("Do not rely"), "{:?}", report.conclusion);
}

#[test]
fn a_covariate_in_both_files_takes_out_its_noise() {
    let rows = |lift: f64| {
        let mut text = "value,covariate\n".to_owned();
        for (index, noise) in wave(60, 0.0).iter().enumerate() {
            let covariate = (index * 31 % 60) as f64;
            text.push_str(&format!("{},{covariate}\n", covariate + noise + lift));
        }
        text
    };
    let report = compared(&rows(0.0), &rows(0.5), &AbOptions::default()).unwrap();
    let cuped = report.cuped.as_ref().unwrap();
    assert!(cuped.variance_reduction > 0.99, "{cuped:?}");
    let AbResult::Frequentist(test) = &report.result else { panic!("{report:?}") };
    assert!(test.significant);
    let alone = compared(&rows(0.0), &column(&wave(60, 30.0)), &AbOptions::default()).unwrap();
    assert!(alone.cuped.is_none());
}

#[test]
fn arms_of_unplanned_sizes_are_suspected_but_shown() {
    let report =
        compared(&column(&wave(1000, 0.0)), &column(&wave(700, 0.0)), &AbOptions::default())
            .unwrap();
    assert!(report.sample_ratio.mismatch);
    assert!(report.conclusion.firmer[0].starts_with("Sample-ratio mismatch: 41.2%"));
    let options = AbOptions { expected_share: 0.41, ..AbOptions::default() };
    let report = compared(&column(&wave(1000, 0.0)), &column(&wave(700, 0.0)), &options).unwrap();
    assert!(!report.sample_ratio.mismatch);
}

#[test]
fn one_file_with_variants_is_the_same_as_two() {
    let mut text = "name,variant,score\n".to_owned();
    for (first, second) in A.iter().zip(&B) {
        text.push_str(&format!("x,new,{second}\ny,old,{first}\n"));
    }
    let file = file(&text);
    let input = |control: &str| AbInput::Variants {
        file: file.path().to_owned(),
        control: control.to_owned(),
    };
    let options = AbOptions {
        columns: vec![("value".to_owned(), "score".to_owned())],
        ..AbOptions::default()
    };
    let report = ab(&input("old"), &options).unwrap();
    let AbResult::Frequentist(test) = &report.result else { panic!("{report:?}") };
    assert!((test.comparison.p_value - 0.020_855_606_177_289_758).abs() < 1e-9);
    let error = ab(&input("control"), &options).unwrap_err();
    assert!(error.to_string().contains("`new`, `old`"), "{error}");
}

fn with_looks(days: usize, per_day: usize, level: f64) -> String {
    let mut text = "day,value\n".to_owned();
    // Days are written out of order; they are put in order by number.
    for day in (1..=days).rev() {
        for value in wave(per_day * day, level).iter().skip(per_day * (day - 1)) {
            text.push_str(&format!("{day},{value}\n"));
        }
    }
    text
}

#[test]
fn every_sequential_test_finds_a_clear_difference_and_says_when() {
    for kind in [
        SequentialKind::ConfidenceSequence,
        SequentialKind::Msprt,
        SequentialKind::OBrienFleming,
        SequentialKind::Pocock,
        SequentialKind::Spending,
    ] {
        let plans = !matches!(kind, SequentialKind::ConfidenceSequence | SequentialKind::Msprt);
        let options = AbOptions { planned_looks: plans.then_some(12), ..sequential(kind) };
        let report =
            compared(&with_looks(11, 60, 0.0), &with_looks(11, 60, 0.3), &options).unwrap();
        let AbResult::Sequential(found) = &report.result else { panic!("{report:?}") };
        assert_eq!(found.recommendation, "Treatment is significantly BETTER than control");
        assert_eq!(found.looks.len() + found.planned.len(), 11);
        assert!(report.conclusion.meaning[0].contains("decided at look"), "{kind:?}");
        let labels: Vec<&str> = found
            .looks
            .iter()
            .map(|look| look.label.as_str())
            .chain(found.planned.iter().map(|look| look.label.as_str()))
            .collect();
        assert_eq!(labels[1], "2");
        assert_eq!(labels[10], "11");
        let rows = report.grids()[1].rows.len();
        assert_eq!(rows, if found.planned.is_empty() { 11 } else { 12 });
        serde_json::to_value(&report).unwrap();
    }
}

#[test]
fn equal_arms_go_on_until_the_plan_ends() {
    let arm = with_looks(4, 60, 0.0);
    let report = compared(&arm, &arm, &sequential(SequentialKind::ConfidenceSequence)).unwrap();
    assert!(report.conclusion.meaning[0].starts_with("Insufficient evidence, continue experiment"));
    let options = AbOptions { planned_looks: Some(4), ..sequential(SequentialKind::OBrienFleming) };
    let report = compared(&arm, &arm, &options).unwrap();
    assert!(report.conclusion.meaning[0].starts_with("No significant difference detected"));
    let options = AbOptions { planned_units: Some(960), ..sequential(SequentialKind::Spending) };
    let report = compared(&arm, &arm, &options).unwrap();
    let AbResult::Sequential(found) = &report.result else { panic!("{report:?}") };
    assert_eq!(found.design.as_ref().unwrap().fractions, [0.125, 0.25, 0.375, 0.5, 1.0]);
    assert!(report.conclusion.meaning[0].starts_with("Insufficient evidence"));
}

#[test]
fn rows_in_order_are_looks_too() {
    let options = AbOptions { looks: Some(5), ..sequential(SequentialKind::ConfidenceSequence) };
    let report = compared(&column(&wave(500, 0.0)), &column(&wave(450, 0.4)), &options).unwrap();
    let AbResult::Sequential(found) = &report.result else { panic!("{report:?}") };
    let counts: Vec<(u64, u64)> = found
        .looks
        .iter()
        .map(|look| (look.look.control_count, look.look.treatment_count))
        .collect();
    assert_eq!(counts, [(100, 90), (200, 180), (300, 270), (400, 360), (500, 450)]);
}

fn groups(report: &AbReport) -> &SequentialReport {
    let AbResult::Sequential(found) = &report.result else { panic!("{report:?}") };
    found
}

#[test]
fn only_the_looks_that_planned_units_allow_are_shown() {
    for kind in [SequentialKind::OBrienFleming, SequentialKind::Pocock, SequentialKind::Spending] {
        let planned = |units: Option<u64>| AbOptions {
            planned_looks: Some(5),
            planned_units: units,
            ..sequential(kind)
        };
        let seen = |control: usize, treatment: usize, units: Option<u64>| {
            let (one, other) = (column(&wave(control, 0.0)), column(&wave(treatment, 0.3)));
            compared(&one, &other, &planned(units)).unwrap()
        };
        let counts = |report: &AbReport| -> Vec<(u64, u64)> {
            let looks = groups(report).planned.iter();
            looks.map(|look| (look.look.control_count, look.look.treatment_count)).collect()
        };
        // 270 of 1000: one look, at 200; it is that of the first 200 alone, and stays so when more values come.
        let report = seen(135, 135, Some(1000));
        assert_eq!(counts(&report), [(100, 100)]);
        let said = &report.conclusion.firmer[0];
        assert!(
            said.contains("Look 2 of 5 is due at 400 values; there are 270. 70 values"),
            "{said}"
        );
        let rows = &report.grids()[1].rows;
        assert_eq!(rows.len(), 5);
        assert!(rows[1..].iter().all(|row| row.last().is_some_and(|last| last == "to come")));
        assert_eq!(groups(&report).design, groups(&seen(300, 300, Some(1000))).design);
        assert_eq!(
            groups(&report).planned[0].look,
            groups(&seen(300, 300, Some(1000))).planned[0].look
        );
        // Arms of other sizes take part in proportion; 1001 units are looked at when a fifth is there.
        assert_eq!(counts(&seen(300, 150, Some(1001))), [(134, 67), (267, 134)]);
        assert_eq!(counts(&seen(500, 500, Some(1000))).last(), Some(&(500, 500)));
        // No look yet.
        let report = seen(50, 50, Some(1000));
        assert_eq!(counts(&report), []);
        assert_eq!(groups(&report).decision, Decision::Continue);
        assert_eq!(groups(&report).decided_at, None);
        assert!(report.conclusion.firmer[0].contains("Look 1 of 5 is due at 200 values"));
        assert_eq!(report.grids()[1].rows.len(), 5);
        // Without planned units the data are complete, and that is said.
        let report = seen(135, 135, None);
        assert_eq!(counts(&report).len(), 5);
        let said = &report.conclusion.firmer[0];
        assert!(said.contains("taken as complete") && said.contains("`--planned-units`"), "{said}");
    }
}

#[test]
fn planned_units_leave_the_looks_of_a_file_as_they_are() {
    let arm = with_looks(3, 60, 0.0);
    let options = |units: u64| AbOptions {
        planned_looks: Some(5),
        planned_units: Some(units),
        ..sequential(SequentialKind::Pocock)
    };
    let report = compared(&arm, &arm, &options(600)).unwrap();
    assert_eq!(groups(&report).planned.len(), 3);
    assert!(!report.conclusion.firmer.iter().any(|said| said.contains("equal steps")));
    let report = compared(&arm, &arm, &options(6000)).unwrap();
    assert!(
        report.conclusion.firmer[0].contains("`--sequential spending`"),
        "{:?}",
        report.conclusion
    );
    let error = compared(&arm, &arm, &options(300)).unwrap_err();
    assert!(error.to_string().contains("300 units are planned, and look `3` has 360"), "{error}");
}

#[test]
fn the_bound_in_the_table_is_the_one_that_decides() {
    let options = AbOptions { planned_looks: Some(1), ..sequential(SequentialKind::Pocock) };
    let report = compared("value\n0\n1\n2\n", "value\n2.2\n3.4\n4.0\n", &options).unwrap();
    let row = &report.grids()[1].rows[0];
    let (statistic, bound): (f64, f64) = (row[5].parse().unwrap(), row[6].parse().unwrap());
    assert!(bound > 2.7, "{row:?}");
    assert_eq!(statistic > bound, row[7] == "treatment better", "{row:?}");
}

#[test]
fn looks_are_never_more_than_values() {
    let options = AbOptions { looks: Some(50), ..sequential(SequentialKind::ConfidenceSequence) };
    let report = compared(&column(&A), &column(&B[..7]), &options).unwrap();
    let looks = &groups(&report).looks;
    assert_eq!(looks.len(), 7);
    assert!(looks.iter().all(|each| each.look.control_count > 0 && each.look.treatment_count > 0));
}

#[test]
fn equal_arms_without_variation_are_called_equal() {
    let report = compared("value\n2\n2\n2\n", "value\n2\n2\n", &AbOptions::default()).unwrap();
    let said = &report.conclusion.meaning[0];
    assert!(said.starts_with("The means of the arms are equal, 2.0000;"), "{said}");
}

#[test]
fn values_far_from_zero_keep_their_difference() {
    // Quarters are exact at this size.
    let quarters = |count: usize, step: usize| -> Vec<f64> {
        (0..count).map(|index| (index * step % 101) as f64 / 4.0).collect()
    };
    let (one, other) = (quarters(700, 37), quarters(450, 53));
    let far = |values: &[f64]| column(&values.iter().map(|value| value + 1e12).collect::<Vec<_>>());
    for options in [AbOptions::default(), sequential(SequentialKind::ConfidenceSequence)] {
        let near = compared(&column(&one), &column(&other), &options).unwrap();
        let away = compared(&far(&one), &far(&other), &options).unwrap();
        assert!((near.difference - away.difference).abs() < 1e-12);
        assert_eq!(near.grids()[1], away.grids()[1]);
    }
}
