//! Judges and what they gave: what every backend of the store must do.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod entities;
mod fixture;
mod judgements;
