//! Data sets as a platform needs them: inspected, filtered, sampled, compared, exported.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod files;
mod hostile;
mod inspecting;
mod tables;
mod versions;
