//! The audit log of the organization: read, exported, verified.

mod export;
mod view;

use axum::extract::State;
use axum::response::Json;
use fullbench_store::{AuditFilter, AuditHash};
use fullbench_types::Action;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;

use self::view::{AuditLog, AuditVerification, Entry};
use crate::access::Caller;
use crate::api::Endpoint;
use crate::app::App;
use crate::extract::{Query, page, usual_limit};
use crate::problem::Problem;

const TAG: &str = "audit log";

/// Which entries to give.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListQuery {
    /// How many to give.
    #[serde(default = "usual_limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: u64,
    /// Those after this place: `next_cursor` of the page before.
    #[serde(default)]
    cursor: Option<u64>,
    /// At this time or later.
    #[serde(default)]
    since: Option<Timestamp>,
    /// Before this time.
    #[serde(default)]
    until: Option<Timestamp>,
    /// By this one, as entries name them.
    #[serde(default)]
    actor: Option<String>,
    /// Of this operation.
    #[serde(default)]
    action: Option<String>,
    /// About this.
    #[serde(default)]
    target: Option<String>,
}

/// What is known of the log from before.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct VerifyQuery {
    /// The hash of an entry that was there: it is told if no entry has it any more.
    #[serde(default)]
    expect: Option<String>,
}

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let listed = "The newest first. Every request that changes something has two entries, one before it is carried out and one \
        after; refused requests, exports and reads of secrets have theirs too.";
    let exported = "Lines of JSON: all entries in order, then the end of the chain. `fullbench audit verify --file` checks it \
        without the server.";
    let verified = "Reads all entries again and names those that were changed, removed, inserted or cut off. Keep `hash` \
        elsewhere, and give it as `expect` later: then not even who runs the server can change what was before it unseen.";
    vec![
        Endpoint::get("/v1/audit-log", "list_audit_entries", Action::ReadAudit, list)
            .about(TAG, "Who did what", listed)
            .query::<ListQuery>()
            .gives::<AuditLog>(200, "A page of entries"),
        Endpoint::get(
            "/v1/audit-log/export",
            "export_audit_log",
            Action::ReadAudit,
            export::export,
        )
        .about(TAG, "Take the audit log along", exported)
        .audited()
        .gives_as(200, "application/jsonl", "The entries, and the end of the chain"),
        Endpoint::get("/v1/audit-log/verify", "verify_audit_log", Action::ReadAudit, verify)
            .about(TAG, "Verify the audit log", verified)
            .query::<VerifyQuery>()
            .gives::<AuditVerification>(200, "What was found"),
    ]
}

async fn list(caller: Caller, Query(query): Query<ListQuery>) -> Result<Json<AuditLog>, Problem> {
    let limit = page(query.limit, 0)?.limit;
    let filter = AuditFilter {
        since: query.since,
        until: query.until,
        actor: query.actor,
        action: query.action,
        target: query.target,
        before_number: query.cursor,
    };
    let entries = caller.store.audit_entries(&filter, limit).await?;
    let is_full = entries.len() as u64 == limit;
    let next_cursor = entries.last().filter(|_| is_full).map(|entry| entry.number);
    Ok(Json(AuditLog { entries: entries.into_iter().map(Entry::from).collect(), next_cursor }))
}

async fn verify(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<VerifyQuery>,
) -> Result<Json<AuditVerification>, Problem> {
    let expected = query.expect.map(|hash| hash.parse::<AuditHash>()).transpose();
    let expected = expected.map_err(|problem| Problem::field("expect", problem))?;
    let key = app.audit().key().await?;
    let report = caller.store.verify_audit(Some(&key), expected).await?;
    Ok(Json(report.into()))
}
