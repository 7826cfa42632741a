//! Judges and what they gave: what every backend of the store must do.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../backend/mod.rs"]
mod backend;
mod entities;
mod fixture;
mod judgements;
mod limits;
