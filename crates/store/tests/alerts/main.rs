//! Alerts: the numbers that rules watch, how rules stand, and who is told, on every backend.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../backend/mod.rs"]
mod backend;
mod fixture;
mod measured;
mod scores;
mod standing;
mod tried;
