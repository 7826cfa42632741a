//! The secrets that receivers check signatures with. They are made anew each time they are asked for, and kept nowhere.

use axum::response::Json;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::{TAG, Webhook, shown};
use fullbench_types::Action;

use crate::access::Caller;
use crate::api::Endpoint;
use crate::extract::{Etagged, PathParts};
use crate::problem::Problem;
use crate::secrets;

/// What a receiver checks signatures with.
#[derive(Serialize, JsonSchema)]
struct WebhookSecret {
    /// `whsec_` and the secret in Base64.
    secret: String,
}

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let changed = "The secret before signs as well for another 24 hours: `webhook-signature` then has two signatures.";
    vec![
        Endpoint::get(
            "/v1/webhooks/{webhook_id}/secret",
            "get_webhook_secret",
            Action::ChangeSecrets,
            get,
        )
        .about(TAG, "The secret of a webhook", "Whoever has it can check what comes from here.")
        .audited()
        .gives::<WebhookSecret>(200, "The secret"),
        Endpoint::post(
            "/v1/webhooks/{webhook_id}/rotate-secret",
            "rotate_webhook_secret",
            Action::ChangeSecrets,
            change,
        )
        .about(TAG, "Change the secret of a webhook", changed)
        .gives::<Webhook>(200, "The webhook; its new secret is at `…/secret`")
        .with_etag(),
        Endpoint::get(
            "/v1/organization/webhook-secret",
            "get_batch_webhook_secret",
            Action::ChangeSecrets,
            of_batches,
        )
        .about(
            TAG,
            "The secret of `webhook_url`",
            "What is sent to the `webhook_url` of a batch is signed with it.",
        )
        .audited()
        .gives::<WebhookSecret>(200, "The secret"),
    ]
}

async fn get(
    caller: Caller,
    PathParts(id): PathParts<Uuid>,
) -> Result<Json<WebhookSecret>, Problem> {
    let webhook = caller.store.webhook(id).await?;
    let secret =
        secrets::WebhookSecret::of_webhook(&caller.store, webhook.id, webhook.secret_number)
            .await?;
    Ok(Json(WebhookSecret { secret: secret.shown() }))
}

async fn change(
    caller: Caller,
    PathParts(id): PathParts<Uuid>,
) -> Result<Etagged<Webhook>, Problem> {
    Ok(shown(caller.store.change_webhook_secret(id).await?))
}

async fn of_batches(caller: Caller) -> Result<Json<WebhookSecret>, Problem> {
    let secret = secrets::WebhookSecret::of_batches(&caller.store).await?;
    Ok(Json(WebhookSecret { secret: secret.shown() }))
}
