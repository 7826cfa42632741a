#![allow(clippy::unwrap_used)]
use fullbench_types::{Generation, Outcome, UnscoredReason};
use serde_json::{Map, Value, json};

use super::*;
use crate::scorers::fixture::{refused, score, scorer};

fn card(score: &Score) -> Scorecard {
    serde_json::from_value(score.evidence.clone().unwrap()).unwrap()
}

fn with_fields(entry: Value, text: &str, fields: Value) -> Score {
    let Value::Object(fields) = fields else { unreachable!() };
    let case = TestCase {
        index: 0,
        key: "0".to_owned(),
        input: Value::Null,
        references: vec![json!("7")],
        fields,
    };
    let generation = Generation::recorded(text.to_owned());
    let items = [Item::new(&case, &generation)];
    let scorer = scorer(entry);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(scorer.scorer.score(&items)).remove(0)
}

#[test]
fn the_overall_score_is_weighted_over_what_is_scored() {
    let entry = json!({"type": "scorecard", "threshold": 0.7, "criteria": [
        {"name": "correct", "weight": 0.6, "scorer": "exact_match"},
        {"name": "form", "weight": 0.2, "scorer": "json_valid", "max_score": 10},
        {"name": "tone", "weight": 0.2, "scorer": "human_review"},
    ]});
    let scored = score(&scorer(entry.clone()), "7", json!("7"));
    assert_eq!(
        (scored.raw, scored.value, scored.outcome),
        (Some(100.0), Some(1.0), Outcome::Passed)
    );
    assert_eq!(scored.confidence, None);
    let scored = score(&scorer(entry), "8", json!("7"));
    let card = card(&scored);
    assert!((scored.value.unwrap() - 0.25).abs() < 1e-12);
    assert_eq!(scored.outcome, Outcome::Failed);
    assert_eq!(
        (card.criteria[1].score, card.criteria[1].band),
        (Some(10.0), Some(Band::Excellent))
    );
    assert_eq!(card.criteria[2].unscored, Some(UnscoredReason::PendingHuman));
    assert_eq!(card.feedback.strengths, ["Excellent performance on form"]);
    assert_eq!(card.feedback.weaknesses.len(), 1);
    assert!(card.feedback.explanation.ends_with("without a score: tone"));
}

#[test]
fn a_person_decides_and_the_card_is_made_anew() {
    let entry = json!({"type": "scorecard", "criteria": [
        {"name": "correct", "scorer": "exact_match", "person_decides": true},
    ]});
    let waits = score(&scorer(entry), "7", json!("7"));
    assert_eq!(waits.outcome, Outcome::Unscored(UnscoredReason::PendingHuman));
    assert_eq!(card(&waits).criteria[0].suggested, Some(100.0));
    let reviewed = card(&waits).review("correct", 65.0, "ana", Some("nearly")).unwrap();
    assert_eq!((reviewed.overall, reviewed.criteria[0].suggested), (Some(65.0), Some(100.0)));
    assert_eq!(reviewed.criteria[0].reviewer.as_deref(), Some("ana"));
    let words = "Satisfactory performance with several areas needing improvement";
    assert_eq!(reviewed.feedback.explanation, words);
    assert!(card(&waits).review("correct", 101.0, "ana", None).is_err());
    assert!(card(&waits).review("other", 1.0, "ana", None).unwrap_err().contains("correct"));
}

#[test]
fn rules_change_the_score_in_their_order() {
    let entry = json!({"type": "scorecard", "criteria": [{"name": "correct", "scorer": "exact_match", "rules": [
        {"when": {"type": "contains", "values": ["sorry"]}, "action": "deduct", "points": 30},
        {"when": "json_valid", "fails": true, "action": "cap", "points": 50},
    ]}]});
    let with = |text: &str| score(&scorer(entry.clone()), text, json!([text])).raw;
    assert_eq!(with("7"), Some(100.0));
    assert_eq!(with("\"sorry\""), Some(70.0));
    assert_eq!(with("so sorry"), Some(50.0));
}

#[test]
fn the_type_of_task_decides_where_no_criteria_are_given() {
    let entry = json!({"type": "scorecard", "task": "coding"});
    let fields = json!({"constraints": ["^fn ", "unsafe"]});
    let scored = with_fields(entry.clone(), "fn main() {}", fields);
    let card = card(&scored);
    let names: Vec<&str> = card.criteria.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["correctness", "code_quality", "format_compliance"]);
    assert_eq!(card.criteria[0].unscored, Some(UnscoredReason::ScorerError));
    assert!(card.criteria[1].feedback.contains("`model`"));
    assert_eq!(card.overall, Some(50.0));
    let unknown = with_fields(entry, "x", json!({"task_type": "poetry"}));
    assert!(unknown.reasoning.unwrap().contains("`poetry`"));
}

#[test]
fn a_case_may_name_its_criteria() {
    let entry = json!({"type": "scorecard", "criteria": [
        {"name": "correct", "scorer": "exact_match"}, {"name": "form", "scorer": "json_valid"},
    ]});
    let only = with_fields(entry.clone(), "8", json!({"criteria": ["form"]}));
    assert_eq!((only.value, card(&only).criteria.len()), (Some(1.0), 1));
    let wrong = with_fields(entry.clone(), "8", json!({"criteria": ["style"]}));
    assert!(wrong.reasoning.unwrap().contains("there are correct, form"));
    let all = with_fields(entry, "8", Value::Object(Map::new()));
    assert_eq!(all.value, Some(0.5));
}

#[test]
fn mistakes_are_told_in_their_place() {
    let place = |criteria: Value| {
        refused(json!({"type": "scorecard", "criteria": criteria})).field.unwrap()
    };
    assert_eq!(
        place(json!([{"name": "a", "weight": -1, "scorer": "exact_match"}])),
        "criteria[0].weight"
    );
    assert_eq!(place(json!([{"name": "a", "scorer": "exact_mach"}])), "criteria[0].scorer");
    let twice =
        json!([{"name": "a", "scorer": "exact_match"}, {"name": "a", "scorer": "exact_match"}]);
    assert_eq!(place(twice), "criteria[1].name");
    let bands = json!([{"name": "a", "scorer": "exact_match", "bands": {"good": 95}}]);
    assert_eq!(place(bands), "criteria[0].bands");
}

#[test]
fn cards_out_of_range_are_not_given_out() {
    let entry = json!({"type": "scorecard", "criteria": [{"name": "a", "scorer": "exact_match"}]});
    let mut wrong = card(&score(&scorer(entry), "7", json!("7")));
    wrong.criteria[0].score = Some(101.0);
    assert!(wrong.validate().unwrap_err().contains("`a`"));
    assert_eq!(wrong.into_score(None).outcome, Outcome::Unscored(UnscoredReason::ScorerError));
}
