//! A run: planned from its spec, executed in lanes, recorded in groups, resumed from its records.

mod batches;
mod estimate;
mod execute;
mod lane;
mod memory;
mod open;
mod opponents;
mod plan;
mod prepare;
mod progress;
mod recorder;
mod rescore;
mod sample;
mod scoring;
mod stop;
mod trouble;

pub use estimate::{Estimate, JudgeEstimate, ModelEstimate, estimate};
pub(crate) use execute::called_model;
pub use execute::{RunControl, RunEnd, execute};
pub(crate) use memory::memory;
pub use plan::{CaseSelection, Plan};
pub use prepare::{PreparedRun, RunRequest, prepare_new, prepare_resume};
pub(crate) use prepare::{counted_plan, is_left, no_key, no_price, planned, refuse_uncounted};
pub use progress::{LaneSnapshot, Progress, ProgressSnapshot};
pub use rescore::prepare_rescore;
pub use sample::Stratum;
pub(crate) use sample::draw_some;
