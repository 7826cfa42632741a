//! The trait every model is called through, its reply, and the classes of failure.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use fullbench_types::{ErrorCode, FailureReason, Generation};

use crate::rate::RateHeaders;
use crate::request::GenerationRequest;

/// A language model: one call, no retry.
#[async_trait]
pub trait LanguageModel: Send + Sync {
    /// Asks once.
    async fn generate(&self, request: &GenerationRequest) -> Result<Reply, CallError>;

    /// Tells models apart that had the same name at different times, such as files under one path; none where the
    /// provider vouches for its names. It becomes part of every request, and so of the cache key.
    fn revision(&self) -> Option<String> {
        None
    }
}

/// A successful call.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The answer, with one attempt and no cost yet.
    pub generation: Generation,
    /// What the provider said of its limits.
    pub rate: RateHeaders,
}

/// A failed call.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct CallError {
    /// What kind of failure it is, which decides whether it is tried again.
    pub class: FailureClass,
    /// The HTTP status, where there was one.
    pub status: Option<u16>,
    /// What the provider or the network said, free of secrets.
    pub message: String,
    /// How long the provider asked to wait.
    pub retry_after: Option<Duration>,
    /// What the provider said of its limits.
    pub rate: RateHeaders,
}

impl CallError {
    /// A failure without a reply.
    #[must_use]
    pub fn new(class: FailureClass, message: impl Into<String>) -> Self {
        Self {
            class,
            status: None,
            message: message.into(),
            retry_after: None,
            rate: RateHeaders::default(),
        }
    }

    /// A reply that is not valid for its wire format.
    pub(crate) fn malformed(message: impl Into<String>) -> Self {
        Self::new(FailureClass::Malformed, message)
    }
}

/// What kind of failure a call met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FailureClass {
    /// The provider's limits.
    RateLimit,
    /// The provider failed or is overloaded.
    Server,
    /// No complete reply in time.
    Timeout,
    /// The connection could not be made, or broke.
    Connection,
    /// A reply that is not valid for its wire format.
    Malformed,
    /// The key is missing, wrong, or may not do this.
    Auth,
    /// The account has no credit left.
    Quota,
    /// There is no such model or address.
    NotFound,
    /// The provider refuses the request as it is.
    BadRequest,
    /// The prompt is longer than the model can read.
    ContextTooLong,
    /// The provider refuses the prompt's content.
    ContentFilter,
    /// The answer is not in the cache, and only the cache may be used.
    NotCached,
}

impl FailureClass {
    /// All classes.
    pub const ALL: [Self; 12] = [
        Self::RateLimit,
        Self::Server,
        Self::Timeout,
        Self::Connection,
        Self::Malformed,
        Self::Auth,
        Self::Quota,
        Self::NotFound,
        Self::BadRequest,
        Self::ContextTooLong,
        Self::ContentFilter,
        Self::NotCached,
    ];

    /// The stored word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RateLimit => "rate_limit",
            Self::Server => "server",
            Self::Timeout => "timeout",
            Self::Connection => "connection",
            Self::Malformed => "malformed",
            Self::Auth => "auth",
            Self::Quota => "quota",
            Self::NotFound => "not_found",
            Self::BadRequest => "bad_request",
            Self::ContextTooLong => "context_too_long",
            Self::ContentFilter => "content_filter",
            Self::NotCached => "not_cached",
        }
    }

    /// The same in words for people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::RateLimit => "rate limit",
            Self::Server => "server error",
            Self::Timeout => "timeout",
            Self::Connection => "broken connection",
            Self::Malformed => "malformed reply",
            Self::Auth => "key refused",
            Self::Quota => "no credit left",
            Self::NotFound => "not found",
            Self::BadRequest => "request refused",
            Self::ContextTooLong => "prompt too long",
            Self::ContentFilter => "content refused",
            Self::NotCached => "not in the cache",
        }
    }

    /// Whether the same call may succeed when it is made again.
    #[must_use]
    pub fn is_retryable(self) -> bool {
        match self {
            Self::RateLimit | Self::Server | Self::Timeout | Self::Connection | Self::Malformed => {
                true
            }
            Self::Auth
            | Self::Quota
            | Self::NotFound
            | Self::BadRequest
            | Self::ContextTooLong
            | Self::ContentFilter
            | Self::NotCached => false,
        }
    }

    /// Whether it says that the provider is down, which opens the circuit breaker.
    #[must_use]
    pub fn is_outage(self) -> bool {
        matches!(self, Self::Server | Self::Timeout | Self::Connection)
    }

    /// What is recorded for the unit.
    #[must_use]
    pub fn reason(self) -> FailureReason {
        match self {
            Self::RateLimit => FailureReason::RateLimited,
            Self::Timeout => FailureReason::Timeout,
            _ => FailureReason::ProviderError,
        }
    }

    /// The shared code: what is unavailable or too late fails on the provider's side, or on the way there.
    #[must_use]
    pub fn code(self) -> ErrorCode {
        match self {
            Self::RateLimit => ErrorCode::RateLimited,
            Self::Server | Self::Connection | Self::Malformed => ErrorCode::Unavailable,
            Self::Timeout => ErrorCode::Timeout,
            Self::Auth | Self::Quota => ErrorCode::Unauthorized,
            Self::NotFound | Self::NotCached => ErrorCode::NotFound,
            Self::BadRequest | Self::ContextTooLong | Self::ContentFilter => {
                ErrorCode::InvalidInput
            }
        }
    }

    /// What to do about a failure that will not pass by itself; `variable` is where the key was read from.
    #[must_use]
    pub fn hint(self, variable: Option<&str>) -> Option<String> {
        let hint = match self {
            Self::Auth => match variable {
                Some(variable) => format!("check the key in {variable}: it was refused"),
                None => {
                    "no key was sent: name the variable that holds it in `api_key_env`".to_owned()
                }
            },
            Self::Quota => "add credit at the provider, or use another key".to_owned(),
            Self::NotFound => "check the model's name and `base_url`".to_owned(),
            Self::BadRequest => {
                "check the model's parameters; the message says what is refused".to_owned()
            }
            Self::ContextTooLong => {
                "shorten the prompt, lower `max_tokens`, or use a model with a longer context"
                    .to_owned()
            }
            Self::NotCached => "run without --cache-only to call the model".to_owned(),
            Self::Connection => "check that `base_url` can be reached from here".to_owned(),
            _ => return None,
        };
        Some(hint)
    }
}

impl From<FailureClass> for FailureReason {
    fn from(class: FailureClass) -> Self {
        class.reason()
    }
}

impl fmt::Display for FailureClass {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
