//! Keys of providers that an organization brings itself: kept sealed, and never given back.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Json;
use fullbench_llm::Provider;
use fullbench_store::{NewProviderKey, ProviderKeyRecord};
use fullbench_types::Action;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::access::Caller;
use crate::api::Endpoint;
use crate::app::App;
use crate::audit::AuditNote;
use crate::extract::{Body, PathParts, Query};
use crate::problem::{NOT_FOUND, Problem};

const TAG: &str = "provider keys";
/// Letters that a key may have.
const LONGEST: usize = 4096;

/// A key to be kept.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewProviderKey")]
struct Wanted {
    /// The key, as the provider gave it.
    #[schemars(length(min = 8, max = 4096))]
    key: String,
    /// The address that it is for, where that is not the provider's own; one that the server may reach.
    #[serde(default)]
    base_url: Option<String>,
}

/// The address of a key.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Address {
    /// The address that the key is for, where that is not the provider's own.
    #[serde(default)]
    base_url: Option<String>,
}

/// A key of a provider, without the key.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ProviderKey")]
struct Shown {
    provider: Provider,
    /// The address that it is sent to; null for the provider's own.
    base_url: Option<String>,
    /// Its last letters; null for a short one.
    last_four: Option<String>,
    created_at: Timestamp,
    /// When a call was last made with it, to the minute.
    last_used_at: Option<Timestamp>,
    /// Who kept it.
    created_by: Option<String>,
}

/// All keys of the organization.
#[derive(Serialize, JsonSchema)]
struct ProviderKeys {
    /// By provider and address.
    provider_keys: Vec<Shown>,
}

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let one = "/v1/provider-keys/{provider}";
    let kept = "What the organization asks this provider for is asked with it from now on, in place of the server's own key. It is \
        kept sealed and never shown again. A key that was there for the same address is replaced.";
    vec![
        Endpoint::put(one, "set_provider_key", Action::ChangeSecrets, put)
            .about(TAG, "Keep a key of a provider", kept)
            .takes::<Wanted>()
            .gives::<Shown>(200, "What is shown of the key"),
        Endpoint::get("/v1/provider-keys", "list_provider_keys", Action::ReadSecrets, list)
            .about(TAG, "All keys of providers", "Without the keys themselves.")
            .gives::<ProviderKeys>(200, "The keys"),
        Endpoint::delete(one, "remove_provider_key", Action::ChangeSecrets, remove)
            .about(
                TAG,
                "Remove a key of a provider",
                "Calls are made with the server's own key again, if it has one.",
            )
            .query::<Address>()
            .gives_nothing(204, "It is removed"),
    ]
}

async fn put(
    State(app): State<App>,
    caller: Caller,
    note: AuditNote,
    PathParts(provider): PathParts<String>,
    Body(wanted): Body<Wanted>,
) -> Result<Json<Shown>, Problem> {
    let provider = served(&provider)?;
    let Wanted { key, base_url } = wanted;
    let key = Zeroizing::new(key);
    let key = Zeroizing::new(key.trim().to_owned());
    if !(8..=LONGEST).contains(&key.len()) {
        return Err(Problem::field("key", format!("a key has 8 to {LONGEST} letters")));
    }
    if !key.bytes().all(|letter| letter.is_ascii_graphic()) {
        return Err(Problem::field("key", "a key has letters, digits and signs, and no spaces"));
    }
    let is_elsewhere =
        |url: &&String| Some(url.trim_end_matches('/')) != provider.default_base_url();
    if let Some(url) = base_url.as_ref().filter(is_elsewhere)
        && !app.config().rules.allows(url)
    {
        let problem = Problem::field("base_url", "the server may not reach this address");
        return Err(problem.hint("who runs the server can allow it with `--allow-model-url`"));
    }
    if let Some(before) = caller.store.provider_key(provider, base_url.as_deref()).await? {
        note.before(&Shown::from(before));
    }
    let new = NewProviderKey { provider, base_url, key, created_by: Some(caller.name) };
    let kept = Shown::from(caller.store.keep_provider_key(new).await?);
    note.after(&kept);
    Ok(Json(kept))
}

async fn list(caller: Caller) -> Result<Json<ProviderKeys>, Problem> {
    let keys = caller.store.provider_keys().await?;
    Ok(Json(ProviderKeys { provider_keys: keys.into_iter().map(Shown::from).collect() }))
}

async fn remove(
    caller: Caller,
    note: AuditNote,
    PathParts(provider): PathParts<String>,
    Query(address): Query<Address>,
) -> Result<StatusCode, Problem> {
    let provider = served(&provider)?;
    let base_url = address.base_url.as_deref();
    if let Some(before) = caller.store.provider_key(provider, base_url).await? {
        note.before(&Shown::from(before));
    }
    caller.store.remove_provider_key(provider, base_url).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A provider that is called over a network.
fn served(word: &str) -> Result<Provider, Problem> {
    let served = Provider::ALL.into_iter().filter(|one| one.default_base_url().is_some());
    let names: Vec<&str> = served.clone().map(Provider::as_str).collect();
    served.clone().find(|provider| provider.as_str() == word).ok_or_else(|| {
        Problem::new(NOT_FOUND, format!("no provider `{word}` is called over a network"))
            .hint(format!("the providers are {}", names.join(", ")))
    })
}

impl From<ProviderKeyRecord> for Shown {
    fn from(record: ProviderKeyRecord) -> Self {
        Self {
            provider: record.provider,
            base_url: record.base_url,
            last_four: record.last_four,
            created_at: record.created_at,
            last_used_at: record.last_used_at,
            created_by: record.created_by,
        }
    }
}
