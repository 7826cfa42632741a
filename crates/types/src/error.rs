//! The small set of codes that every crate's errors map to.

use serde::{Deserialize, Serialize};

/// What kind of thing went wrong, for exit codes and problem documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The user's input is wrong.
    InvalidInput,
    /// There is no such thing.
    NotFound,
    /// Something else is in the way: another process, a state that does not allow it.
    Conflict,
    /// The key is missing, wrong or not allowed to do this.
    Unauthorized,
    /// A limit of the provider or of the user was met.
    RateLimited,
    /// No answer in time.
    Timeout,
    /// A server or the network failed.
    Unavailable,
    /// The disk, the database or the program itself failed.
    Internal,
}
