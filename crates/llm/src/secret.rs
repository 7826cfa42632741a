//! Keys that cannot be printed by accident.

use std::fmt;

/// A key; shown as `***` wherever it is printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Keeps a key.
    #[must_use]
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    /// The key in an environment variable, without surrounding white space; none when unset or blank.
    #[must_use]
    pub fn from_environment(variable: &str) -> Option<Self> {
        let key = std::env::var(variable).ok()?;
        let key = key.trim();
        (!key.is_empty()).then(|| Self::new(key))
    }

    /// The key itself, for the one header that carries it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The text with every occurrence of the key replaced.
    #[must_use]
    pub fn redact(&self, text: String) -> String {
        if !self.0.is_empty() && text.contains(&self.0) {
            return text.replace(&self.0, "***");
        }
        text
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_shown() {
        let key = Secret::new("sk-very-secret");
        assert_eq!(format!("{key} {key:?}"), "*** ***");
        assert_eq!(key.redact("bad key sk-very-secret!".to_owned()), "bad key ***!");
    }
}
