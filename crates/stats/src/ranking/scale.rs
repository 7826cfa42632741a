//! The units in which strengths are shown.

use serde::Serialize;

/// Elo points in one unit of log-strength: a lead of 400 points is odds of ten to one (Elo 1978).
pub const ELO_POINTS: f64 = 400.0 / std::f64::consts::LN_10;

/// The units in which strengths are shown. None changes who is better, or by how much.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "unit", rename_all = "snake_case")]
pub enum Scale {
    /// Log-strengths of mean zero: a lead of 1 is odds of 2.7 to one.
    Natural,
    /// Elo points: a lead of 400 is odds of ten to one.
    Elo {
        /// The mean rating of all players.
        mean: f64,
    },
}

impl Scale {
    /// A rating, from a log-strength.
    #[must_use]
    pub fn rating(&self, strength: f64) -> f64 {
        match self {
            Self::Natural => strength,
            Self::Elo { mean } => mean + ELO_POINTS * strength,
        }
    }

    /// A difference of ratings, or a standard error, from one of log-strengths.
    #[must_use]
    pub fn difference(&self, difference: f64) -> f64 {
        match self {
            Self::Natural => difference,
            Self::Elo { .. } => ELO_POINTS * difference,
        }
    }
}
