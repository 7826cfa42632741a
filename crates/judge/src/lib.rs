//! Language models as judges: criteria, prompts, framing of untrusted text, asking and parsing, methods.
//!
//! A [`Judge`] is built from a [`JudgeConfig`] and turns a [`Subject`] into a [`Score`](fullbench_types::Score) through an [`Ask`]:
//! connected models, or replies recorded before. Knows nothing of scorers, runs or the store. What a judge says is never bent into
//! shape: a reply that is no judgement is asked for again with the complaint, and then there is no score.

mod ask;
mod attacks;
mod batch;
mod config;
mod criteria;
mod error;
mod frame;
mod judge;
mod methods;
mod pair;
mod panel;
mod prompts;
mod reply;
mod sampling;
mod steps;
mod subject;

pub use ask::{ATTEMPT_STEP, Ask, AskError, Connected, Question, RecordedReplies};
pub use attacks::{Attack, AttackKind, attacks};
pub use config::{CriterionChoice, JudgeConfig, Logprobs, Method, Structured};
pub use criteria::{CriterionError, builtin, builtin_criteria, check};
pub use error::JudgeError;
pub use frame::{Frame, Framer, LINE_PREFIX, escape, frames_in, unescape};
pub use judge::{Judge, RenderedPrompt};
pub use pair::{PairJudge, Preference};
pub use panel::{Combine, Panel, PanelConfig};
pub use prompts::{Prompt, PromptError, PromptKind, PromptOverride, PromptSet};
pub use steps::{MemorySteps, StepsStore};
pub use subject::{Pair, Subject};
