//! Who is asked about what.

#![allow(clippy::unwrap_used, clippy::panic)]

use fullbench_types::{Generation, Route, RoutePath, Score, ScorePath, TestCase};
use serde_json::{Map, Value, json};

use crate::Item;
use crate::scorers::fixture::{refused, scorer};

fn entry(more: Value) -> Value {
    let mut entry = json!({"type": "routed", "ambiguity": 0.5, "strong_from": 1.5, "audit": 0.0,
        "cheap": {"type": "length", "max": 1000}, "strong": {"type": "length", "max": 2000}});
    for (key, value) in more.as_object().unwrap() {
        entry[key] = value.clone();
    }
    entry
}

fn routed(more: Value, input: &str, output: &str) -> (Score, RoutePath) {
    let scorer = scorer(entry(more));
    let case = TestCase {
        index: 0,
        key: "a".to_owned(),
        input: json!(input),
        references: Vec::new(),
        fields: Map::new(),
    };
    let generation = Generation::recorded(output.to_owned());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let score = runtime.block_on(scorer.scorer.score(&[Item::new(&case, &generation)])).remove(0);
    match score.path.clone().map(|path| *path) {
        Some(ScorePath::Route(path)) => (score, path),
        other => panic!("no route: {other:?}"),
    }
}

#[test]
fn length_and_domain_decide_and_the_choice_is_kept() {
    let (score, path) = routed(json!({}), "How are you?", "Fine.");
    assert_eq!((path.route, path.audit), (Route::Cheap, None));
    assert!((path.complexity - 0.505).abs() < 1e-12);
    assert_eq!(score.evidence.unwrap()["route"]["judge"], "cheap");
    let (score, path) = routed(json!({}), "Which dosage for the patient?", "Two.");
    assert_eq!(path.route, Route::Strong);
    assert_eq!(score.evidence.unwrap()["route"]["complexity"]["domain"], "medicine");
    let long = "a ".repeat(600);
    let (score, path) = routed(json!({}), "How are you?", &long);
    assert_eq!((path.route, score.value), (Route::Strong, Some(1.0)));
    let own = json!({"domains": {"chess": {"words": ["rook"], "points": 3.0}}});
    assert_eq!(routed(own, "Where does the rook go?", "e5").1.route, Route::Strong);
}

#[test]
fn an_audit_keeps_the_cheap_value_and_what_the_strong_one_says() {
    let strict = json!({"audit": 1.0, "strong": {"type": "length", "max": 1}});
    let (score, path) = routed(strict, "How are you?", "Fine.");
    assert_eq!((path.route, score.value), (Route::Cheap, Some(1.0)));
    let audit = path.audit.unwrap();
    assert_eq!((audit.value, audit.probability), (Some(0.0), 1.0));
}

#[test]
fn judges_of_different_things_are_refused() {
    let judge = |criterion: &str, kind: &str| json!({"type": kind, "criterion": criterion, "model": "openai:gpt-4o-mini"});
    let error = refused(entry(
        json!({"cheap": judge("clarity", "rubric"), "strong": judge("coherence", "rubric")}),
    ));
    assert_eq!(error.field.as_deref(), Some("strong"));
    assert!(error.message.contains("different criteria"), "{}", error.message);
    let error = refused(entry(
        json!({"cheap": judge("clarity", "binary"), "strong": judge("clarity", "rubric")}),
    ));
    assert!(error.message.contains("yes or no"), "{}", error.message);
    assert_eq!(refused(entry(json!({"audit": 1.5}))).field.as_deref(), Some("audit"));
}
