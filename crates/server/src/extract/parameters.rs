//! Parameters in the path and in the query.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::problem::{FieldProblem, INVALID, NOT_FOUND, Problem};

/// The variable parts of the path; what is no id is the id of nothing.
pub(crate) struct PathParts<T>(pub(crate) T);

impl<T: DeserializeOwned + Send> FromRequestParts<App> for PathParts<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        match Path::<T>::from_request_parts(parts, app).await {
            Ok(Path(values)) => Ok(Self(values)),
            Err(_) => Err(Problem::new(NOT_FOUND, "the path names nothing that there is")),
        }
    }
}

/// The parameters of the query.
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<App> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        let query = parts.uri.query().unwrap_or_default();
        let pairs = form_urlencoded::parse(query.as_bytes());
        let pairs = serde_urlencoded::Deserializer::new(pairs);
        serde_path_to_error::deserialize(pairs).map(Self).map_err(|error| {
            let field = error.path().to_string();
            let message = error.into_inner().to_string();
            let detail = format!("the query is not right: {message}");
            let errors = match field.as_str() {
                "." | "" => Vec::new(),
                _ => vec![FieldProblem { field, message, hint: None }],
            };
            Problem { errors, ..Problem::new(INVALID, detail) }
        })
    }
}
