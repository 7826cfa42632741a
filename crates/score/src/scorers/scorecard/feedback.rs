//! Scores in words.

use serde::{Deserialize, Serialize};

use super::card::{CriterionScore, FULL};

/// What the scores mean in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feedback {
    /// What went well.
    pub strengths: Vec<String>,
    /// What did not.
    pub weaknesses: Vec<String>,
    /// What to work on.
    pub suggestions: Vec<String>,
    /// The whole in a sentence.
    pub explanation: String,
}

/// Feedback on the criteria that are scored.
pub(super) fn feedback(criteria: &[CriterionScore], overall: Option<f64>) -> Feedback {
    let (mut strengths, mut weaknesses, mut suggestions) = (Vec::new(), Vec::new(), Vec::new());
    for criterion in criteria {
        let Some(score) = criterion.score else { continue };
        let name = &criterion.name;
        let percent = FULL * score / criterion.max_score;
        if percent >= 80.0 {
            strengths.push(format!("Excellent performance on {name}"));
        } else if percent >= 60.0 {
            suggestions.push(format!("Good performance on {name}, but room for improvement"));
        } else {
            weaknesses.push(format!("Needs improvement on {name}: {}", criterion.feedback));
            suggestions.push(format!("Focus on {name} to improve overall score"));
        }
    }
    Feedback { strengths, weaknesses, suggestions, explanation: explanation(criteria, overall) }
}

fn explanation(criteria: &[CriterionScore], overall: Option<f64>) -> String {
    let waiting: Vec<&str> = criteria
        .iter()
        .filter(|criterion| criterion.score.is_none())
        .map(|criterion| criterion.name.as_str())
        .collect();
    let words = match overall {
        Some(overall) if overall >= 90.0 => {
            "Outstanding performance across all evaluation criteria"
        }
        Some(overall) if overall >= 80.0 => "Strong performance with minor areas for improvement",
        Some(overall) if overall >= 70.0 => "Good performance meeting most requirements",
        Some(overall) if overall >= 60.0 => {
            "Satisfactory performance with several areas needing improvement"
        }
        Some(_) => "Performance below expectations, significant improvement needed",
        None => "No criterion is scored",
    };
    match waiting.is_empty() || overall.is_none() {
        true => words.to_owned(),
        false => format!("{words}; without a score: {}", waiting.join(", ")),
    }
}
