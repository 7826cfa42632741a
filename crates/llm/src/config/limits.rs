//! How hard a provider may be driven, and how long a unit may take.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ConfigError;

/// Limits of one provider; each can be overridden per model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Calls in flight at once. Halves when the provider says 429 and grows back step by step.
    pub concurrency: u32,
    /// Calls started per minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u32>,
    /// Tokens sent and received per minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_per_minute: Option<u32>,
    /// Seconds one call may take.
    pub timeout_seconds: f64,
    /// Seconds one answer may take with all its attempts; waiting for one's own limits does not count.
    pub deadline_seconds: f64,
    /// Calls made for one answer before giving up.
    pub attempts: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            concurrency: 50,
            requests_per_minute: None,
            tokens_per_minute: None,
            timeout_seconds: 60.0,
            deadline_seconds: 600.0,
            attempts: 8,
        }
    }
}

impl Limits {
    /// Refuses zero, negative and non-finite limits.
    ///
    /// # Errors
    /// Names the limit that cannot be.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let Self {
            concurrency,
            requests_per_minute,
            tokens_per_minute,
            timeout_seconds,
            deadline_seconds,
            attempts,
        } = self;
        positive_count("concurrency", Some(*concurrency))?;
        positive_count("requests_per_minute", *requests_per_minute)?;
        positive_count("tokens_per_minute", *tokens_per_minute)?;
        positive_count("attempts", Some(*attempts))?;
        positive_seconds("timeout_seconds", Some(*timeout_seconds))?;
        positive_seconds("deadline_seconds", Some(*deadline_seconds))
    }

    /// Time one call may take.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::try_from_secs_f64(self.timeout_seconds).unwrap_or(Duration::from_secs(60))
    }

    /// Time one answer may take with all its attempts.
    #[must_use]
    pub fn deadline(&self) -> Duration {
        Duration::try_from_secs_f64(self.deadline_seconds).unwrap_or(Duration::from_secs(600))
    }
}

/// Limits of one model where they differ from those of the run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LimitsOverride {
    /// Calls in flight at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<u32>,
    /// Calls started per minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u32>,
    /// Tokens sent and received per minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_per_minute: Option<u32>,
    /// Seconds one call may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<f64>,
    /// Seconds one answer may take with all its attempts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_seconds: Option<f64>,
    /// Calls made for one answer before giving up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
}

impl LimitsOverride {
    /// The limits with what is set here put in their place.
    #[must_use]
    pub fn apply(&self, base: &Limits) -> Limits {
        Limits {
            concurrency: self.concurrency.unwrap_or(base.concurrency),
            requests_per_minute: self.requests_per_minute.or(base.requests_per_minute),
            tokens_per_minute: self.tokens_per_minute.or(base.tokens_per_minute),
            timeout_seconds: self.timeout_seconds.unwrap_or(base.timeout_seconds),
            deadline_seconds: self.deadline_seconds.unwrap_or(base.deadline_seconds),
            attempts: self.attempts.unwrap_or(base.attempts),
        }
    }

    /// What is set here, and what is set there for the rest.
    pub(super) fn over(&self, base: &Self) -> Self {
        Self {
            concurrency: self.concurrency.or(base.concurrency),
            requests_per_minute: self.requests_per_minute.or(base.requests_per_minute),
            tokens_per_minute: self.tokens_per_minute.or(base.tokens_per_minute),
            timeout_seconds: self.timeout_seconds.or(base.timeout_seconds),
            deadline_seconds: self.deadline_seconds.or(base.deadline_seconds),
            attempts: self.attempts.or(base.attempts),
        }
    }

    /// Whether the model gets a pace of its own instead of sharing its provider's.
    #[must_use]
    pub fn changes_pace(&self) -> bool {
        self.concurrency.is_some()
            || self.requests_per_minute.is_some()
            || self.tokens_per_minute.is_some()
    }

    /// Refuses zero, negative and non-finite limits.
    ///
    /// # Errors
    /// Names the limit that cannot be.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.apply(&Limits::default()).validate()
    }
}

fn positive_count(field: &str, value: Option<u32>) -> Result<(), ConfigError> {
    if value == Some(0) {
        return Err(ConfigError::new(field, format!("`{field}` must be at least 1")));
    }
    Ok(())
}

fn positive_seconds(field: &str, value: Option<f64>) -> Result<(), ConfigError> {
    let Some(seconds) = value else { return Ok(()) };
    if !seconds.is_finite() || seconds <= 0.0 {
        return Err(ConfigError::new(
            field,
            format!("`{field}` must be above 0, and is {seconds}"),
        ));
    }
    if seconds > MAX_SECONDS {
        return Err(ConfigError::new(field, format!("`{field}` must be at most {MAX_SECONDS}")));
    }
    Ok(())
}

/// A week: no single answer takes longer.
const MAX_SECONDS: f64 = 604_800.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_override_changes_only_what_it_names() {
        let change = LimitsOverride { attempts: Some(2), ..LimitsOverride::default() };
        assert_eq!(change.apply(&Limits::default()), Limits { attempts: 2, ..Limits::default() });
        assert!(!change.changes_pace());
        assert!(LimitsOverride { concurrency: Some(1), ..change }.changes_pace());
    }

    #[test]
    fn limits_that_would_stop_or_break_a_run_are_refused() {
        let bad = [
            Limits { concurrency: 0, ..Limits::default() },
            Limits { requests_per_minute: Some(0), ..Limits::default() },
            Limits { tokens_per_minute: Some(0), ..Limits::default() },
            Limits { timeout_seconds: -1.0, ..Limits::default() },
            Limits { timeout_seconds: f64::NAN, ..Limits::default() },
            Limits { deadline_seconds: f64::INFINITY, ..Limits::default() },
            Limits { deadline_seconds: 1e300, ..Limits::default() },
            Limits { attempts: 0, ..Limits::default() },
        ];
        for limits in bad {
            assert!(limits.validate().is_err(), "{limits:?}");
        }
        assert!(Limits::default().validate().is_ok());
    }
}
