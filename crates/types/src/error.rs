//! The small set of codes that every crate's errors map to.

use crate::words::words;

words! {
    /// What kind of thing went wrong, for exit codes and problem documents.
    ErrorCode {
        /// The user's input is wrong.
        InvalidInput = "invalid_input",
        /// There is no such thing.
        NotFound = "not_found",
        /// Something else is in the way: another process, a state that does not allow it.
        Conflict = "conflict",
        /// The key is missing, wrong or not allowed to do this.
        Unauthorized = "unauthorized",
        /// A limit of the provider or of the user was met.
        RateLimited = "rate_limited",
        /// No answer in time.
        Timeout = "timeout",
        /// A server or the network failed.
        Unavailable = "unavailable",
        /// The disk, the database or the program itself failed.
        Internal = "internal",
    }
}
