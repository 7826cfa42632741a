//! Answers, with what people said of them.

use serde::{Deserialize, Serialize};

/// An answer with what people said of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Example {
    /// Its name, unique among the examples.
    pub id: String,
    /// What was asked.
    pub input: String,
    /// The answer.
    pub output: String,
    /// For judges of pairs: the answer it is compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
    /// The system that gave the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// What it competes in: answers of a group are not independent. Where there is none, answers to the same input are a group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// What people said; empty where nobody looked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ratings: Vec<Rating>,
}

/// What one person said of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rating {
    /// Who.
    pub annotator: String,
    /// From 0 to 1, higher is better; of pairs 1 where the answer is better, 0 where the other is, 0.5 for a tie.
    pub value: f64,
}

impl Rating {
    /// Whether the value is from 0 to 1.
    pub(crate) fn is_usable(&self) -> bool {
        (0.0..=1.0).contains(&self.value)
    }
}

impl Example {
    /// The mean of what people said, of ratings from 0 to 1; none without any.
    #[must_use]
    pub fn human(&self) -> Option<f64> {
        let usable = self.ratings.iter().filter(|rating| rating.is_usable());
        let (sum, count) =
            usable.fold((0.0, 0_u32), |(sum, count), rating| (sum + rating.value, count + 1));
        (count > 0).then(|| sum / f64::from(count))
    }

    /// What it competes in.
    pub(crate) fn competes_in(&self) -> (bool, &str) {
        match &self.group {
            Some(group) => (true, group),
            None => (false, &self.input),
        }
    }
}
