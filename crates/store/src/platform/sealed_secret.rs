//! A sealed secret, which nothing shows.

use std::fmt;

use sea_orm::DeriveValueType;

/// A secret that only the server can open; shown as nothing wherever it might be printed.
#[derive(Clone, PartialEq, Eq, DeriveValueType)]
pub struct SealedSecret(Vec<u8>);

impl SealedSecret {
    /// What sealing gave.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// What opening needs.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for SealedSecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SealedSecret(…)")
    }
}
