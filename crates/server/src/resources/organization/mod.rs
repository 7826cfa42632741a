//! The caller's own organization.

mod change;
mod data;
mod usage;

use axum::extract::State;
use axum::response::Json;
use fullbench_store::{OrganizationRecord, OrganizationSettings};
use fullbench_types::{Action, Plan, ScrubKind};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use self::change::Change;
use crate::access::Caller;
use crate::api::Endpoint;
use crate::app::App;
use crate::audit::AuditNote;
use crate::extract::Body;
use crate::problem::Problem;

const TAG: &str = "organization";

/// An organization: it owns everything that is made with its keys.
#[derive(Serialize, JsonSchema)]
struct Organization {
    organization_id: Uuid,
    name: String,
    slug: String,
    /// What it pays for; who runs the server decides on it, and on what it allows.
    plan: Plan,
    settings: Settings,
    billing_email: Option<String>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

/// What an organization has decided for all its members.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "OrganizationSettings")]
struct Settings {
    /// Metrics of an evaluation that names none.
    default_evaluators: Vec<String>,
    /// What may be spent in a month.
    cost_budget_monthly_usd: Option<f64>,
    /// For how long results are kept.
    data_retention_days: Option<u32>,
    /// Requests that all keys and members together may make in a minute, where that is less than the server allows.
    requests_per_minute: Option<u32>,
    /// What is taken out of texts before they are kept: `email`, `phone`, `card`, `key`.
    scrub: Vec<ScrubKind>,
    /// Texts are sealed with the organization's own key before they are kept: deleting the key deletes them.
    encrypt_texts: bool,
}

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let mut endpoints = vec![
        Endpoint::get("/v1/organization", "get_organization", Action::ReadOrganization, get)
            .about(TAG, "Your organization", "")
            .gives::<Organization>(200, "The organization that the key belongs to"),
        Endpoint::patch(
            "/v1/organization",
            "change_organization",
            Action::ChangeOrganization,
            change,
        )
        .about(TAG, "Change your organization", "What is left out stays as it is.")
        .takes::<Change>()
        .gives::<Organization>(200, "The organization"),
    ];
    endpoints.extend(data::endpoints());
    endpoints.extend(usage::endpoints());
    endpoints
}

async fn get(caller: Caller) -> Result<Json<Organization>, Problem> {
    Ok(Json(caller.store.organization_record().await?.into()))
}

async fn change(
    State(app): State<App>,
    caller: Caller,
    note: AuditNote,
    Body(change): Body<Change>,
) -> Result<Json<Organization>, Problem> {
    note.before(&Organization::from(caller.store.organization_record().await?));
    let changed = caller.store.change_organization(change.checked()?).await?;
    app.keys().forget(|holder| holder.key.organization == changed.id);
    app.sessions().forget(|holder| holder.session.organization == changed.id);
    let changed = Organization::from(changed);
    note.after(&changed);
    Ok(Json(changed))
}

impl From<OrganizationRecord> for Organization {
    fn from(record: OrganizationRecord) -> Self {
        let OrganizationSettings {
            default_evaluators,
            cost_budget_monthly_usd,
            data_retention_days,
            requests_per_minute,
            scrub,
            encrypt_texts,
        } = record.settings;
        Self {
            organization_id: record.id.0,
            name: record.name,
            slug: record.slug,
            plan: record.plan,
            settings: Settings {
                default_evaluators,
                cost_budget_monthly_usd,
                data_retention_days,
                requests_per_minute,
                scrub,
                encrypt_texts,
            },
            billing_email: record.billing_email,
            created_at: record.created_at,
            updated_at: record.updated_at,
        }
    }
}
