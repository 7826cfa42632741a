//! Who belongs to the organization, and what they may do.

mod view;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Json;
use fullbench_store::{MemberChange, UserRecord};
use fullbench_types::{Action, UserRole};
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

pub(crate) use self::view::{Member, Members};
use crate::access::Caller;
use crate::api::Endpoint;
use crate::app::App;
use crate::audit::AuditNote;
use crate::extract::{Body, PathParts};
use crate::problem::{FORBIDDEN, Problem};

/// What is to be different about somebody.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MemberChange")]
struct Change {
    /// What they may do; nobody gives away more than they may do themselves.
    #[serde(default)]
    role: Option<UserRole>,
    /// Whether they may do anything. Who may not is signed out everywhere, and their keys open nothing.
    #[serde(default)]
    disabled: Option<bool>,
}

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let changed =
        "Nobody changes somebody who may do more than they, and there is always an owner left.";
    vec![
        Endpoint::get("/v1/members", "list_members", Action::ReadMembers, list)
            .about("members", "Who belongs to the organization", "By mail address.")
            .gives::<Members>(200, "The members"),
        Endpoint::patch("/v1/members/{user_id}", "change_member", Action::ChangeMembers, change)
            .about("members", "Change what somebody may do", changed)
            .takes::<Change>()
            .gives::<Member>(200, "The member")
            .refuses(&[412]),
        Endpoint::delete("/v1/members/{user_id}", "remove_member", Action::ChangeMembers, remove)
            .about("members", "Let somebody go", "Their sessions end, and their keys are revoked.")
            .gives_nothing(204, "They belong to the organization no more")
            .refuses(&[409, 412]),
    ]
}

async fn list(caller: Caller) -> Result<Json<Members>, Problem> {
    let members = caller.store.users().await?.into_iter().map(Member::from).collect();
    Ok(Json(Members { members }))
}

async fn change(
    State(app): State<App>,
    caller: Caller,
    note: AuditNote,
    PathParts(id): PathParts<Uuid>,
    Body(change): Body<Change>,
) -> Result<Json<Member>, Problem> {
    let member = changeable(&caller, id).await?;
    note.before(&Member::from(member.clone()));
    if let Some(role) = change.role {
        may_give(&caller, role)?;
    }
    let Change { role, disabled } = change;
    let changed = caller.store.change_member(&member, MemberChange { role, disabled }).await?;
    forget(&app, id);
    let changed = Member::from(changed);
    note.after(&changed);
    Ok(Json(changed))
}

async fn remove(
    State(app): State<App>,
    caller: Caller,
    note: AuditNote,
    PathParts(id): PathParts<Uuid>,
) -> Result<StatusCode, Problem> {
    let member = changeable(&caller, id).await?;
    note.before(&Member::from(member.clone()));
    caller.store.remove_member(&member).await?;
    forget(&app, id);
    Ok(StatusCode::NO_CONTENT)
}

/// Refuses to give away a role that allows more than the caller may do.
pub(super) fn may_give(caller: &Caller, role: UserRole) -> Result<(), Problem> {
    if caller.covers(role) {
        return Ok(());
    }
    let detail = format!("the role `{role}` allows more than you may do yourself");
    Err(Problem::new(FORBIDDEN, detail).hint("ask an owner of your organization"))
}

/// Somebody whom the caller may change.
async fn changeable(caller: &Caller, id: Uuid) -> Result<UserRecord, Problem> {
    let member = caller.store.user(id).await?;
    if !caller.covers(member.role) {
        let detail = format!("they have the role `{}`, which allows more than yours", member.role);
        return Err(Problem::new(FORBIDDEN, detail).hint("ask an owner of your organization"));
    }
    Ok(member)
}

/// What is remembered of somebody's rights holds no more.
fn forget(app: &App, user: Uuid) {
    app.sessions().forget(|holder| holder.user.id == user);
    app.keys().forget(|holder| holder.key.user == Some(user));
}
