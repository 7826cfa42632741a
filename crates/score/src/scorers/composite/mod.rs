//! Scorers made of other scorers.

mod children;
mod ensemble;
mod nested;

pub(crate) use children::Children;
pub(crate) use ensemble::EnsembleParameters;
pub(crate) use nested::NestedScorer;
