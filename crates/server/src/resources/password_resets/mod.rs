//! New passwords for people who forgot theirs. Whether somebody has an account is not told, neither by words nor by time.

use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use fullbench_store::{NewAuditEntry, UserRecord};
use fullbench_types::{AuditPhase, email_address};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::access::{Account, NewSecret, Rule, Tried, Try, Visitor, hash_of, hex, slug_of};
use crate::api::Endpoint;
use crate::app::App;
use crate::extract::Body;
use crate::mail::{Letter, link};
use crate::problem::{NOT_FOUND, Problem, RETRY_AFTER_SECONDS, UNAVAILABLE, internal};

/// What every token begins with.
const PREFIX: &str = "fbr_";
/// For how long a new password can be set.
const HOLDS: Duration = Duration::from_secs(3600);

/// Somebody who forgot their password.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Forgotten {
    #[schemars(length(min = 1, max = 254))]
    email: String,
    /// The slug of the organization; needed if you belong to several.
    #[serde(default)]
    organization: Option<String>,
}

/// A new password.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Completion {
    /// What was sent.
    #[schemars(length(min = 1, max = 200))]
    token: String,
    /// With what you are going to sign in.
    #[schemars(length(min = 10, max = 1024))]
    password: String,
}

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let sent = "Whoever has an account gets a link by mail that holds for an hour. The answer is the same for everybody.";
    let set = "The token can be used once. All your sessions end.";
    vec![
        Endpoint::post("/v1/password-resets", "forget_password", Rule::Public, forgotten)
            .about("session", "Forget your password", sent)
            .takes::<Forgotten>()
            .gives_nothing(202, "Mail is on its way, if there is such an account")
            .refuses(&[503]),
        Endpoint::post("/v1/password-resets/complete", "reset_password", Rule::Public, complete)
            .about("session", "Set a new password", set)
            .takes::<Completion>()
            .gives_nothing(204, "The password was set")
            .refuses(&[404, 503]),
    ]
}

async fn forgotten(
    State(app): State<App>,
    visitor: Visitor,
    Body(forgotten): Body<Forgotten>,
) -> Result<StatusCode, Problem> {
    let no_address = || Problem::field("email", "this is no mail address");
    let email = email_address(&forgotten.email).ok_or_else(no_address)?;
    let Ok(place) = app.resets().clone().try_acquire_owned() else {
        let problem = Problem::new(UNAVAILABLE, "too many ask for new passwords just now");
        return Err(problem.retry_after(RETRY_AFTER_SECONDS));
    };
    // Afterwards, so that the answer takes as long for everybody.
    let tasks = app.tasks().clone();
    tasks.spawn(async move {
        let _place = place;
        if let Err(problem) = send(&app, &email, forgotten.organization.as_deref(), &visitor).await
        {
            tracing::debug!(code = problem.kind.0, "no mail for a new password was sent");
        }
    });
    Ok(StatusCode::ACCEPTED)
}

async fn send(
    app: &App,
    email: &str,
    organization: Option<&str>,
    visitor: &Visitor,
) -> Result<(), Problem> {
    let Some(mailer) = app.mailer() else {
        tracing::debug!("somebody forgot their password, and the server sends no mail");
        return Ok(());
    };
    let slug = slug_of(app, organization).await?;
    let account = Account { organization: slug.as_deref().unwrap_or_default(), email };
    Try::begin(app, Tried::Reset, &account, visitor).await?;
    for credentials in app.store().credentials_of_email(email, slug.as_deref()).await? {
        let user = credentials.user;
        // Whom somebody else vouches for needs no password.
        if user.has_issuer && !user.has_password {
            continue;
        }
        let secret = NewSecret::new(PREFIX)?;
        let expires_at = Timestamp::now().checked_add(HOLDS).map_err(|error| internal(&error))?;
        let store = app.store().scoped(user.organization);
        let entry = reset_entry(&user, visitor, "forget_password", AuditPhase::Done);
        app.audit().note(&store, entry).await?;
        store.allow_password_reset(user.id, secret.kept.hash, expires_at).await?;
        let organization = store.organization_record().await?.name;
        if let Some(link) = link(app, "password", &secret.shown_once) {
            mailer.send(app, Letter::password(email, &organization, &link));
        }
    }
    Ok(())
}

/// What the audit log keeps of somebody who forgot their password.
fn reset_entry(
    user: &UserRecord,
    visitor: &Visitor,
    action: &str,
    phase: AuditPhase,
) -> NewAuditEntry {
    let actor = format!("user:{}", user.email);
    NewAuditEntry { target: Some(user.id.to_string()), ..visitor.entry(action, &actor, phase) }
}

async fn complete(
    State(app): State<App>,
    visitor: Visitor,
    Body(completion): Body<Completion>,
) -> Result<StatusCode, Problem> {
    let over = || {
        let problem = Problem::new(NOT_FOUND, "the token is not known, or holds no more");
        problem.hint("ask for a new one with POST /v1/password-resets")
    };
    let token = hex(&hash_of(&completion.token));
    let user = app.store().password_reset_of_hash(&token).await?.ok_or_else(over)?;
    let hash = app.passwords().hash(&completion.password, &user.email).await?;
    let store = app.store().scoped(user.organization);
    let entry = |phase| reset_entry(&user, &visitor, "reset_password", phase);
    app.audit().note(&store, entry(AuditPhase::Asked)).await?;
    if !store.complete_password_reset(user.id, &token, hash).await? {
        app.audit().note_later(store, entry(AuditPhase::Refused));
        return Err(over());
    }
    app.audit().note_later(store, entry(AuditPhase::Done));
    app.sessions().forget(|holder| holder.user.id == user.id);
    Ok(StatusCode::NO_CONTENT)
}
