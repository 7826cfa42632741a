//! What people said of an answer: numbers on a scale, words, or which of two answers is better, as a value from 0 to 1.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::InputProblem;

/// The numbers people were asked to give.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LabelScale {
    /// The worst.
    pub min: f64,
    /// The best.
    pub max: f64,
}

/// Scales with more steps are taken as continuous.
const MOST_STEPS: f64 = 20.0;

impl LabelScale {
    /// From 0 to 1.
    pub const UNIT: Self = Self { min: 0.0, max: 1.0 };

    /// How many whole numbers it has, where it is made of a few.
    #[must_use]
    pub fn levels(self) -> Option<u32> {
        let steps = self.max - self.min;
        let is_whole = self.min.fract() == 0.0 && self.max.fract() == 0.0;
        (is_whole && steps > 1.0 && steps <= MOST_STEPS).then_some(steps as u32 + 1)
    }

    /// A label as a value from 0 to 1; none where there is no label.
    pub(super) fn value(self, label: &Value, of_pairs: bool) -> Result<Option<f64>, InputProblem> {
        let number = match label {
            Value::Null => return Ok(None),
            Value::Bool(passed) => return Ok(Some(f64::from(u8::from(*passed)))),
            Value::Number(number) => number.as_f64(),
            Value::String(text) if text.trim().is_empty() => return Ok(None),
            Value::String(text) => {
                if let Some(value) = word(text.trim(), of_pairs) {
                    return Ok(Some(value));
                }
                text.trim().parse::<f64>().ok()
            }
            _ => None,
        };
        let Some(number) = number.filter(|number| number.is_finite()) else {
            let words = if of_pairs { "A, B or tie" } else { "a number, pass or fail" };
            return Err(InputProblem::new(format!("{label} is no label"))
                .hint(format!("write {words}; leave it empty where there is none")));
        };
        if number < self.min || number > self.max {
            let Self { min, max } = self;
            let problem = InputProblem::new(format!("{number} is not from {min} to {max}"));
            return Err(problem.hint("say on which scale people rated, for example `--scale 1,10`"));
        }
        Ok(Some((number - self.min) / (self.max - self.min)))
    }
}

fn word(text: &str, of_pairs: bool) -> Option<f64> {
    match (text.to_lowercase().as_str(), of_pairs) {
        ("a" | "first" | "better" | "win", true) => Some(1.0),
        ("b" | "second" | "worse" | "loss", true) => Some(0.0),
        ("tie" | "draw" | "equal" | "both", true) => Some(0.5),
        ("pass" | "passed" | "yes" | "true" | "good", false) => Some(1.0),
        ("fail" | "failed" | "no" | "false" | "bad", false) => Some(0.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    #[test]
    fn labels_are_numbers_words_or_nothing() {
        let five = LabelScale { min: 1.0, max: 5.0 };
        for (label, value) in [
            (json!(4), Some(0.75)),
            (json!(" 2 "), Some(0.25)),
            (json!("Pass"), Some(1.0)),
            (json!(false), Some(0.0)),
            (json!(""), None),
            (json!(null), None),
        ] {
            assert_eq!(five.value(&label, false).unwrap(), value, "{label}");
        }
        assert_eq!(LabelScale::UNIT.value(&json!("tie"), true).unwrap(), Some(0.5));
        assert_eq!(LabelScale::UNIT.value(&json!("B"), true).unwrap(), Some(0.0));
        for label in [json!(6), json!("excellent"), json!([1]), json!("tie"), json!("nan")] {
            assert!(five.value(&label, false).is_err(), "{label}");
        }
    }

    #[test]
    fn a_few_whole_numbers_are_levels() {
        assert_eq!(LabelScale { min: 1.0, max: 5.0 }.levels(), Some(5));
        assert_eq!(LabelScale { min: 0.0, max: 100.0 }.levels(), None);
        assert_eq!(LabelScale::UNIT.levels(), None);
    }
}
