//! Secrets that sign webhooks: made from the key of their organization whenever they are needed, so that none of them is kept.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fullbench_store::{Purpose, ScopedStore, StoreError};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use uuid::Uuid;

/// A secret that a receiver has too.
pub(crate) struct WebhookSecret(Vec<u8>);

impl WebhookSecret {
    /// The secret that signs what is sent to a webhook; each change of the secret has its number.
    pub(crate) async fn of_webhook(
        store: &ScopedStore,
        webhook: Uuid,
        number: u32,
    ) -> Result<Self, StoreError> {
        let parts: [&[u8]; 3] = [b"webhook", webhook.as_bytes(), &number.to_be_bytes()];
        Ok(Self(store.derived(Purpose::Webhook, &parts).await?.to_vec()))
    }

    /// The secret that signs what is sent to an address that a batch named.
    pub(crate) async fn of_batches(store: &ScopedStore) -> Result<Self, StoreError> {
        Ok(Self(store.derived(Purpose::Webhook, &[b"batch"]).await?.to_vec()))
    }

    /// As it is shown to the receiver.
    pub(crate) fn shown(&self) -> String {
        format!("whsec_{}", STANDARD.encode(&self.0))
    }

    /// The signature of a message, as Standard Webhooks writes it.
    pub(crate) fn signature(&self, id: &str, timestamp: i64, body: &[u8]) -> String {
        let mut signed = format!("{id}.{timestamp}.").into_bytes();
        signed.extend_from_slice(body);
        format!("v1,{}", STANDARD.encode(authenticate(&self.0, &signed)))
    }
}

/// HMAC-SHA-256 (RFC 2104).
pub(crate) fn authenticate(key: &[u8], message: &[u8]) -> [u8; 32] {
    let Ok(mut code) = Hmac::<Sha256>::new_from_slice(key) else {
        unreachable!("HMAC takes keys of every length")
    };
    code.update(message);
    code.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use fullbench_store::Store;
    use fullbench_types::DEFAULT_ORGANIZATION;

    use super::*;

    #[test]
    fn signatures_are_those_of_the_standard() {
        let secret = STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let body = br#"{"test": 2432232314}"#;
        assert_eq!(
            WebhookSecret(secret).signature("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        );
    }

    #[tokio::test]
    async fn every_webhook_and_every_change_has_its_own_secret() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path()).await.unwrap().scoped(DEFAULT_ORGANIZATION);
        let (one, other) = (Uuid::now_v7(), Uuid::now_v7());
        let shown = async |webhook, number| {
            WebhookSecret::of_webhook(&store, webhook, number).await.unwrap().shown()
        };
        let secret = shown(one, 1).await;
        assert_eq!(secret, shown(one, 1).await);
        assert_ne!(secret, shown(one, 2).await);
        assert_ne!(secret, shown(other, 1).await);
        assert_ne!(secret, WebhookSecret::of_batches(&store).await.unwrap().shown());
    }
}
