//! Duels as they are given: who met whom, and how it ended.

use serde::Serialize;

use crate::Undefined;

/// How a duel ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The first of the two won.
    FirstWins,
    /// The second won.
    SecondWins,
    /// Neither won.
    Tie,
}

/// Duels, one at each index of the slices. Players are numbered from 0.
#[derive(Debug, Clone, Copy, Default)]
pub struct Battles<'a> {
    /// How many players there are; those who never fought count too.
    pub players: usize,
    /// The player that was shown first.
    pub first: &'a [u32],
    /// The player that was shown second.
    pub second: &'a [u32],
    /// How each duel ended.
    pub outcomes: &'a [Outcome],
    /// What each duel counts, 0 or more; 1 each where there are none.
    pub weights: Option<&'a [f64]>,
    /// Duels with the same number belong together, such as those of one judge or one question, and are not independent.
    pub groups: Option<&'a [u32]>,
    /// Circumstances of each duel, a slice for each, seen from the first player: how much longer its answer was, say.
    pub covariates: &'a [&'a [f64]],
}

impl Battles<'_> {
    /// How many duels.
    #[must_use]
    pub fn len(&self) -> usize {
        self.outcomes.len()
    }

    /// There are no duels.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.outcomes.is_empty()
    }

    /// What a duel counts.
    pub(super) fn weight(&self, battle: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[battle])
    }

    /// Refuses what is no set of duels: slices of different lengths, players that do not exist or fight themselves, weights that
    /// are negative or not finite, circumstances that are not finite.
    pub(super) fn check(&self) -> Result<(), Undefined> {
        Undefined::unless_enough("players", self.players, 2)?;
        Undefined::unless_enough("battles", self.len(), 1)?;
        Undefined::unless_paired("first players and outcomes", self.first.len(), self.len())?;
        Undefined::unless_paired("second players and outcomes", self.second.len(), self.len())?;
        for player in self.first.iter().chain(self.second) {
            if *player as usize >= self.players {
                return Err(Undefined::OutOfRange {
                    what: "the number of a player",
                    value: f64::from(*player),
                    allowed: "below the number of players",
                });
            }
        }
        if let Some(battle) = self.first.iter().zip(self.second).position(|(a, b)| a == b) {
            return Err(Undefined::OutOfRange {
                what: "the second player of a battle",
                value: f64::from(self.second[battle]),
                allowed: "another than the first",
            });
        }
        if let Some(weights) = self.weights {
            Undefined::unless_paired("weights and outcomes", weights.len(), self.len())?;
            Undefined::unless_finite("weight", weights)?;
            if let Some(&value) = weights.iter().find(|weight| **weight < 0.0) {
                return Err(Undefined::OutOfRange { what: "weight", value, allowed: "0 or more" });
            }
        }
        if let Some(groups) = self.groups {
            Undefined::unless_paired("groups and outcomes", groups.len(), self.len())?;
        }
        for covariate in self.covariates {
            Undefined::unless_paired("covariates and outcomes", covariate.len(), self.len())?;
            Undefined::unless_finite("covariate", covariate)?;
        }
        Ok(())
    }
}
