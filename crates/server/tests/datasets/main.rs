//! Scenarios around data sets, over HTTP and on every database.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cases;
#[path = "../common/mod.rs"]
mod common;
mod content;
mod entities;
mod ground_truth;
mod uploading;
mod uploads;

use common::backend;
