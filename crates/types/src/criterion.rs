//! What is judged: criteria with their scale and rubric.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The whole numbers a judge may give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scale {
    /// The worst.
    pub min: i32,
    /// The best.
    pub max: i32,
}

impl Scale {
    /// From 1 to 5.
    pub const FIVE: Self = Self { min: 1, max: 5 };
    /// From 0 to 100.
    pub const HUNDRED: Self = Self { min: 0, max: 100 };

    /// Whether a number is on the scale.
    #[must_use]
    pub fn contains(self, raw: f64) -> bool {
        raw >= f64::from(self.min) && raw <= f64::from(self.max)
    }

    /// A number of the scale from 0 to 1.
    #[must_use]
    pub fn value(self, raw: f64) -> f64 {
        (raw - f64::from(self.min)) / (f64::from(self.max) - f64::from(self.min))
    }

    /// The number of the scale that a value from 0 to 1 stands for.
    #[must_use]
    pub fn raw(self, value: f64) -> f64 {
        f64::from(self.min) + value * (f64::from(self.max) - f64::from(self.min))
    }
}

impl Default for Scale {
    fn default() -> Self {
        Self::FIVE
    }
}

/// What one number of the scale means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RubricLevel {
    /// The number.
    pub score: i32,
    /// What an answer is like that deserves it.
    pub description: String,
}

/// What is judged, independent of who judges it and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Criterion {
    /// Its name: lower-case letters, digits and underscores.
    pub name: String,
    /// What the judged texts are and what they were written for.
    pub task_introduction: String,
    /// What makes an answer good in this respect.
    pub evaluation_criteria: String,
    /// The numbers a judge may give.
    #[serde(default)]
    pub scale: Scale,
    /// What numbers of the scale mean, from the worst to the best.
    #[serde(default)]
    pub levels: Vec<RubricLevel>,
    /// An answer cannot be judged without a reference.
    #[serde(default)]
    pub needs_reference: bool,
    /// An answer cannot be judged without the context it was to rest on.
    #[serde(default)]
    pub needs_context: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_goes_from_0_to_1_and_back() {
        let scale = Scale { min: -2, max: 3 };
        for raw in [-2.0, 0.0, 0.5, 3.0] {
            assert!((scale.raw(scale.value(raw)) - raw).abs() < 1e-12);
            assert!(scale.contains(raw));
        }
        assert!(!scale.contains(-2.1) && !scale.contains(3.5) && !scale.contains(f64::NAN));
        assert_eq!((Scale::FIVE.value(1.0), Scale::FIVE.value(4.0)), (0.0, 0.75));
    }
}
