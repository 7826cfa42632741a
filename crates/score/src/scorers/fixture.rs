//! What the tests of scorers share: building one from JSON and scoring one text with it.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use fullbench_types::{Generation, Outcome, Score, TestCase};
use serde_json::{Map, Value, json};

use crate::{Item, NamedScorer, ScorerConfig, ScorerConfigError, build};

/// Builds a scorer from an entry as an evaluation file has it.
pub(crate) fn scorer(entry: Value) -> NamedScorer {
    build(&serde_json::from_value::<ScorerConfig>(entry).unwrap()).unwrap()
}

/// The error an entry gives.
pub(crate) fn refused(entry: Value) -> ScorerConfigError {
    build(&serde_json::from_value::<ScorerConfig>(entry).unwrap()).unwrap_err()
}

/// Scores a generation; the references are a list, or one value.
pub(crate) fn scored(scorer: &NamedScorer, generation: &Generation, references: Value) -> Score {
    let references = match references {
        Value::Array(list) => list,
        one => vec![one],
    };
    let case = TestCase {
        index: 0,
        key: "0".to_owned(),
        input: Value::Null,
        references,
        fields: Map::new(),
    };
    let items = [Item::new(&case, generation)];
    let mut scoring = pin!(scorer.scorer.score(&items));
    match scoring.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(mut scores) => scores.remove(0),
        Poll::Pending => panic!("a built-in scorer waits for nothing"),
    }
}

/// Scores a text.
pub(crate) fn score(scorer: &NamedScorer, text: &str, references: Value) -> Score {
    scored(scorer, &Generation::recorded(text.to_owned()), references)
}

/// Scores each text and compares with whether it passes.
pub(crate) fn assert_table(entry: Value, cases: &[(&str, Value, bool)]) {
    let scorer = scorer(entry.clone());
    for (text, references, passes) in cases {
        let score = score(&scorer, text, references.clone());
        assert_eq!(
            score.outcome,
            Outcome::from_pass(*passes),
            "{entry} on {text:?} with {references}: {score:?}"
        );
        assert_eq!(score.value, Some(if *passes { 1.0 } else { 0.0 }));
        assert_eq!(score.reasoning.is_some(), !passes, "only a failure needs a reason: {score:?}");
    }
}

/// A list of no references.
pub(crate) fn none() -> Value {
    json!([])
}
