//! The hash of a password, which nothing shows.

use std::fmt;

use sea_orm::DeriveValueType;

/// The hash of a password, in PHC form; shown as nothing wherever it might be printed.
#[derive(Clone, PartialEq, Eq, DeriveValueType)]
pub struct PasswordHash(String);

impl PasswordHash {
    /// A hash that was just made.
    #[must_use]
    pub fn new(phc: String) -> Self {
        Self(phc)
    }

    /// The hash itself, to compare a password with.
    #[must_use]
    pub fn phc(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PasswordHash(…)")
    }
}
