//! JSON bodies.

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};

use crate::app::App;
use crate::problem::{FieldProblem, INVALID, MALFORMED, MEDIA_TYPE, Problem, TOO_LARGE};

/// A JSON body.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let kind = request.headers().get(header::CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let essence = kind.split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/json") {
            let detail = format!("expected a body of type application/json, found `{essence}`");
            let hint = "send JSON with the header `Content-Type: application/json`";
            return Err(Problem::new(MEDIA_TYPE, detail).hint(hint));
        }
        let bytes = Bytes::from_request(request, app).await.map_err(|rejection| match rejection
            .status()
        {
            StatusCode::PAYLOAD_TOO_LARGE => Problem::new(
                TOO_LARGE,
                format!("the body has more than {} bytes", app.config().max_body_bytes),
            )
            .hint("upload large data as a version of a data set"),
            _ => Problem::new(MALFORMED, "the body ended too early"),
        })?;
        decode(&bytes).map(Self)
    }
}

/// Reads JSON; an error names the field.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    // A list would be taken for the fields in their order.
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return Err(Problem::new(INVALID, "expected an object, found a list"));
    }
    let mut json = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        let inner = error.into_inner();
        if !inner.is_data() {
            return not_json(&inner);
        }
        let message = without_place(&inner.to_string());
        if path == "." || path.is_empty() {
            return Problem::new(INVALID, message);
        }
        let errors =
            vec![FieldProblem { field: path.clone(), message: message.clone(), hint: None }];
        Problem { errors, ..Problem::new(INVALID, format!("`{path}`: {message}")) }
    })?;
    json.end().map_err(|error| not_json(&error))?;
    Ok(value)
}

/// Tells a field that is null from one that is not there.
pub(crate) fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    value: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(value).map(Some)
}

fn not_json(error: &serde_json::Error) -> Problem {
    Problem::new(MALFORMED, format!("the body is not valid JSON: {error}"))
}

/// serde's message without its line and column, which say little of a request, and without names of the program.
fn without_place(message: &str) -> String {
    let text = message.rsplit_once(" at line ").map_or(message, |(text, _)| text);
    match text.split_once("expected struct ") {
        Some((found, _)) => format!("{found}expected an object"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Wanted {
        #[expect(dead_code, reason = "it is only read")]
        inner: Option<Box<Wanted>>,
    }

    #[test]
    fn no_name_of_the_program_is_told() {
        for (body, field) in [("null", None), ("7", None), (r#"{"inner": 7}"#, Some("inner"))] {
            let problem = decode::<Wanted>(body.as_bytes()).unwrap_err();
            assert!(problem.detail.contains("expected an object"), "{problem:?}");
            assert!(!problem.detail.contains("Wanted"), "{problem:?}");
            assert_eq!(problem.errors.first().map(|error| error.field.as_str()), field);
        }
    }
}
