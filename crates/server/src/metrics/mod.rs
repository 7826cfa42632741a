//! Measurements of the server, as Prometheus reads them.
//!
//! Whatever happens is measured where it happens, through the `metrics` facade; what has a state rather than a history, such as
//! the queue, is looked at when somebody asks.

mod begun;
mod described;
mod state;

use std::sync::OnceLock;
use std::time::Duration;

use axum::http::Method;
use jiff::Timestamp;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tokio_util::sync::CancellationToken;

pub(crate) use state::look;

use crate::app::App;

/// Upper bounds of times, in seconds.
const TIMES: &[f64] = &[
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
    300.0, 1800.0,
];
/// Upper bounds of scores.
const SCORES: &[f64] = &[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

/// The measurements of this process: of all its servers, where a test has several.
static MEASURED: OnceLock<Option<PrometheusHandle>> = OnceLock::new();

/// When this process began to measure, in seconds since 1970. What the system says is not to be had everywhere: a unit that hides
/// `/proc/stat` has none.
static STARTED: OnceLock<f64> = OnceLock::new();

/// Measures from now on. Where something else measures this process already, nothing is told here.
pub(crate) fn install() {
    STARTED.get_or_init(|| Timestamp::now().as_duration().as_secs_f64());
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
                metrics_process::Collector::default().describe();
                begun::begin();
                Some(handle)
            }
            Err(error) => {
                tracing::warn!(%error, "nothing is measured");
                None
            }
        }
    });
}

/// How often what was measured is put together.
const PUT_TOGETHER: Duration = Duration::from_secs(5);

/// Puts together what was measured, whether anybody asks for it or not: until then every single value is kept.
pub(crate) fn start(app: &App) {
    let stop = app.stop().clone();
    app.tasks().spawn(async move {
        every_so_often(&stop, || {
            if let Some(Some(handle)) = MEASURED.get() {
                handle.run_upkeep();
            }
        })
        .await;
    });
}

async fn every_so_often(stop: &CancellationToken, put_together: impl Fn()) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(PUT_TOGETHER) => put_together(),
        }
    }
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn values_are_put_together_though_nobody_asks_for_them() {
        let (stop, times) = (CancellationToken::new(), AtomicU32::new(0));
        let ending = async {
            tokio::time::sleep(Duration::from_secs(61)).await;
            stop.cancel();
        };
        let count = || {
            times.fetch_add(1, Ordering::Relaxed);
        };
        tokio::join!(every_so_often(&stop, count), ending);
        assert_eq!(times.load(Ordering::Relaxed), 12);
    }
}
