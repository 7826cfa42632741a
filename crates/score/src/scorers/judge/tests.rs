#![allow(clippy::unwrap_used)]
use fullbench_types::{Generation, Outcome, Score, TestCase, UnscoredReason};
use serde_json::{Map, Value, json};

use crate::Item;
use crate::scorers::fixture::{refused, scorer};

fn judged(entry: Value, fields: Value) -> Score {
    let fields = fields.as_object().cloned().unwrap_or_else(Map::new);
    let case = TestCase {
        index: 0,
        key: "c1".to_owned(),
        input: json!([{"role": "user", "content": "2 + 2?"}]),
        references: vec![json!("4")],
        fields,
    };
    let generation = Generation::recorded("It is 4.".to_owned());
    let items = [Item::new(&case, &generation)];
    let scorer = scorer(entry);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(scorer.scorer.score(&items)).remove(0)
}

#[test]
fn recorded_replies_are_scored_without_a_model() {
    let reply = r#"{"reasoning": "right", "score": 4}"#;
    let other = r#"{"reasoning": "fine", "score": 5}"#;
    let entry = json!({"type": "g_eval", "criterion": "accuracy", "samples": 2, "threshold": 0.8,
        "replies": [{"id": "c1", "replies": [reply, other]}]});
    assert!(scorer(entry.clone()).scorer.models().is_empty());
    let score = judged(entry, json!({}));
    assert_eq!((score.raw, score.value), (Some(4.5), Some(0.875)));
    assert_eq!(score.outcome, Outcome::Passed);
    let judgement = score.judgement.unwrap();
    assert_eq!((judgement.replies.len(), judgement.threshold), (2, Some(0.8)));
    assert!(judgement.prompt.contains("user: 2 + 2?"));
}

#[test]
fn a_reply_that_is_none_leaves_no_score() {
    let entry = json!({"type": "g_eval", "criterion": "accuracy", "replies": [{"id": "c1", "reply": "no idea"}]});
    let score = judged(entry, json!({}));
    assert_eq!(score.outcome, Outcome::Unscored(UnscoredReason::UnparseableJudgement));
    let entry = json!({"type": "g_eval", "criterion": "accuracy", "replies": [{"id": "other", "reply": "4"}]});
    assert_eq!(judged(entry, json!({})).outcome, Outcome::Unscored(UnscoredReason::ScorerError));
}

#[test]
fn a_comparison_is_made_in_both_orders() {
    let reply = |winner: &str| json!({"reasoning": "so", "winner": winner}).to_string();
    let of = |first: &str, second: &str| {
        let replies = json!([{"id": "c1", "replies": [reply(first), reply(second)]}]);
        let judge = json!({"criterion": "helpfulness", "replies": replies});
        judged(
            json!({"type": "pairwise", "against": "old", "judge": judge}),
            json!({"old": "Four."}),
        )
    };
    let better = of("A", "B");
    assert_eq!((better.raw, better.value), (Some(1.0), Some(1.0)), "{better:?}");
    let flipped = of("A", "A");
    assert_eq!((flipped.raw, flipped.value), (Some(0.0), Some(0.5)));
    assert_eq!(flipped.evidence.unwrap()["flipped"], json!(true));
}

#[test]
fn a_judge_needs_a_model_and_a_criterion_that_exist() {
    let error = refused(json!({"type": "rubric", "criterion": "clarity"}));
    assert_eq!(error.field.as_deref(), Some("model"));
    let error =
        refused(json!({"type": "rubric", "criterion": "clarety", "model": "openai:gpt-4o-mini"}));
    assert_eq!(error.field.as_deref(), Some("criterion"));
    assert!(error.message.contains("clarity, "), "{error:?}");
    let error = refused(json!({"type": "panel", "members": []}));
    assert_eq!(error.field.as_deref(), Some("judges"));
}

#[test]
fn every_request_of_a_judge_has_its_model() {
    let models = |entry| scorer(entry).scorer.models().len();
    let model = "openai:gpt-4o-mini";
    assert_eq!(models(json!({"type": "g_eval", "criterion": "clarity", "model": model})), 2);
    assert_eq!(models(json!({"type": "claims", "model": model})), 2);
    let given =
        json!({"type": "g_eval", "criterion": "clarity", "model": model, "steps": ["Read it."]});
    assert_eq!(models(given), 1);
    let card = json!({"type": "scorecard", "task": "reasoning", "model": model});
    assert_eq!(models(card), 3);
}
