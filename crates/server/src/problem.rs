//! Errors as RFC 9457 problem documents, with stable codes and the fields they are about.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use fullbench_engine::{EngineError, InputProblem};
use fullbench_store::StoreError;
use fullbench_types::ErrorCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quotas::RECORDS_HINT;

/// What went wrong with a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    pub(crate) kind: Kind,
    /// What went wrong this time.
    pub detail: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// What is wrong with which field.
    pub errors: Vec<FieldProblem>,
    /// The request, as logs name it.
    pub request_id: Option<String>,
    /// After how many seconds to try again.
    pub(crate) retry_after: Option<u64>,
    /// Why it is a fault of the server: for its log, not for the caller.
    pub(crate) reason: Option<String>,
}

/// What went wrong, as every endpoint says it (RFC 9457).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub struct ProblemDocument {
    /// A page about this kind of problem.
    #[serde(rename = "type")]
    pub kind: String,
    /// The kind of problem in a few words.
    pub title: String,
    /// The status of the response.
    pub status: u16,
    /// A word for programs: it never changes its meaning.
    pub code: String,
    /// What went wrong this time.
    pub detail: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// What is wrong with which field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldProblem>,
    /// The request, as logs name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// What is wrong with one field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FieldProblem {
    /// The field, as a path: `config.models[1].temperature`.
    pub field: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// After how many seconds to try again what the store could not be used for.
pub(crate) const RETRY_AFTER_SECONDS: u64 = 5;

/// A kind of problem: its code, status and title.
pub(crate) type Kind = &'static (&'static str, StatusCode, &'static str);

/// Declares the kinds of problems, and the list of all.
macro_rules! kinds {
    ($($name:ident = $code:literal, $status:ident, $title:literal;)+) => {
        $(pub(crate) const $name: Kind = &($code, StatusCode::$status, $title);)+

        /// Every kind of problem there is.
        pub(crate) const KINDS: &[Kind] = &[$($name),+];
    };
}

kinds! {
    MALFORMED = "malformed_request", BAD_REQUEST, "The request cannot be read";
    UNAUTHORIZED = "unauthorized", UNAUTHORIZED, "Who calls is not known";
    SIGN_IN = "sign_in_failed", UNAUTHORIZED, "Signing in failed";
    SECOND_FACTOR = "second_factor_needed", UNAUTHORIZED, "A code of the second factor is needed";
    OUT_OF_BUDGET = "out_of_budget", PAYMENT_REQUIRED, "The month's budget is used up";
    FORBIDDEN = "forbidden", FORBIDDEN, "This is not allowed to you";
    QUOTA = "quota_exceeded", FORBIDDEN, "The organization has as much as it may";
    FORGED = "forged_request", FORBIDDEN, "The request does not come from our own pages";
    NOT_FOUND = "not_found", NOT_FOUND, "There is no such thing";
    METHOD = "method_not_allowed", METHOD_NOT_ALLOWED, "This cannot be done with it";
    TOO_SLOW = "request_timeout", REQUEST_TIMEOUT, "The request took too long to come";
    CONFLICT = "conflict", CONFLICT, "Something is in the way";
    IN_PROGRESS = "request_in_progress", CONFLICT, "The same request is being carried out";
    TEXTS_DELETED = "texts_deleted", GONE, "The texts are gone with the key that they were sealed with";
    CHANGED = "precondition_failed", PRECONDITION_FAILED, "It was changed meanwhile";
    TOO_LARGE = "too_large", PAYLOAD_TOO_LARGE, "The request is too large";
    URI_TOO_LONG = "uri_too_long", URI_TOO_LONG, "The address is too long";
    HEADERS_TOO_LARGE = "headers_too_large", REQUEST_HEADER_FIELDS_TOO_LARGE, "The headers are too large";
    MEDIA_TYPE = "unsupported_media_type", UNSUPPORTED_MEDIA_TYPE, "The body has a type that is not read here";
    INVALID = "invalid_input", UNPROCESSABLE_ENTITY, "The request is not right";
    KEY_REUSED = "idempotency_key_reused", UNPROCESSABLE_ENTITY, "Another request had this idempotency key";
    TOO_MANY = "too_many_requests", TOO_MANY_REQUESTS, "This is asked too often";
    UNAVAILABLE = "unavailable", SERVICE_UNAVAILABLE, "The server cannot do this now";
    INTERNAL = "internal", INTERNAL_SERVER_ERROR, "The server failed";
}

impl Problem {
    /// A problem of a kind, with what happened.
    pub(crate) fn new(kind: Kind, detail: impl Into<String>) -> Self {
        Self {
            kind,
            detail: detail.into(),
            hint: None,
            errors: Vec::new(),
            request_id: None,
            retry_after: None,
            reason: None,
        }
    }

    fn document(&self) -> ProblemDocument {
        let (code, status, title) = self.kind;
        ProblemDocument {
            kind: format!("/docs#problem-{code}"),
            title: (*title).to_owned(),
            status: status.as_u16(),
            code: (*code).to_owned(),
            detail: self.detail.clone(),
            hint: self.hint.clone(),
            errors: self.errors.clone(),
            request_id: self.request_id.clone(),
        }
    }

    /// A field that is not right.
    pub(crate) fn field(field: impl Into<String>, message: impl Into<String>) -> Self {
        let message = message.into();
        let error = FieldProblem { field: field.into(), message: message.clone(), hint: None };
        Self { errors: vec![error], ..Self::new(INVALID, message) }
    }

    /// The same for something that is not there and was named by a field of the request, not by its path.
    pub(crate) fn in_field(self, field: &str) -> Self {
        match self.kind == NOT_FOUND {
            true => Self { hint: self.hint, ..Self::field(field, self.detail) },
            false => self,
        }
    }

    /// The same with what to do about it.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The same with the seconds after which to try again.
    pub(crate) fn retry_after(self, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    /// The same with fields seen from outside of an object that holds them.
    pub(crate) fn inside(mut self, object: &str) -> Self {
        for error in &mut self.errors {
            error.field = format!("{object}.{}", error.field);
        }
        if let Some(rest) = self.detail.strip_prefix('`') {
            self.detail = format!("`{object}.{rest}");
        }
        self
    }

    /// The same with fields seen from the whole request: `scorers[0]` of the engine is `metrics[0]` of a request.
    pub(crate) fn renamed(mut self, from: &str, to: &str) -> Self {
        if let Some(rest) = self.detail.strip_prefix('`').and_then(|text| text.strip_prefix(from)) {
            self.detail = format!("`{to}{rest}");
        }
        for error in &mut self.errors {
            if let Some(rest) = error.field.strip_prefix(from) {
                error.field = format!("{to}{rest}");
            }
        }
        self.detail = self.detail.replacen(&format!("`{from}"), &format!("`{to}"), 1);
        self
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        Self::from(&error)
    }
}

impl From<&StoreError> for Problem {
    fn from(error: &StoreError) -> Self {
        if let StoreError::ReferenceGone(reason) = error {
            tracing::warn!(error = %reason, "a request wrote to what is not there any more");
        }
        let retry_after = error.is_passing().then_some(RETRY_AFTER_SECONDS);
        let kind = match (error, error.code()) {
            (StoreError::ChangedMeanwhile { .. }, _) => CHANGED,
            (StoreError::NoRoom { .. }, _) => QUOTA,
            (StoreError::TextsDeleted, _) => TEXTS_DELETED,
            (_, ErrorCode::NotFound) => NOT_FOUND,
            (_, ErrorCode::Conflict) => CONFLICT,
            (_, ErrorCode::InvalidInput) => INVALID,
            (_, ErrorCode::Unavailable) => UNAVAILABLE,
            _ => return internal(error),
        };
        let hint = error.hint().map(str::to_owned);
        Self { hint, retry_after, ..Self::new(kind, error.to_string()) }
    }
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Input(problems) => problems.into(),
            EngineError::Store(error) => error.into(),
            error @ EngineError::OutOfBudget { .. } => {
                let hint = error.hint().unwrap_or_default();
                Self::new(OUT_OF_BUDGET, error.to_string()).hint(hint)
            }
            error @ EngineError::NoRoom { .. } => {
                Self::new(QUOTA, error.to_string()).hint(RECORDS_HINT)
            }
            error if error.code() == ErrorCode::InvalidInput => Self {
                hint: error.hint().map(str::to_owned),
                ..Self::new(INVALID, error.to_string())
            },
            error => internal(&error),
        }
    }
}

impl From<Vec<InputProblem>> for Problem {
    fn from(problems: Vec<InputProblem>) -> Self {
        let first = problems.first().cloned().unwrap_or_default();
        let detail = match &first.field {
            Some(field) => format!("`{field}`: {}", first.message),
            None => first.message.clone(),
        };
        let errors = problems.into_iter().filter_map(|problem| {
            let InputProblem { field, message, hint, .. } = problem;
            Some(FieldProblem { field: field?, message, hint })
        });
        Self { hint: first.hint, errors: errors.collect(), ..Self::new(INVALID, detail) }
    }
}

/// What was looked for; nothing where there is none.
pub(crate) fn found<T>(looked_for: Result<T, Problem>) -> Result<Option<T>, Problem> {
    match looked_for {
        Ok(found) => Ok(Some(found)),
        Err(problem) if problem.kind == NOT_FOUND => Ok(None),
        Err(problem) => Err(problem),
    }
}

/// A fault of the server itself: the particulars go to the log, with the request, and not to the caller.
pub(crate) fn internal(error: &dyn std::error::Error) -> Problem {
    let told = Problem::new(INTERNAL, "the server could not do this; its log says why")
        .hint("try again, and tell who runs the server the request id");
    Problem { reason: Some(error.to_string()), ..told }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.kind.1;
        let body = serde_json::to_vec(&self.document()).unwrap_or_default();
        let mut response = (status, body).into_response();
        let kind = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        if status == StatusCode::UNAUTHORIZED {
            let challenge = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        // The middleware that knows the request's id writes it in.
        response.extensions_mut().insert(self);
        response
    }
}
