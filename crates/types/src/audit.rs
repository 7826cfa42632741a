//! How far something got that the audit log tells of.

use crate::words::words;

words! {
    /// How far a request, or a job of the server, got.
    AuditPhase {
        /// It is about to be carried out; the entry that ends it follows.
        Asked = "asked",
        /// It was carried out.
        Done = "done",
        /// It was not allowed, or not right.
        Refused = "refused",
        /// The server failed on it.
        Failed = "failed",
        /// It ended without an answer: what it did by then is done.
        BrokenOff = "broken_off",
    }
}
