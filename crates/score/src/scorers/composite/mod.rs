//! Scorers made of other scorers.

mod children;
mod draw;
mod ensemble;
mod judge_check;
mod nested;

pub(crate) use children::{Children, full_cost, passing_reason, with_parts};
pub(crate) use draw::chance;
pub(crate) use ensemble::EnsembleParameters;
pub(crate) use judge_check::JudgeCheck;
pub(crate) use nested::NestedScorer;
