//! `length`, `latency` and `cost`: the answer stays within bounds.

use fullbench_types::{FinishReason, NanoDollars, Score, UnscoredReason};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ItemScorer, Parameters};
use crate::registry::ScorerConfigError;
use crate::scorer::Item;

/// What a length counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Unit {
    /// Unicode characters.
    #[default]
    Characters,
    /// Words between whitespace.
    Words,
    /// Bytes of UTF-8.
    Bytes,
}

/// Parameters of `length`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Length {
    /// The least length that passes.
    min: Option<u64>,
    /// The greatest length that passes.
    max: Option<u64>,
    /// What is counted: characters, words or bytes.
    unit: Unit,
}

impl Parameters for Length {
    type Scorer = Self;

    const KIND: &'static str = "length";
    const SUMMARY: &'static str = "Passes when the output's length is within bounds.";
    const EXAMPLE: &'static str = "{ type: length, max: 100, unit: words }";

    fn build(self) -> Result<Self, ScorerConfigError> {
        match (self.min, self.max) {
            (None, None) => Err(ScorerConfigError::new("`length` needs `min` or `max`")
                .hint(format!("for example: {}", Self::EXAMPLE))),
            (Some(min), Some(max)) if min > max => Err(ScorerConfigError::at(
                "min",
                format!("{min} is greater than `max`, which is {max}"),
            )),
            _ => Ok(self),
        }
    }
}

impl ItemScorer for Length {
    fn score_item(&self, item: &Item<'_>) -> Score {
        let text = &item.generation.text;
        let (length, unit) = match self.unit {
            Unit::Characters => (text.chars().count(), "characters"),
            Unit::Words => (text.split_whitespace().count(), "words"),
            Unit::Bytes => (text.len(), "bytes"),
        };
        let length = length as u64;
        if let Some(min) = self.min.filter(|min| length < *min) {
            return Score::binary(false).because(format!("{length} {unit}, at least {min} wanted"));
        }
        if let Some(max) = self.max.filter(|max| length > *max) {
            return Score::binary(false).because(format!("{length} {unit}, at most {max} wanted"));
        }
        Score::binary(true)
    }
}

/// Parameters of `latency`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Latency {
    /// The longest time to the whole answer that passes, in milliseconds.
    #[schemars(range(min = 0.0))]
    max_ms: Option<f64>,
    /// The longest time to the first token that passes, in milliseconds; the model must be streamed.
    #[schemars(range(min = 0.0))]
    ttft_max_ms: Option<f64>,
}

impl Parameters for Latency {
    type Scorer = Self;

    const KIND: &'static str = "latency";
    const SUMMARY: &'static str =
        "Passes when the answer came in time. Its scores are called `latency_bound` unless named.";
    const EXAMPLE: &'static str = "{ type: latency, max_ms: 2000 }";

    fn build(self) -> Result<Self, ScorerConfigError> {
        if self.max_ms.is_none() && self.ttft_max_ms.is_none() {
            return Err(ScorerConfigError::new("`latency` needs `max_ms` or `ttft_max_ms`")
                .hint(format!("for example: {}", Self::EXAMPLE)));
        }
        check_bound("max_ms", self.max_ms)?;
        check_bound("ttft_max_ms", self.ttft_max_ms)?;
        Ok(self)
    }
}

fn check_bound(field: &str, bound: Option<f64>) -> Result<(), ScorerConfigError> {
    match bound {
        Some(bound) if !bound.is_finite() || bound < 0.0 => Err(ScorerConfigError::at(
            field,
            format!("{bound} is negative, so that nothing would pass"),
        )),
        _ => Ok(()),
    }
}

impl ItemScorer for Latency {
    fn score_item(&self, item: &Item<'_>) -> Score {
        let generation = item.generation;
        if generation.finish_reason == FinishReason::Recorded {
            return unmeasured("the answer was recorded, so that its latency is not known");
        }
        if let Some(bound) = self.max_ms {
            let taken = generation.latency_us as f64 / 1_000.0;
            if taken > bound {
                return Score::binary(false)
                    .because(format!("took {taken:.0} ms, at most {bound} ms wanted"));
            }
        }
        if let Some(bound) = self.ttft_max_ms {
            let Some(taken) = generation.time_to_first_token_us else {
                return unmeasured(
                    "the answer was not streamed, so that its time to the first token is not known",
                );
            };
            let taken = taken as f64 / 1_000.0;
            if taken > bound {
                let reason =
                    format!("the first token took {taken:.0} ms, at most {bound} ms wanted");
                return Score::binary(false).because(reason);
            }
        }
        Score::binary(true)
    }
}

fn unmeasured(reason: &str) -> Score {
    Score::unscored(UnscoredReason::ScorerError).because(reason)
}

/// Parameters of `cost`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cost {
    /// The most an answer may cost, in US dollars.
    #[schemars(range(min = 0.0))]
    max_usd: f64,
}

/// Compares costs.
pub(crate) struct CostBound(NanoDollars);

impl Parameters for Cost {
    type Scorer = CostBound;

    const KIND: &'static str = "cost";
    const SUMMARY: &'static str =
        "Passes when the answer was cheap enough. Its scores are called `cost_bound` unless named.";
    const EXAMPLE: &'static str = "{ type: cost, max_usd: 0.01 }";

    fn build(self) -> Result<CostBound, ScorerConfigError> {
        check_bound("max_usd", Some(self.max_usd))?;
        Ok(CostBound(NanoDollars::from_dollars(self.max_usd)))
    }
}

impl ItemScorer for CostBound {
    fn score_item(&self, item: &Item<'_>) -> Score {
        let Some(cost) = item.generation.cost else {
            return unmeasured("the model has no known price");
        };
        if cost <= self.0 {
            return Score::binary(true);
        }
        Score::binary(false).because(format!("cost {cost}, at most {} wanted", self.0))
    }
}

#[cfg(test)]
mod tests {
    use fullbench_types::{Generation, Outcome};
    use serde_json::json;

    use super::*;
    use crate::scorers::fixture::{assert_table, none, refused, score, scored, scorer};

    #[test]
    fn lengths_are_counted_in_their_unit() {
        let characters = json!({"type": "length", "min": 2, "max": 3});
        assert_table(
            characters,
            &[
                ("é", none(), false),
                ("éé", none(), true),
                ("ééé", none(), true),
                ("éééé", none(), false),
            ],
        );
        assert_table(
            json!({"type": "length", "max": 2, "unit": "bytes"}),
            &[("é", none(), true), ("éa", none(), false)],
        );
        assert_table(
            json!({"type": "length", "max": 2, "unit": "words"}),
            &[(" a  b\n", none(), true), ("a b c", none(), false)],
        );
        assert_eq!(refused(json!("length")).message, "`length` needs `min` or `max`");
        assert_eq!(
            refused(json!({"type": "length", "min": 3, "max": 2})).field.as_deref(),
            Some("min")
        );
        assert_eq!(refused(json!({"type": "length", "min": -3})).field.as_deref(), Some("min"));
    }

    fn answered() -> Generation {
        Generation {
            finish_reason: FinishReason::Stop,
            latency_us: 1_500_000,
            time_to_first_token_us: Some(300_000),
            cost: Some(NanoDollars::from_dollars(0.002)),
            ..Generation::recorded("x".to_owned())
        }
    }

    #[test]
    fn latency_is_bounded_as_a_whole_and_to_the_first_token() {
        let cases = [
            (json!({"type": "latency", "max_ms": 1500}), Outcome::Passed),
            (json!({"type": "latency", "max_ms": 1499}), Outcome::Failed),
            (json!({"type": "latency", "max_ms": 2000, "ttft_max_ms": 300}), Outcome::Passed),
            (json!({"type": "latency", "ttft_max_ms": 200.5}), Outcome::Failed),
        ];
        for (entry, outcome) in cases {
            assert_eq!(
                scored(&scorer(entry.clone()), &answered(), none()).outcome,
                outcome,
                "{entry}"
            );
        }
        let whole = scorer(json!({"type": "latency", "ttft_max_ms": 200}));
        let unstreamed = Generation { time_to_first_token_us: None, ..answered() };
        assert_eq!(
            scored(&whole, &unstreamed, none()).outcome.reason(),
            Some(UnscoredReason::ScorerError)
        );
        assert_eq!(
            score(&whole, "recorded", none()).outcome.reason(),
            Some(UnscoredReason::ScorerError)
        );
        assert_eq!(
            refused(json!({"type": "latency", "max_ms": -1})).field.as_deref(),
            Some("max_ms")
        );
        assert_eq!(refused(json!("latency")).message, "`latency` needs `max_ms` or `ttft_max_ms`");
    }

    #[test]
    fn an_unknown_price_is_no_low_price() {
        let bound = scorer(json!({"type": "cost", "max_usd": 0.002}));
        assert_eq!(scored(&bound, &answered(), none()).outcome, Outcome::Passed);
        let dear = Generation { cost: Some(NanoDollars::from_dollars(0.003)), ..answered() };
        let failed = scored(&bound, &dear, none());
        assert_eq!(failed.reasoning.as_deref(), Some("cost $0.0030, at most $0.0020 wanted"));
        let unknown = score(&bound, "x", none());
        assert_eq!(unknown.outcome.reason(), Some(UnscoredReason::ScorerError));
        assert_eq!(unknown.reasoning.as_deref(), Some("the model has no known price"));
    }
}
