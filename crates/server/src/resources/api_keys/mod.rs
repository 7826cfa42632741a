//! Bearer keys: shown once, kept as hashes, revoked for good.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Json, Response};
use fullbench_store::{ApiKeyRecord, NewApiKey};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::api::Endpoint;
use crate::app::App;
use crate::extract::{Body, Caller, Kept, NewId, PathParts, new_secret};
use crate::problem::Problem;

/// A key to be made.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewApiKey")]
struct Wanted {
    /// What the key is for.
    #[schemars(length(min = 1, max = 255))]
    name: String,
}

/// A bearer key, without the key.
#[derive(Clone, Serialize, JsonSchema)]
struct ApiKey {
    api_key_id: Uuid,
    /// What the key is for.
    name: String,
    /// The first letters of the key.
    prefix: String,
    created_at: Timestamp,
    /// When it was last seen, to the minute.
    last_used_at: Option<Timestamp>,
    /// Since when it opens nothing.
    revoked_at: Option<Timestamp>,
}

/// A new key: the only time that it is shown.
#[derive(Serialize, JsonSchema)]
struct CreatedApiKey {
    #[serde(flatten)]
    about: ApiKey,
    /// The key itself; null when the request is repeated, since it is kept nowhere.
    key: Option<String>,
}

/// All keys of the organization.
#[derive(Serialize, JsonSchema)]
struct ApiKeys {
    api_keys: Vec<ApiKey>,
}

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let shown = "The key itself is in this answer and nowhere else: only its hash is kept.";
    vec![
        Endpoint::post("/v1/api-keys", "create_api_key", create)
            .about("API keys", "Make a key", shown)
            .takes::<Wanted>()
            .gives::<CreatedApiKey>(201, "The key"),
        Endpoint::get("/v1/api-keys", "list_api_keys", list)
            .about("API keys", "All keys of the organization", "The newest first.")
            .gives::<ApiKeys>(200, "The keys, without the keys themselves"),
        Endpoint::delete("/v1/api-keys/{api_key_id}", "revoke_api_key", revoke)
            .about("API keys", "Revoke a key", "It opens nothing from now on.")
            .gives::<ApiKey>(200, "The revoked key"),
    ]
}

async fn create(
    caller: Caller,
    NewId(id): NewId,
    Body(wanted): Body<Wanted>,
) -> Result<Response, Problem> {
    if wanted.name.trim().is_empty() || wanted.name.chars().count() > 255 {
        return Err(Problem::field("name", "a name has 1 to 255 letters"));
    }
    let (secret, prefix, hash) = new_secret()?;
    let new = NewApiKey { id, name: wanted.name, user: None, prefix, hash };
    let about = ApiKey::from(caller.store.add_api_key(new).await?);
    let kept = CreatedApiKey { about: about.clone(), key: None };
    let kept = Kept(serde_json::to_string(&kept).unwrap_or_default());
    let created = CreatedApiKey { about, key: Some(secret) };
    let mut response = (StatusCode::CREATED, Json(created)).into_response();
    response.extensions_mut().insert(kept);
    Ok(response)
}

async fn list(caller: Caller) -> Result<Json<ApiKeys>, Problem> {
    let keys = caller.store.api_keys().await?;
    Ok(Json(ApiKeys { api_keys: keys.into_iter().map(ApiKey::from).collect() }))
}

async fn revoke(
    State(app): State<App>,
    caller: Caller,
    PathParts(id): PathParts<Uuid>,
) -> Result<Json<ApiKey>, Problem> {
    let revoked = caller.store.revoke_api_key(id).await?;
    app.keys().forget(id);
    Ok(Json(revoked.into()))
}

impl From<ApiKeyRecord> for ApiKey {
    fn from(record: ApiKeyRecord) -> Self {
        Self {
            api_key_id: record.id,
            name: record.name,
            prefix: record.prefix,
            created_at: record.created_at,
            last_used_at: record.last_used_at,
            revoked_at: record.revoked_at,
        }
    }
}
