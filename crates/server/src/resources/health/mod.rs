//! Whether the server lives, and whether it can work.

use axum::extract::State;
use axum::response::Json;
use schemars::JsonSchema;
use serde::Serialize;

use crate::access::Rule;
use crate::api::Endpoint;
use crate::app::App;
use crate::problem::{Problem, UNAVAILABLE};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Health")]
struct Health {
    /// `ok`.
    status: &'static str,
    /// The version of the server.
    version: &'static str,
}

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let about = "Answers as long as the process lives; asks nothing else.";
    let ready = "Answers 503 while the database cannot be asked or the server is shutting down.";
    vec![
        Endpoint::get("/healthz", "get_health", Rule::Public, healthy)
            .about("health", "Whether the server lives", about)
            .gives::<Health>(200, "It does"),
        Endpoint::get("/readyz", "get_readiness", Rule::Public, ready_to_work)
            .about("health", "Whether the server can work", ready)
            .gives::<Health>(200, "It can")
            .refuses(&[503]),
    ]
}

async fn healthy() -> Json<Health> {
    Json(Health { status: "ok", version: env!("CARGO_PKG_VERSION") })
}

async fn ready_to_work(State(app): State<App>) -> Result<Json<Health>, Problem> {
    if app.stop().is_cancelled() {
        return Err(Problem::new(UNAVAILABLE, "the server is shutting down"));
    }
    match app.store().ping().await {
        Ok(()) => Ok(healthy().await),
        Err(error) => {
            let told = Problem::new(UNAVAILABLE, "the database cannot be asked");
            Err(Problem { reason: Some(error.to_string()), ..told })
        }
    }
}
