//! Scorers: anything that turns a case and an output into a score.
//!
//! A [`Scorer`] takes a slice of items, so that batches are natural. The registry builds scorers from
//! their entries in an evaluation file and describes them for the schema and the reference pages.
//! Reading files and running units are not done here.

mod memory;
mod registry;
mod review;
mod scorer;
mod scorers;

pub use memory::{JudgedOutput, JudgedStore, Memory};
pub use registry::{
    NamedScorer, ScorerConfig, ScorerConfigError, ScorerDescription, build, descriptions,
};
pub use review::{HumanScore, awaited, reviewed};
pub use scorer::{AskedCall, Item, Opposed, Scorer};
pub use scorers::{Band, Bands, CriterionScore, Evidence, EvidenceType, Feedback, Scorecard};
