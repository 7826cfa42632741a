//! What a run says: summaries with intervals, gates, differences between runs.

mod accumulate;
mod diff;
mod gates;
mod grouping;
mod summary;

pub use diff::{CaseChange, Change, DiffCounts, DiffReport, compare_runs};
pub(crate) use gates::check_gate;
pub use gates::{GateResult, judge_gates};
pub(crate) use grouping::group_field;
pub use grouping::{Clustering, check_group_field};
pub use summary::{
    GroupSummary, LatencyStep, LatencySummary, ModelSummary, RunReport, ScorerInfo, ScorerSummary,
    metadata_fields, summarize,
};
