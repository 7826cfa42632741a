//! What a function of the user gives back, as a score.

use fullbench_types::{Outcome, Score, UnscoredReason};
use serde::Deserialize;
use serde_json::Value;

/// What a function may say beside its score.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    score: Points,
    #[serde(default)]
    passed: Option<bool>,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    evidence: Option<Value>,
    #[serde(default)]
    confidence: Option<f64>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a number, true or false")]
enum Points {
    Yes(bool),
    Number(f64),
}

/// The score that a number, a truth value, or an object with `score` stands for; no score for anything else.
pub(super) fn score(returned: Value, max_score: f64, threshold: Option<f64>) -> Score {
    let said =
        match returned {
            Value::Bool(_) | Value::Number(_) => serde_json::from_value(returned).map(|score| {
                Said { score, passed: None, reason: None, evidence: None, confidence: None }
            }),
            other => serde_json::from_value(other),
        };
    let said = match said {
        Ok(said) => said,
        Err(error) => {
            let expected = "a number, true or false, or an object with `score` and perhaps `passed`, `reason`, `evidence`, `confidence`";
            return wrong(format!("what came back is not {expected}: {error}"));
        }
    };
    let points = match said.score {
        Points::Yes(passed) => f64::from(u8::from(passed)) * max_score,
        Points::Number(points) => points,
    };
    if !(0.0..=max_score).contains(&points) {
        return wrong(format!("the score {points} is not between 0 and {max_score}"));
    }
    if said.confidence.is_some_and(|confidence| !(0.0..=1.0).contains(&confidence)) {
        return wrong("the confidence is not between 0 and 1".to_owned());
    }
    let mut score = Score::graded(points, points / max_score, threshold);
    let verdict = match (said.passed, said.score, threshold) {
        (Some(passed), _, _) => Some(passed),
        (None, Points::Yes(passed), None) => Some(passed),
        _ => None,
    };
    if let Some(passed) = verdict {
        score.outcome = Outcome::from_pass(passed);
    }
    Score { reasoning: said.reason, evidence: said.evidence, confidence: said.confidence, ..score }
}

/// No score, since the function is wrong.
pub(super) fn wrong(message: String) -> Score {
    Score::unscored(UnscoredReason::ScorerError).because(message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_truth_values_and_objects_are_scores() {
        let of = |value| {
            let score = score(value, 1.0, None);
            (score.value, score.outcome)
        };
        assert_eq!(of(json!(0.25)), (Some(0.25), Outcome::Scored));
        assert_eq!(of(json!(true)), (Some(1.0), Outcome::Passed));
        assert_eq!(of(json!({"score": false})), (Some(0.0), Outcome::Failed));
        assert_eq!(of(json!({"score": 0.5, "passed": true})), (Some(0.5), Outcome::Passed));
        let full = score(
            json!({"score": 4, "reason": "why", "evidence": [1], "confidence": 0.9}),
            5.0,
            Some(0.8),
        );
        assert_eq!((full.raw, full.value, full.outcome), (Some(4.0), Some(0.8), Outcome::Passed));
        assert_eq!((full.reasoning.as_deref(), full.confidence), (Some("why"), Some(0.9)));
    }

    #[test]
    fn anything_else_is_a_mistake_of_the_function() {
        for value in [
            json!(1.5),
            json!(-0.1),
            json!("0.5"),
            json!(null),
            json!({}),
            json!({"score": "x"}),
            json!({"score": 1, "extra": 1}),
            json!({"score": 1, "confidence": 2}),
        ] {
            let score = score(value.clone(), 1.0, None);
            assert_eq!(score.outcome, Outcome::Unscored(UnscoredReason::ScorerError), "{value}");
            assert!(score.reasoning.is_some());
        }
    }
}
