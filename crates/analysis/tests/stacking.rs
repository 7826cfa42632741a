//! Weights of a panel: the report in numbers and words.
#![allow(clippy::unwrap_used)]

use fullbench_analysis::stacking::{Member, StackingReport, weigh};
use fullbench_analysis::{AnalysisError, Report};
use fullbench_stats::validity::CrossValidation;

/// Numbers that look random and are the same on every machine, from −1 to 1.
fn noise(index: u32, salt: u32) -> f64 {
    let word = index.wrapping_mul(2_654_435_761).wrapping_add(salt.wrapping_mul(40_503));
    let word = (word ^ (word >> 15)).wrapping_mul(2_246_822_519);
    f64::from((word ^ (word >> 13)) % 10_000) / 5000.0 - 1.0
}

fn human(items: u32) -> Vec<f64> {
    (0..items).map(|item| 3.0 + 2.0 * noise(item, 1)).collect()
}

/// Panels of members with errors of these sizes.
fn run(items: u32, errors: &[f64]) -> Result<StackingReport, AnalysisError> {
    let human = human(items);
    let scores = |(error, salt): (&f64, u32)| -> Vec<f64> {
        human.iter().zip(0..).map(|(score, item)| score + error * noise(item, salt)).collect()
    };
    let scores: Vec<Vec<f64>> = errors.iter().zip(2..).map(scores).collect();
    let names = ["anna", "ben", "carla", "dora"];
    let members: Vec<Member<'_>> =
        names.iter().zip(&scores).map(|(name, scores)| Member { name, scores }).collect();
    weigh(&members, &human, &CrossValidation::default())
}

fn text(report: &StackingReport) -> String {
    let conclusion = report.conclusion();
    conclusion.meaning.iter().chain(&conclusion.firmer).cloned().collect::<Vec<_>>().join("\n")
}

#[test]
fn learning_pays_where_members_differ() {
    let report = run(300, &[0.4, 2.0, 2.0]).unwrap();
    assert!(report.members[0].weight > 0.8);
    assert!(report.fit.against_equal.interval.as_ref().unwrap().high < 0.0);
    let said = text(&report);
    assert!(said.starts_with("Learned weights are better than equal ones"), "{said}");
    assert!(said.contains("The weights are anna"), "{said}");
    assert!(!said.contains("items are few"), "{said}");
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["members"][0]["name"], "anna");
    assert!(json["fit"]["against_equal"]["interval"]["high"].as_f64().unwrap() < 0.0);
    let grids = report.grids();
    assert_eq!((grids[0].rows.len(), grids[1].rows.len()), (3, 3));
    assert!(grids.iter().all(|grid| grid.rows.iter().all(|row| row.len() == grid.header.len())));
}

#[test]
fn learning_does_not_pay_where_members_are_alike() {
    let report = run(40, &[1.0, 1.0, 1.0]).unwrap();
    let said = text(&report);
    assert!(
        !said.contains("are better than equal ones:") || said.contains("no evidence"),
        "{said}"
    );
    assert!(said.contains("qual weights"), "{said}");
    assert!(said.contains("40 items are few"), "{said}");
}

#[test]
fn members_without_weight_are_named() {
    // Both are too generous, dora by far.
    let human = human(200);
    let near = human.iter().zip(0..).map(|(score, item)| score + 0.1 + 0.5 * noise(item, 2));
    let (near, far): (Vec<f64>, Vec<f64>) =
        (near.collect(), human.iter().map(|score| score + 5.0).collect());
    let members = [Member { name: "anna", scores: &near }, Member { name: "dora", scores: &far }];
    let report = weigh(&members, &human, &CrossValidation::default()).unwrap();
    let said = text(&report);
    assert!(said.contains("The weights are anna 100.0%; dora adds nothing"), "{said}");
    assert_eq!(report.members[1].weight, 0.0);
}

#[test]
fn one_member_has_nothing_to_be_weighed_against() {
    let report = run(30, &[0.5]).unwrap();
    assert_eq!(report.members[0].weight, 1.0);
    assert!(text(&report).contains("anna is the only member"));
    assert_eq!(report.grids()[1].rows[1][3], "no variation: all values are equal");
}

#[test]
fn fewer_items_than_folds_are_told() {
    let report = run(6, &[0.5, 1.0]).unwrap();
    assert_eq!(report.fit.folds, 6);
    assert!(text(&report).contains("fewer items than the 10 folds"));
}

#[test]
fn what_is_wrong_is_told_with_a_hint() {
    let hint = |members: &[Member<'_>], human: &[f64], validation: CrossValidation| {
        let error = weigh(members, human, &validation).unwrap_err();
        error.hint().unwrap().to_owned()
    };
    let plain = CrossValidation::default();
    let anna = Member { name: "anna", scores: &[1.0, 2.0] };
    assert!(hint(&[anna], &[3.0, 3.0], plain).contains("different quality"));
    assert!(hint(&[], &[3.0, 4.0], plain).contains("name the members"));
    assert!(hint(&[anna], &[3.0], plain).contains("two items"));
    assert!(hint(&[anna], &[3.0, 4.0, 5.0], plain).contains("every member needs a score"));
    let infinite = Member { name: "ben", scores: &[1.0, f64::INFINITY] };
    assert!(hint(&[infinite], &[3.0, 4.0], plain).contains("usable score"));
    assert!(
        hint(&[anna], &[3.0, 4.0], CrossValidation { folds: 1, ..plain }).contains("10 is usual")
    );
    let certain = CrossValidation { confidence: 1.0, ..plain };
    assert!(hint(&[anna], &[3.0, 4.0], certain).contains("0.95"));
}
