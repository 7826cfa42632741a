//! What a run says: summaries with intervals, gates, differences between runs.
//!
//! Reports are written as JSON and can be read back, so that a command line can show those of a server.

mod accumulate;
mod conclusion;
mod diff;
mod evidence;
mod gates;
mod grouping;
mod pairs;
mod sampled;
mod summary;

pub use diff::{CaseChange, Change, DiffCounts, DiffOptions, DiffReport, compare_runs};
pub use evidence::{Evidence, Verdict};
pub use gates::{GateEvidence, GateResult};
pub(crate) use gates::{baselines_of, check_gate};
pub(crate) use grouping::group_field;
pub use grouping::{Clustering, check_group_field};
pub use sampled::{
    AgreementSummary, CascadeSummary, Estimated, RouteNumbers, RouteSummary, SimilarSummary,
    TierSummary,
};
pub use summary::{
    GroupSummary, LatencyStep, LatencySummary, ModelSummary, RunReport, ScorerInfo, ScorerSummary,
    metadata_fields, summarize,
};

/// One of a few fixed words, or one that was read back.
pub type Word = std::borrow::Cow<'static, str>;
