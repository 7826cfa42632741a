//! Measurements of the server, as Prometheus reads them.
//!
//! Whatever happens is measured where it happens, through the `metrics` facade; what has a state rather than a history, such as
//! the queue, is looked at when somebody asks.

mod described;
mod state;

use std::sync::OnceLock;
use std::time::Duration;

use axum::http::Method;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

pub(crate) use state::look;

/// Upper bounds of times, in seconds.
const TIMES: &[f64] = &[
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
    300.0, 1800.0,
];
/// Upper bounds of scores.
const SCORES: &[f64] = &[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

/// The measurements of this process: of all its servers, where a test has several.
static MEASURED: OnceLock<Option<PrometheusHandle>> = OnceLock::new();

/// Measures from now on. Where something else measures this process already, nothing is told here.
pub(crate) fn install() {
    MEASURED.get_or_init(|| {
        let builder = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), TIMES)
            .and_then(|builder| {
                builder.set_buckets_for_metric(Matcher::Full("fullbench_score".to_owned()), SCORES)
            });
        let installed = builder.and_then(PrometheusBuilder::install_recorder);
        match installed {
            Ok(handle) => {
                described::describe();
                Some(handle)
            }
            Err(error) => {
                tracing::warn!(%error, "nothing is measured");
                None
            }
        }
    });
}

/// Everything that was measured so far.
pub(crate) fn rendered() -> Option<String> {
    let handle = MEASURED.get()?.as_ref()?;
    handle.run_upkeep();
    Some(handle.render())
}

/// A request that was answered.
pub(crate) fn answered(route: &str, method: &Method, status: u16, took: Duration) {
    let method = match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        // Others can be made up by whoever calls.
        _ => "other",
    };
    metrics::counter!("fullbench_http_requests_total",
        "route" => route.to_owned(), "method" => method, "status" => status.to_string())
    .increment(1);
    metrics::histogram!("fullbench_http_request_seconds",
        "route" => route.to_owned(), "method" => method)
    .record(took.as_secs_f64());
}
