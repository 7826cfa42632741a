//! What the organization has used of what it may.

use axum::extract::State;
use axum::response::Json;
use fullbench_store::Month;
use fullbench_types::{Action, NanoDollars};
use schemars::JsonSchema;
use serde::Serialize;

use super::TAG;
use crate::access::Caller;
use crate::api::Endpoint;
use crate::app::App;
use crate::problem::Problem;

/// What the organization has used of what it may.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "OrganizationUsage")]
struct Usage {
    /// Bytes of uploaded files.
    stored_bytes: Used,
    /// Runs that wait or are worked on.
    open_runs: Used,
    /// Results, planned ones too, and documents, as it was some seconds ago.
    records: Used,
    /// Dollars that were spent this month (UTC).
    month_usd: Spent,
}

/// A number, and how large it may be.
#[derive(Serialize, JsonSchema)]
struct Used {
    used: u64,
    /// Null where there is none.
    limit: Option<u64>,
}

/// Money, and how much it may be.
#[derive(Serialize, JsonSchema)]
struct Spent {
    used: f64,
    /// Null where there is none.
    limit: Option<f64>,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::get("/v1/organization/usage", "get_usage", Action::ReadOrganization, usage)
            .about(TAG, "What was used of what is allowed", "")
            .gives::<Usage>(200, "What was used"),
    ]
}

async fn usage(State(app): State<App>, caller: Caller) -> Result<Json<Usage>, Problem> {
    let (store, quotas) = (&caller.store, caller.quotas);
    let spent = store.spent_in(Month::now()).await?;
    let own = caller.settings.cost_budget_monthly_usd.map(NanoDollars::from_dollars);
    let month = own.into_iter().chain(quotas.month).min();
    Ok(Json(Usage {
        stored_bytes: Used { used: store.stored_bytes().await?, limit: quotas.stored_bytes },
        open_runs: Used { used: store.open_runs().await?, limit: quotas.open_runs },
        records: Used { used: app.records().used(store).await?, limit: quotas.records },
        month_usd: Spent { used: spent.dollars(), limit: month.map(NanoDollars::dollars) },
    }))
}
