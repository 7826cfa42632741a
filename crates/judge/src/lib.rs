//! Language models as judges: criteria, prompts, framing of untrusted text, asking and parsing, methods.
//!
//! Knows nothing of scorers, runs or the store. What a judge says is never bent into shape: a reply that is no judgement
//! is asked for again, and then there is no score.

mod attacks;
mod criteria;
mod error;
mod frame;
mod prompts;
mod reply;

pub use attacks::{Attack, AttackKind, attacks};
pub use criteria::{CriterionError, builtin, builtin_criteria, check};
pub use error::JudgeError;
pub use frame::{Frame, Framer, LINE_PREFIX, escape, frames_in, unescape};
pub use prompts::{Prompt, PromptError, PromptKind, PromptOverride, PromptSet};
