//! Bearer keys: shown once, kept as hashes, made for a role and perhaps some of its actions, renewed, revoked for good.

mod new;
mod view;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Json, Response};
use fullbench_store::ApiKeyRecord;
use fullbench_types::Action;
use uuid::Uuid;

use self::new::{Renewal, Wanted, refuse_limited};
use self::view::{ApiKey, ApiKeys, CreatedApiKey};
use crate::access::{Caller, Credential, KEY_PREFIX, NewSecret};
use crate::api::Endpoint;
use crate::app::App;
use crate::audit::AuditNote;
use crate::extract::{Body, Kept, NewId, PathParts};
use crate::problem::{FORBIDDEN, NOT_FOUND, Problem};

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let shown = "The key itself is in this answer and nowhere else: only its hash is kept. It may do what its role allows, less \
        where `scopes` name some actions only, and never more than whoever made it. It belongs to them, and ends with them, \
        unless it is one for a `service`.";
    let seen = "The newest first: one's own, and those of all with `members:write`.";
    let renewed = "A new key that may do the same; the old one goes on for `grace_seconds`, so that whoever uses it has time to \
        change.";
    vec![
        Endpoint::post("/v1/api-keys", "create_api_key", Action::ChangeKeys, create)
            .about("API keys", "Make a key", shown)
            .takes::<Wanted>()
            .gives::<CreatedApiKey>(201, "The key"),
        Endpoint::get("/v1/api-keys", "list_api_keys", Action::ReadKeys, list)
            .about("API keys", "Keys of the organization", seen)
            .gives::<ApiKeys>(200, "The keys, without the keys themselves"),
        Endpoint::post(
            "/v1/api-keys/{api_key_id}/renew",
            "renew_api_key",
            Action::ChangeKeys,
            renew,
        )
        .about("API keys", "Renew a key", renewed)
        .takes::<Renewal>()
        .gives::<CreatedApiKey>(201, "The new key"),
        Endpoint::delete("/v1/api-keys/{api_key_id}", "revoke_api_key", Action::ChangeKeys, revoke)
            .about("API keys", "Revoke a key", "It opens nothing from now on.")
            .gives::<ApiKey>(200, "The revoked key"),
    ]
}

async fn create(
    caller: Caller,
    note: AuditNote,
    NewId(id): NewId,
    Body(wanted): Body<Wanted>,
) -> Result<Response, Problem> {
    let secret = NewSecret::new(KEY_PREFIX)?;
    let new = wanted.checked(&caller, id, secret.kept)?;
    let made = caller.store.add_api_key(new).await?;
    note.after(&ApiKey::from(made.clone()));
    Ok(created(made, secret.shown_once))
}

async fn list(caller: Caller) -> Result<Json<ApiKeys>, Problem> {
    let keys = caller.store.api_keys().await?.into_iter();
    let api_keys = keys.filter(|key| is_seen(&caller, key)).map(ApiKey::from).collect();
    Ok(Json(ApiKeys { api_keys }))
}

async fn renew(
    State(app): State<App>,
    caller: Caller,
    note: AuditNote,
    NewId(successor): NewId,
    PathParts(id): PathParts<Uuid>,
    Body(renewal): Body<Renewal>,
) -> Result<Response, Problem> {
    let grace = renewal.checked()?;
    let key = seen(&caller, id).await?;
    refuse_more(&caller, &key)?;
    refuse_longer(&caller, &key)?;
    note.before(&ApiKey::from(key));
    let secret = NewSecret::new(KEY_PREFIX)?;
    let made = caller.store.renew_api_key(id, successor, secret.kept, grace).await?;
    app.keys().forget_key(id);
    note.after(&ApiKey::from(made.clone()));
    Ok(created(made, secret.shown_once))
}

async fn revoke(
    State(app): State<App>,
    caller: Caller,
    note: AuditNote,
    PathParts(id): PathParts<Uuid>,
) -> Result<Json<ApiKey>, Problem> {
    let key = seen(&caller, id).await?;
    if !is_own(&caller, &key) {
        refuse_more(&caller, &key)?;
    }
    note.before(&ApiKey::from(key));
    let revoked = ApiKey::from(caller.store.revoke_api_key(id).await?);
    app.keys().forget_key(id);
    note.after(&revoked);
    Ok(Json(revoked))
}

/// Whether a key is the caller's, or the one they call with.
fn is_own(caller: &Caller, key: &ApiKeyRecord) -> bool {
    let is_theirs = key.user.is_some() && key.user == caller.user;
    is_theirs || caller.credential == Credential::Key(key.id)
}

/// Whether a key is shown to somebody.
fn is_seen(caller: &Caller, key: &ApiKeyRecord) -> bool {
    is_own(caller, key) || caller.may(Action::ChangeMembers)
}

/// A key that is shown to the caller.
async fn seen(caller: &Caller, id: Uuid) -> Result<ApiKeyRecord, Problem> {
    let key = caller.store.api_key(id).await?;
    match is_seen(caller, &key) {
        true => Ok(key),
        false => Err(Problem::new(NOT_FOUND, format!("there is no API key `{id}`"))),
    }
}

/// Refuses a key that allows more than the caller may do: nobody reaches more through a key of somebody else.
fn refuse_more(caller: &Caller, key: &ApiKeyRecord) -> Result<(), Problem> {
    let allows = |action: Action| {
        let is_scope = key.scopes.as_ref().is_none_or(|scopes| scopes.contains(&action));
        key.role.allows(action) && is_scope
    };
    match Action::ALL.iter().find(|action| allows(**action) && !caller.may(**action)) {
        Some(more) => {
            let detail = format!("the key allows `{more}`, which you may not do yourself");
            Err(Problem::new(FORBIDDEN, detail).hint("ask an owner of your organization"))
        }
        None => Ok(()),
    }
}

/// Refuses to renew a key that lasts longer than the one that the caller has.
fn refuse_longer(caller: &Caller, key: &ApiKeyRecord) -> Result<(), Problem> {
    refuse_limited(caller)?;
    let Some(own) = caller.expires_at else { return Ok(()) };
    match key.expires_at {
        Some(end) if end <= own => Ok(()),
        _ => {
            let problem = Problem::new(FORBIDDEN, "the key lasts longer than the one you have");
            Err(problem.hint("renew it with itself, or with a session"))
        }
    }
}

/// The answer with a key, which is not kept for repeated requests.
fn created(record: ApiKeyRecord, key: String) -> Response {
    let about = ApiKey::from(record);
    let kept = CreatedApiKey { about: about.clone(), key: None };
    let kept = Kept(serde_json::to_string(&kept).unwrap_or_default());
    let created = CreatedApiKey { about, key: Some(key) };
    let mut response = (StatusCode::CREATED, Json(created)).into_response();
    response.extensions_mut().insert(kept);
    response
}
