//! Language models as judges: criteria, prompts, framing of untrusted text, asking and parsing, methods.
//!
//! Knows nothing of scorers, runs or the store. What a judge says is never bent into shape: a reply that is no judgement
//! is asked for again, and then there is no score.

mod criteria;

pub use criteria::{CriterionError, builtin, builtin_criteria, check};
