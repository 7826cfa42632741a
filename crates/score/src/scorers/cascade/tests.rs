//! Which outputs go how far, with which chance, and what is refused.

#![allow(clippy::unwrap_used, clippy::panic)]

use fullbench_types::{
    CascadeEnd, CascadePath, Generation, Outcome, Score, ScorePath, TestCase, TierEntry,
};
use serde_json::{Map, Value, json};

use crate::scorers::fixture::{refused, scorer};
use crate::{Item, NamedScorer};

fn case(key: &str) -> TestCase {
    TestCase {
        index: 0,
        key: key.to_owned(),
        input: Value::Null,
        references: vec![json!("7")],
        fields: Map::from_iter([("hard".to_owned(), json!(key.ends_with('3')))]),
    }
}

fn score_of(scorer: &NamedScorer, key: &str, text: &str) -> Score {
    let (case, generation) = (case(key), Generation::recorded(text.to_owned()));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(scorer.scorer.score(&[Item::new(&case, &generation)])).remove(0)
}

fn path(score: &Score) -> &CascadePath {
    match score.path.as_deref() {
        Some(ScorePath::Cascade(path)) => path,
        other => panic!("no path through a cascade: {other:?}"),
    }
}

/// Checks on all, an exact match on a fifth, token overlap on half of these and on what does not match.
fn cascade(more: Value) -> Value {
    let mut entry = json!({"type": "cascade", "tiers": [
        {"name": "checks", "scorers": [{"type": "length", "max": 5, "unit": "words"}], "hard_fail": "checks.failed"},
        {"name": "fast", "scorers": ["exact_match"], "sample": 0.2},
        {"name": "full", "scorers": ["token_f1"], "sample": 0.5},
    ]});
    for (key, value) in more.as_object().unwrap() {
        entry[key] = value.clone();
    }
    entry
}

#[test]
fn draws_are_repeated_and_their_chances_are_what_the_tiers_say() {
    let cascade = scorer(cascade(json!({"audit": 0.1})));
    let (mut judged, mut weights) = (0, 0.0);
    let mut ends = Vec::new();
    for number in 0..4_000 {
        let text = ["7", "8", "far too many words to pass here"][number % 3];
        let key = format!("case {number}");
        let score = score_of(&cascade, &key, text);
        assert_eq!(score, score_of(&cascade, &key, text));
        let path = path(&score);
        ends.push(path.end);
        let chances: Vec<f64> = path.tiers.iter().map(|tier| tier.probability).collect();
        let expected: &[f64] = match text {
            "7" => &[1.0, 0.2, 0.1],
            "8" => &[1.0, 0.2, 0.2],
            _ => &[1.0, 0.1, 0.1],
        };
        assert_eq!(chances, expected[..chances.len()], "{text}");
        if path.end == CascadeEnd::Judged {
            assert!(score.value.is_some());
            judged += 1;
            weights += 1.0 / chances[2];
        } else {
            assert_eq!((score.outcome, score.value), (Outcome::NotSampled, None));
            assert!(score.reasoning.is_some());
        }
    }
    // 4,000 cases of three kinds with chances 0.1, 0.2 and 0.1: the weights stand for all of them.
    assert!((430..=640).contains(&judged), "{judged}");
    assert!((3_300.0..4_700.0).contains(&weights), "{weights}");
    let count = |end| ends.iter().filter(|one| **one == end).count();
    assert!((1_100..1_300).contains(&count(CascadeEnd::HardFail)));
}

#[test]
fn failures_are_escalated_and_audits_go_all_the_way() {
    let cascade = scorer(cascade(json!({"audit": 1.0})));
    let score = score_of(&cascade, "x", "far too many words to pass here");
    let entries: Vec<TierEntry> = path(&score).tiers.iter().map(|tier| tier.entry).collect();
    assert_eq!(entries, [TierEntry::Drawn, TierEntry::Audited, TierEntry::Audited]);
    let keys = (0..200).map(|number| format!("case {number}"));
    let escalated = keys.filter(|key| path(&score_of(&cascade, key, "8")).tiers.len() > 1);
    for key in escalated {
        assert_eq!(path(&score_of(&cascade, &key, "8")).tiers[2].entry, TierEntry::Escalated);
    }
}

#[test]
fn a_confident_tier_ends_the_way_unless_it_fails() {
    let entry = json!({"type": "cascade", "target_confidence": 0.9, "audit": 1e-9, "tiers": [
        {"name": "fast", "scorers": ["exact_match"], "confidence": "0.95 if exact_match.passed else 0.5"},
        {"name": "full", "scorers": ["token_f1"], "escalate": "case.hard"},
    ]});
    let cascade = scorer(entry);
    let end = |key, text| path(&score_of(&cascade, key, text)).end;
    assert_eq!(end("1", "7"), CascadeEnd::Confident);
    assert_eq!(end("1", "8"), CascadeEnd::Judged);
    assert_eq!(end("3", "7"), CascadeEnd::Judged);
}

#[test]
fn what_cannot_be_said_counts_as_a_doubt() {
    let entry = json!({"type": "cascade", "tiers": [
        {"name": "fast", "scorers": ["exact_match"]},
        {"name": "full", "scorers": ["json_valid"], "sample": 1e-9, "escalate": "exact_match.value < 0.5"},
    ]});
    let cascade = scorer(entry);
    let case = TestCase { references: Vec::new(), ..case("x") };
    let generation = Generation::recorded("7".to_owned());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let score = runtime.block_on(cascade.scorer.score(&[Item::new(&case, &generation)])).remove(0);
    assert_eq!(path(&score).end, CascadeEnd::Judged);
}

#[test]
fn a_condition_that_cannot_be_decided_is_told() {
    let entry = json!({"type": "cascade", "tiers": [
        {"name": "fast", "scorers": ["exact_match"]},
        {"name": "full", "scorers": ["json_valid"], "sample": 0.5, "escalate": "case.langauge == 'de'"},
    ]});
    let score = score_of(&scorer(entry), "1", "7");
    assert!(path(&score).undecided);
    assert_eq!(path(&score).tiers.len(), 2);
    assert!(!path(&score_of(&scorer(cascade(json!({}))), "1", "7")).undecided);
}

#[test]
fn mistakes_are_told_in_their_place() {
    let with = |place: &str, field: &str, value: Value| {
        let mut entry = cascade(json!({}));
        *entry
            .pointer_mut(place)
            .unwrap()
            .as_object_mut()
            .unwrap()
            .entry(field)
            .or_insert(Value::Null) = value;
        let error = refused(entry);
        (error.field.unwrap_or_default(), error.message, error.hint.unwrap_or_default())
    };
    let (field, message, hint) = with("/tiers/2", "escalate", json!("fats.failed"));
    assert_eq!(field, "tiers[2].escalate");
    assert!(message.contains("uses `fats`") && hint.contains("`fast`"), "{message} {hint}");
    assert!(with("/tiers/2", "escalate", json!("fast.passes")).2.contains("passed"));
    assert!(with("/tiers/1", "hard_fail", json!("full.failed")).1.contains("no tier before"));
    assert!(with("/tiers/1", "hard_fail", json!("fast.failed or")).1.contains("is wrong"));
    assert_eq!(with("/tiers/1", "sample", json!(0)).0, "tiers[1].sample");
    assert_eq!(with("/tiers/0", "sample", json!(0.5)).0, "tiers[0].sample");
    assert_eq!(with("", "audit", json!(0)).0, "audit");
    assert_eq!(with("/tiers/1", "name", json!("checks")).0, "tiers[1].name");
    assert!(with("/tiers/2", "escalate", json!("fast.value|foo > 1")).1.contains("is wrong"));
    assert!(with("/tiers/1", "name", json!("none")).1.contains("means something else"));
    assert_eq!(with("/tiers/1", "confidence", json!("0.9")).0, "tiers[1].confidence");
    assert_eq!(with("", "target_confidence", json!(0.9)).0, "target_confidence");
    let inner = json!([{"type": "cascade", "tiers": cascade(json!({}))["tiers"]}]);
    assert!(with("/tiers/2", "scorers", inner).1.contains("cannot be part"));
}
