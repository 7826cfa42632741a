//! Secrets that are marked, put wherever there is one, and then looked for in everything that is written: the log at its most
//! talkative, answers and refusals, the database, the objects, reports, exports and backups. And no request writes a line of its
//! own into the log.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../../../store/tests/backend/mod.rs"]
mod backend;
#[path = "../../../store/tests/backend/bucket.rs"]
mod bucket;
mod configured;
mod echo;
mod lines;
mod logged;
#[path = "../../../server/tests/common/mail.rs"]
mod mail;
mod nowhere;
mod outgoing;
mod people;
mod search;
#[path = "../support/mod.rs"]
mod support;
#[path = "../../../server/tests/common/totp.rs"]
mod totp;
mod wrong;

/// What every secret has in it that we choose ourselves.
pub(crate) const MARK: &str = "Mk7QzSecret";
