//! Asking people to join.

mod view;

use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Json, Response};
use fullbench_store::{InvitationPace, NewAuditEntry, NewInvitation};
use fullbench_types::{Action, AuditPhase, UserRole, email_address};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use self::view::{CreatedInvitation, Invitation, Invitations};
use super::account::person_name;
use super::members::{Member, may_give};
use super::session::never_kept;
use crate::access::{Caller, NewSecret, Rule, Visitor, hash_of, hex};
use crate::api::Endpoint;
use crate::app::App;
use crate::audit::AuditNote;
use crate::extract::{Body, Kept, NewId, PathParts};
use crate::mail::{Letter, link};
use crate::problem::{CONFLICT, FORBIDDEN, NOT_FOUND, Problem, TOO_MANY, internal};

/// What every token begins with.
const PREFIX: &str = "fbi_";
/// How many may be made: each is a letter to somebody.
const PACE: InvitationPace =
    InvitationPace { within: Duration::from_secs(3600), to_one: 10, to_all: 200 };
/// For how long an invitation can be accepted.
const HOLDS: Duration = Duration::from_secs(7 * 86_400);

/// Somebody to be asked.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewInvitation")]
struct Wanted {
    /// Who is asked.
    #[schemars(length(min = 3, max = 254))]
    email: String,
    /// What they are going to be allowed; nobody gives away more than they may do themselves.
    role: UserRole,
}

/// Somebody who accepts.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Acceptance {
    /// What was sent.
    #[schemars(length(min = 1, max = 200))]
    token: String,
    /// Your name.
    #[schemars(length(min = 1, max = 255))]
    name: String,
    /// With what you are going to sign in.
    #[schemars(length(min = 10, max = 1024))]
    password: String,
}

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let asked = "They get a link by mail that holds for seven days. Where the server sends no mail, `token` and `link` are in this \
        answer and nowhere else, for you to pass on. Who is asked again can accept the newest invitation alone.";
    vec![
        Endpoint::post("/v1/invitations", "invite", Action::ChangeMembers, create)
            .about("members", "Ask somebody to join", asked)
            .takes::<Wanted>()
            .gives::<CreatedInvitation>(201, "The invitation"),
        Endpoint::get("/v1/invitations", "list_invitations", Action::ReadMembers, list)
            .about("members", "Who was asked to join", "The newest first.")
            .gives::<Invitations>(200, "The invitations"),
        Endpoint::delete(
            "/v1/invitations/{invitation_id}",
            "revoke_invitation",
            Action::ChangeMembers,
            revoke,
        )
        .about("members", "Take an invitation back", "It can no longer be accepted.")
        .gives::<Invitation>(200, "The invitation"),
        Endpoint::post("/v1/invitations/accept", "accept_invitation", Rule::Public, accept)
            .about("members", "Accept an invitation", "It can be accepted once.")
            .takes::<Acceptance>()
            .gives::<Member>(201, "You belong to the organization, and can sign in")
            .refuses(&[404, 503]),
    ]
}

async fn create(
    State(app): State<App>,
    caller: Caller,
    note: AuditNote,
    NewId(id): NewId,
    Body(wanted): Body<Wanted>,
) -> Result<Response, Problem> {
    let no_address = || Problem::field("email", "this is no mail address");
    let email = email_address(&wanted.email).ok_or_else(no_address)?;
    may_give(&caller, wanted.role)?;
    if caller.store.user_of_email(&email).await?.is_some() {
        return Err(Problem::new(
            CONFLICT,
            format!("`{email}` belongs to the organization already"),
        ));
    }
    let secret = NewSecret::new(PREFIX)?;
    let new = NewInvitation {
        id,
        email: email.clone(),
        role: wanted.role,
        token_hash: secret.kept.hash,
        created_by: Some(caller.name.clone()),
        expires_at: Timestamp::now().checked_add(HOLDS).map_err(|error| internal(&error))?,
    };
    let made = caller.store.invite(new, PACE).await?.ok_or_else(too_many)?;
    let link = link(&app, "invitation", &secret.shown_once);
    let is_mailed = match (app.mailer(), &link) {
        (Some(mailer), Some(link)) => {
            let organization = caller.store.organization_record().await?.name;
            mailer.send(&app, Letter::invitation(&email, &organization, link));
            true
        }
        _ => false,
    };
    let about = Invitation::from(made);
    note.after(&about);
    let kept = CreatedInvitation { about: about.clone(), is_mailed, token: None, link: None };
    let token = (!is_mailed).then_some(secret.shown_once);
    let created = CreatedInvitation { about, is_mailed, token, link: link.filter(|_| !is_mailed) };
    let mut response = (StatusCode::CREATED, Json(created)).into_response();
    never_kept(response.headers_mut());
    response.extensions_mut().insert(Kept(serde_json::to_string(&kept).unwrap_or_default()));
    Ok(response)
}

/// Nobody is written to again and again.
fn too_many() -> Problem {
    let detail = "too many invitations were sent within an hour";
    Problem::new(TOO_MANY, detail).hint("try again later").retry_after(3600)
}

async fn list(caller: Caller) -> Result<Json<Invitations>, Problem> {
    let invitations = caller.store.invitations().await?.into_iter().map(Invitation::from);
    Ok(Json(Invitations { invitations: invitations.collect() }))
}

async fn revoke(
    caller: Caller,
    note: AuditNote,
    PathParts(id): PathParts<Uuid>,
) -> Result<Json<Invitation>, Problem> {
    let invitation = caller.store.invitation(id).await?;
    if !caller.covers(invitation.role) {
        let detail =
            format!("it is for the role `{}`, which allows more than yours", invitation.role);
        return Err(Problem::new(FORBIDDEN, detail).hint("ask an owner of your organization"));
    }
    note.before(&Invitation::from(invitation));
    let revoked = Invitation::from(caller.store.revoke_invitation(id).await?);
    note.after(&revoked);
    Ok(Json(revoked))
}

async fn accept(
    State(app): State<App>,
    visitor: Visitor,
    Body(acceptance): Body<Acceptance>,
) -> Result<(StatusCode, Json<Member>), Problem> {
    let over = || {
        let problem = Problem::new(NOT_FOUND, "the invitation is not known, or holds no more");
        problem.hint("ask to be invited again")
    };
    let name = person_name(&acceptance.name)?;
    let found = app.store().invitation_of_hash(&hex(&hash_of(&acceptance.token))).await?;
    let invitation = found.filter(|found| found.is_open(Timestamp::now())).ok_or_else(over)?;
    let hash = app.passwords().hash(&acceptance.password, &invitation.email).await?;
    let store = app.store().scoped(invitation.organization);
    let actor = format!("user:{}", invitation.email);
    let entry = |phase, after| NewAuditEntry {
        target: Some(invitation.id.to_string()),
        after,
        ..visitor.entry("accept_invitation", &actor, phase)
    };
    app.audit().note(&store, entry(AuditPhase::Asked, None)).await?;
    let added = store.accept_invitation(invitation.id, name.to_owned(), Some(hash)).await;
    let added = added.map_err(|error| match Problem::from(error) {
        problem if problem.kind == NOT_FOUND => over(),
        problem => problem,
    })?;
    let member = Member::from(added);
    app.audit().note_later(store, entry(AuditPhase::Done, serde_json::to_value(&member).ok()));
    Ok((StatusCode::CREATED, Json(member)))
}
