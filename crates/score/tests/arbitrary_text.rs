//! No text makes a scorer panic, and every score agrees with its outcome.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use fullbench_score::{Item, NamedScorer, ScorerConfig, build};
use fullbench_types::{Generation, Outcome, Score, TestCase};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn scorers() -> Vec<NamedScorer> {
    let entries = json!([
        "exact_match",
        {"type": "exact_match", "ignore_case": true, "ignore_punctuation": true, "ignore_articles": true},
        {"type": "exact_match", "ignore_punctuation": true, "collapse_whitespace": true, "trim": false},
        "contains",
        {"type": "contains", "mode": "all", "ignore_case": true},
        "not_contains",
        {"type": "regex", "patterns": ["\\d", "^a", "é"], "mode": "share", "threshold": 0.5},
        {"type": "regex", "patterns": ["\\d", "^a"], "mode": "share"},
        {"type": "regex", "patterns": ["\\d"], "multiline": true},
        "json_valid",
        {"type": "json_valid", "extract": true},
        {"type": "json_schema", "schema": {"type": "object", "required": ["a"]}, "extract": true},
        {"type": "json_field", "field": "a.0", "extract": true},
        {"type": "json_equal", "extract": true, "tolerance": 0.1},
        "numeric_match",
        {"type": "numeric_match", "extract": "first", "tolerance": 0.5},
        {"type": "numeric_match", "extract": "whole", "relative_tolerance": 0.5},
        "multiple_choice",
        {"type": "multiple_choice", "reference_is": "index"},
        {"type": "length", "min": 3, "max": 10, "unit": "words"},
        {"type": "latency", "max_ms": 1},
        {"type": "cost", "max_usd": 1},
    ]);
    let configs: Vec<ScorerConfig> = serde_json::from_value(entries).unwrap();
    configs.iter().map(|config| build(config).unwrap()).collect()
}

fn scores(scorer: &NamedScorer, text: &str, references: Vec<Value>) -> Vec<Score> {
    let case =
        TestCase { index: 0, key: "0".into(), input: Value::Null, references, fields: Map::new() };
    let generation = Generation::recorded(text.to_owned());
    let items = [Item::new(&case, &generation); 2];
    let mut scoring = pin!(scorer.scorer.score(&items));
    match scoring.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(scores) => scores,
        Poll::Pending => panic!("a built-in scorer waits for nothing"),
    }
}

fn check(text: &str, references: &[Value]) {
    for scorer in scorers() {
        let scores = scores(&scorer, text, references.to_vec());
        assert_eq!(scores.len(), 2, "one score for each item");
        let score = &scores[0];
        match (score.outcome, score.value) {
            (Outcome::Unscored(_), value) => assert_eq!(value, None),
            (_, None) => panic!("{}: {score:?} has no value", scorer.signature),
            (outcome, Some(value)) => {
                assert!((0.0..=1.0).contains(&value), "{}: {value}", scorer.signature);
                if scorer.binary {
                    assert_eq!(outcome, Outcome::from_pass(value == 1.0), "{}", scorer.signature);
                }
            }
        }
    }
}

fn reference() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[A-D0-9.,$ -]{0,8}".prop_map(Value::from),
        Just(json!({"a": [1, {"b": null}]})),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn arbitrary_text_is_scored(text in any::<String>(), references in prop::collection::vec(reference(), 0..3)) {
        check(&text, &references);
    }

    #[test]
    fn text_full_of_signs_is_scored(text in "[-−+$€.,eE0-9×x*^10{}()A-D`\\[\\]\" :\\\\ngaswertio\n]{0,40}", references in prop::collection::vec(reference(), 0..3)) {
        check(&text, &references);
    }

    #[test]
    fn an_output_equals_itself(text in "\\PC{0,30}") {
        let config: ScorerConfig = serde_json::from_value(json!("exact_match")).unwrap();
        let score = scores(&build(&config).unwrap(), &text, vec![json!(text)]).remove(0);
        prop_assert_eq!(score.outcome, Outcome::Passed);
    }

    #[test]
    fn a_number_is_found_however_it_is_wrapped(number in any::<i32>(), decimals in 0_u32..10_000, before in "[a-z ]{0,10} ", after in " [a-z ]{0,10}") {
        let config: ScorerConfig = serde_json::from_value(json!("numeric_match")).unwrap();
        let text = format!("{before}{number}.{decimals:04}{after}");
        let score = scores(&build(&config).unwrap(), &text, vec![json!(format!("{number}.{decimals:04}0"))]).remove(0);
        prop_assert_eq!(score.outcome, Outcome::Passed, "{}", text);
    }
}
