//! Alerts over HTTP: rules that fire, repeat and resolve, who is told, and what is refused.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../common/mod.rs"]
mod common;
mod fixture;
mod measured;
mod rules;
mod telling;

pub(crate) use common::backend;
