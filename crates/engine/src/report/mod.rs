//! What a run says: summaries with intervals, gates, differences between runs.

mod accumulate;
mod diff;
mod gates;
mod summary;

pub use diff::{CaseChange, Change, DiffCounts, DiffReport, compare_runs};
pub(crate) use gates::check_gate;
pub use gates::{GateResult, judge_gates};
pub use summary::{
    GroupSummary, LatencyStep, LatencySummary, ModelSummary, RunReport, ScorerInfo, ScorerSummary,
    check_group_field, metadata_fields, summarize,
};
