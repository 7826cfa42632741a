//! Why a number does not exist: the one error of this crate.

use serde::Serialize;

/// A named reason why something cannot be computed. Functions of this crate return it instead of NaN, infinity or a
/// made-up number.
#[derive(Debug, Clone, PartialEq, thiserror::Error, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Undefined {
    /// There are fewer of something than the formula needs.
    #[error("{given} {what}, and at least {needed} are needed")]
    TooFew {
        /// What there is too little of, in the plural: `values`, `pairs`, `items with two ratings`.
        what: &'static str,
        /// How many there are.
        given: usize,
        /// How many it takes.
        needed: usize,
    },
    /// All values are equal, so that a spread, a test or a correlation has no meaning.
    #[error("no variation: all {what} are equal")]
    NoVariation {
        /// What does not vary, in the plural: `values`, `differences`, `labels`.
        what: &'static str,
    },
    /// A value is NaN or infinite.
    #[error("{what} {index} is not a finite number")]
    NotFinite {
        /// What it is, in the singular: `value`, `weight`.
        what: &'static str,
        /// Which, counted from 0.
        index: usize,
    },
    /// A number lies outside of what is allowed.
    #[error("{what} is {value}, and must be {allowed}")]
    OutOfRange {
        /// What it is, in the singular: `confidence`, `weight`.
        what: &'static str,
        /// What was given.
        value: f64,
        /// What is allowed: `between 0 and 1`, `positive`.
        allowed: &'static str,
    },
    /// Two slices that belong together have different lengths.
    #[error("{what} differ in number: {left} and {right}")]
    LengthsDiffer {
        /// What differs, in the plural: `values of the two sides`.
        what: &'static str,
        /// Length of the first.
        left: usize,
        /// Length of the second.
        right: usize,
    },
    /// Something that must be unique is there twice.
    #[error("{what} {index} repeats {what} {first}")]
    Repeated {
        /// What it is, in the singular: `rating`.
        what: &'static str,
        /// Which repeats, counted from 0.
        index: usize,
        /// Which it repeats.
        first: usize,
    },
    /// Players that no chain of games connects cannot be put in one order.
    #[error("{} groups are not connected by any chain of games", .groups.len())]
    Disconnected {
        /// The indices of each group, smallest first.
        groups: Vec<Vec<usize>>,
    },
    /// One set of players never lost a point to the others, so that no finite strengths fit best.
    #[error("{} of the players never lost a point to the other {}, so that no finite strengths fit best", .above.len(), .below.len())]
    Separated {
        /// Those who never lost to the others.
        above: Vec<usize>,
        /// The others.
        below: Vec<usize>,
    },
    /// Two effects cannot be told apart: the data would fit as well with one instead of the other.
    #[error("{what} cannot be told apart from the other effects")]
    Confounded {
        /// What cannot be told apart.
        what: &'static str,
    },
    /// An iteration did not settle.
    #[error("{what} did not converge within {iterations} iterations")]
    NotConverged {
        /// What was computed.
        what: &'static str,
        /// How long it was tried.
        iterations: usize,
    },
}

impl Undefined {
    /// Refuses fewer than `needed`.
    pub(crate) fn unless_enough(
        what: &'static str,
        given: usize,
        needed: usize,
    ) -> Result<(), Self> {
        if given < needed { Err(Self::TooFew { what, given, needed }) } else { Ok(()) }
    }

    /// Refuses NaN and infinity.
    pub(crate) fn unless_finite(what: &'static str, values: &[f64]) -> Result<(), Self> {
        match values.iter().position(|value| !value.is_finite()) {
            Some(index) => Err(Self::NotFinite { what, index }),
            None => Ok(()),
        }
    }

    /// Refuses slices of different lengths.
    pub(crate) fn unless_paired(what: &'static str, left: usize, right: usize) -> Result<(), Self> {
        if left == right { Ok(()) } else { Err(Self::LengthsDiffer { what, left, right }) }
    }

    /// Refuses what is not strictly between 0 and 1.
    pub(crate) fn unless_share(what: &'static str, value: f64) -> Result<(), Self> {
        if value > 0.0 && value < 1.0 {
            Ok(())
        } else {
            Err(Self::OutOfRange { what, value, allowed: "between 0 and 1" })
        }
    }

    /// Refuses zero, negative numbers, NaN and infinity.
    pub(crate) fn unless_positive(what: &'static str, value: f64) -> Result<(), Self> {
        if value > 0.0 && value.is_finite() {
            Ok(())
        } else {
            Err(Self::OutOfRange { what, value, allowed: "positive" })
        }
    }
}
