//! What a card is about, and how its numbers are made.

use serde::{Deserialize, Serialize};

/// What a card is about, and how its numbers are made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CardOptions {
    /// The judge's name.
    pub judge: String,
    /// The judging model.
    pub model: String,
    /// What it judges.
    pub criterion: String,
    /// How it judges.
    pub method: String,
    /// How many numbers the scale has: 5 for 1 to 5, 2 for yes and no; none for a scale without steps.
    pub levels: Option<u32>,
    /// The judge's pass mark, from 0 to 1; 0.5 is used where it has none, and the card says so.
    pub mark: Option<f64>,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// Rounds of the bootstrap.
    pub rounds: usize,
    /// Where chance starts.
    pub seed: u64,
    /// The half-width that is wanted of the mean corrected by human labels; none: it is not estimated.
    pub correct: Option<f64>,
    /// The names of a panel's members, in their order; numbered where there are none.
    pub members: Vec<String>,
    /// Systems that are of the judge's own family; none: the names of the models decide.
    pub own_systems: Vec<String>,
}

impl Default for CardOptions {
    fn default() -> Self {
        Self {
            judge: String::new(),
            model: String::new(),
            criterion: String::new(),
            method: String::new(),
            levels: None,
            mark: None,
            confidence: 0.95,
            rounds: 2000,
            seed: 1,
            correct: None,
            members: Vec::new(),
            own_systems: Vec::new(),
        }
    }
}
