//! The signature of a score: how it was made, in the form sacreBLEU introduced, so that two numbers can be told
//! comparable or not.

use std::collections::BTreeSet;
use std::fmt::{Display, Write};

/// How many references the segments of a corpus have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReferenceCount {
    /// All segments have this many.
    Each(usize),
    /// Not all segments have the same number.
    Varying,
}

impl ReferenceCount {
    /// From the number of each segment.
    pub fn of(counts: impl IntoIterator<Item = usize>) -> Self {
        let distinct: BTreeSet<usize> = counts.into_iter().collect();
        match (distinct.len(), distinct.first()) {
            (1, Some(&count)) => Self::Each(count),
            _ => Self::Varying,
        }
    }
}

impl Display for ReferenceCount {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Each(count) => write!(formatter, "{count}"),
            Self::Varying => formatter.write_str("var"),
        }
    }
}

/// What a signature tells besides a metric's own options.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conditions {
    /// The number of references.
    pub references: ReferenceCount,
    /// How many resamples an interval was made of.
    pub bootstrap_samples: Option<usize>,
    /// How many trials a randomization test made.
    pub randomization_trials: Option<usize>,
    /// The seed of the random numbers, where some were used.
    pub seed: Option<u64>,
}

impl Conditions {
    /// A score without resampling.
    pub fn plain(references: ReferenceCount) -> Self {
        Self { references, bootstrap_samples: None, randomization_trials: None, seed: None }
    }
}

/// Puts a signature together from names and values.
pub(crate) struct Signature(String);

impl Signature {
    /// Starts with what sacreBLEU puts first.
    pub(crate) fn new(conditions: &Conditions) -> Self {
        let mut signature = Self(format!("nrefs:{}", conditions.references));
        if let Some(samples) = conditions.bootstrap_samples {
            signature.add("bs", samples);
        }
        if let Some(trials) = conditions.randomization_trials {
            signature.add("ar", trials);
        }
        if let Some(seed) = conditions.seed {
            signature.add("seed", seed);
        }
        signature
    }

    /// Starts with a metric's name.
    pub(crate) fn named(name: impl Display) -> Self {
        Self(name.to_string())
    }

    /// Adds a value.
    pub(crate) fn add(&mut self, name: &str, value: impl Display) {
        // Writing to a string does not fail.
        let _ = write!(self.0, "|{name}:{value}");
    }

    /// Adds a yes or no.
    pub(crate) fn add_flag(&mut self, name: &str, value: bool) {
        self.add(name, if value { "yes" } else { "no" });
    }

    /// Ends with the version of this code.
    pub(crate) fn finish(mut self) -> String {
        self.add("fullbench", env!("CARGO_PKG_VERSION"));
        self.0
    }
}
