//! Walks every endpoint of the OpenAPI document in every role, with a key and in a browser, at home and with what belongs to another
//! organization: what is answered is what the table of roles says, and nothing of others is read, changed or revealed. Every body
//! is right, so that nothing is refused for its form; one field more than was asked for is refused.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod another;
mod bodies;
#[path = "../common/mod.rs"]
mod common;
mod fields;
mod made;
mod open;
mod operations;
mod references;
mod seen;
mod walk;
mod world;

pub(crate) use common::backend;
