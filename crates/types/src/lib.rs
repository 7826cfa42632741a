//! The vocabulary of Fullbench: what a case, a model, a generation, a score and a run are.
//!
//! Plain data with serde, no I/O. Every other crate speaks in these words.

mod access;
mod alert;
mod audit;
mod case;
mod criterion;
mod email;
mod error;
mod generation;
mod id;
mod judgement;
mod message;
mod money;
mod path;
mod platform;
mod run;
mod score;
mod words;

pub use access::Action;
pub use alert::{AlertChannel, AlertKind, AlertNews, AlertState, NotificationStatus};
pub use audit::AuditPhase;
pub use case::{CaseKey, TestCase, lookup, text_of};
pub use criterion::{Criterion, RubricLevel, Scale};
pub use email::email_address;
pub use error::ErrorCode;
pub use generation::{
    ChoiceProbability, FinishReason, Generation, TokenLogprob, TopLogprob, UnitFailure, Usage,
};
pub use id::{
    ContentHash, DEFAULT_ORGANIZATION, JudgeId, OrganizationId, ProviderBatchId, RunId,
    SYSTEM_ORGANIZATION, UnitKey,
};
pub use judgement::{JudgeReference, JudgeReply, Judgement};
pub use message::{Message, Role};
pub use money::NanoDollars;
pub use path::{
    Audit, CascadeEnd, CascadePath, Route, RoutePath, ScorePath, SimilarPath, TierEntry, TierPath,
};
pub use platform::{
    DatasetKind, DeliveryStatus, EventKind, FileFormat, GroundTruthSource, Plan, Priority,
    RunOrigin, ScrubKind, UserRole, ValidationStatus, VersionStatus,
};
pub use run::{RunKind, RunState};
pub use score::{FailureReason, Outcome, Score, UnscoredReason};
