//! Both scorers on a tiny model with made-up weights: what is scored, what is not, and what is refused.
#![allow(clippy::unwrap_used)]

use fullbench_embed::{BertScoreOptions, ModelChoice, bert_score, cosine};
use fullbench_types::{Generation, Outcome, Score, TestCase, UnscoredReason};
use serde_json::{Map, Value, json};

use crate::scorers::fixture::{refused, scorer};
use crate::{Item, NamedScorer};

const TINY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../embed/tests/fixtures/tiny-roberta");

/// The scores of texts, each with its references.
async fn scores(scorer: &NamedScorer, texts: &[(&str, &[Value])]) -> Vec<Score> {
    let cases: Vec<TestCase> = texts
        .iter()
        .map(|(_, references)| TestCase {
            index: 0,
            key: "0".to_owned(),
            input: Value::Null,
            references: references.to_vec(),
            fields: Map::new(),
        })
        .collect();
    let answers: Vec<Generation> =
        texts.iter().map(|(text, _)| Generation::recorded((*text).to_owned())).collect();
    let items = cases.iter().zip(&answers).map(|(case, generation)| Item::new(case, generation));
    scorer.scorer.score(&items.collect::<Vec<_>>()).await
}

#[tokio::test]
async fn the_best_cosine_counts_and_a_missing_reference_stays_missing() {
    let scorer = scorer(json!({"type": "semantic_similarity", "model": TINY, "threshold": 0.9999}));
    let long = "word ".repeat(300);
    let scored = scores(
        &scorer,
        &[
            ("the cat", &[json!("a dog"), json!(null), json!("the cat")]),
            ("the cat", &[json!("a dog")]),
            ("the cat", &[]),
            ("the cat", &[json!(null)]),
            (&long, &[json!("a dog")]),
            ("", &[json!("")]),
        ],
    )
    .await;
    assert!((scored[0].value.unwrap() - 1.0).abs() < 1e-6);
    assert_eq!(scored[0].outcome, Outcome::Passed);

    let texts = ["the cat".to_owned(), "a dog".to_owned()];
    let vectors = ModelChoice::named(TINY).embedder().unwrap().embed(&texts).await.unwrap();
    let expected = cosine(&vectors[0].vector, &vectors[1].vector);
    assert!((scored[1].raw.unwrap() - expected).abs() < 1e-6);
    assert!((scored[1].value.unwrap() - (expected + 1.0) / 2.0).abs() < 1e-6);
    assert_eq!(scored[1].outcome, Outcome::Failed);

    let missing = Outcome::Unscored(UnscoredReason::MissingReference);
    assert_eq!([scored[2].outcome, scored[3].outcome], [missing; 2]);
    assert!(scored[4].reasoning.as_ref().unwrap().contains("longer than the model reads"));
    assert!(scored[1].reasoning.is_none());
    assert!((scored[5].value.unwrap() - 1.0).abs() < 1e-6);
}

#[tokio::test]
async fn bert_score_is_that_of_the_model_whatever_else_is_in_the_batch() {
    let entry = |measure: &str| json!({"type": "bert_score", "model": TINY, "measure": measure});
    let pair: (&str, &[Value]) = ("the cat sat", &[json!("a cat"), json!("the dog")]);
    let expected = bert_score(TINY, &BertScoreOptions::default())
        .unwrap()
        .score(&[("the cat sat", vec!["a cat", "the dog"])])
        .unwrap()[0];
    let numbers =
        [("f1", expected.f1), ("precision", expected.precision), ("recall", expected.recall)];
    for (measure, number) in numbers {
        let scorer = scorer(entry(measure));
        let alone = scores(&scorer, &[pair]).await;
        let together = scores(&scorer, &[("x", &[]), pair, ("y", &[json!("z")])]).await;
        assert_eq!(alone[0].raw, Some(number));
        assert!((together[1].raw.unwrap() - number).abs() < 1e-6);
        assert_eq!(together[0].outcome, Outcome::Unscored(UnscoredReason::MissingReference));
        assert!(alone[0].reasoning.as_ref().unwrap().contains("recall"));
    }
}

#[tokio::test]
async fn a_rescaled_score_may_be_negative_and_its_value_not() {
    let baseline = json!({"precision": 0.99, "recall": 0.99, "f1": 0.999});
    let scorer = scorer(json!({"type": "bert_score", "model": TINY, "baseline": baseline}));
    let scored = scores(&scorer, &[("the cat", &[json!("seven rivers")])]).await;
    assert!(scored[0].raw.unwrap() < 0.0);
    assert_eq!(scored[0].value, Some(0.0));
}

#[test]
fn what_cannot_be_scored_with_is_refused_before_a_run() {
    let ready = |entry: Value| scorer(entry).scorer.ready().unwrap_err();
    let error = ready(json!({"type": "semantic_similarity", "model": "all-minilm"}));
    assert_eq!(error.to_string(), "`model`: there is no model of embeddings `all-minilm`");
    assert!(error.hint.unwrap().starts_with("name one of all-minilm-l6-v2"));
    let error = ready(json!({"type": "bert_score", "model": "./nowhere"}));
    assert!(error.to_string().starts_with("`model`: ./nowhere/config.json cannot be read"));
    let error = ready(json!({"type": "bert_score", "model": TINY, "layer": 9}));
    assert_eq!(error.message, "there is no layer 9: the last of `tiny-roberta` is 3");
    for kind in ["semantic_similarity", "bert_score"] {
        let error = refused(json!({"type": kind, "threshold": 2}));
        assert_eq!(error.to_string(), "`threshold`: 2 is not between 0 and 1");
    }
}
