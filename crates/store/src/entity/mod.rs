//! The tables. Columns are portable: text enums, JSON as text, integers for money and time, UUIDs.

pub(crate) mod baseline;
pub(crate) mod criterion;
pub(crate) mod dataset_content;
pub(crate) mod evaluation_steps;
pub(crate) mod generation;
pub(crate) mod judge;
pub(crate) mod judge_model;
pub(crate) mod judged_output;
pub(crate) mod method;
pub(crate) mod platform;
pub(crate) mod provider_batch;
pub(crate) mod run;
pub(crate) mod run_progress;
pub(crate) mod run_scorer;
pub(crate) mod score;
pub(crate) mod threshold;
