//! Backups: everything comes back, to the same kind of database and to the other; what is damaged is refused.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../backend/mod.rs"]
mod backend;
mod fixture;
mod refusals;
mod round_trip;
mod snapshot;
