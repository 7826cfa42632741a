//! Measurements for Prometheus.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::access::Rule;
use crate::api::Endpoint;
use crate::app::App;
use crate::metrics::{look, rendered};
use crate::problem::{Problem, UNAVAILABLE};

/// The text format of Prometheus.
const FORMAT: &str = "text/plain; version=0.0.4";

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let about = "In the text format of Prometheus. For who runs the server: with the token of `FULLBENCH_METRICS_TOKEN` as a \
        bearer key, or without one from the machine itself. Nothing of what organizations keep is in it but their ids and the names of models and scorers.";
    vec![
        Endpoint::get("/metrics", "get_metrics", Rule::Operator, get)
            .about("health", "Measurements of the server", about)
            .gives_as(200, "text/plain", "The measurements")
            .refuses(&[503]),
    ]
}

async fn get(State(app): State<App>) -> Result<Response, Problem> {
    look(&app).await;
    let text = rendered().ok_or_else(|| Problem::new(UNAVAILABLE, "nothing is measured"))?;
    Ok(([(header::CONTENT_TYPE, FORMAT)], text).into_response())
}
