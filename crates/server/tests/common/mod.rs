//! A server for tests, on every backend of the store, with two organizations.
#![allow(dead_code, unused_imports, clippy::unwrap_used, clippy::expect_used)]

#[path = "../../../store/tests/backend/mod.rs"]
pub(crate) mod backend;
pub(crate) mod caller;
pub(crate) mod captured;
pub(crate) mod mail;
mod marks;
pub(crate) mod receiver;
pub(crate) mod totp;
pub(crate) mod version;
pub(crate) mod wire;

use std::time::Duration;

use backend::Place;
use fullbench_engine::SentRules;
use fullbench_server::{Server, ServerConfig, first_key};
use fullbench_store::{KeptSecret, NewApiKey, NewOrganization, ScopedStore, Store};
use fullbench_types::{OrganizationId, Plan, UserRole};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

pub(crate) use marks::{assert_unmarked, marked};

/// A running server and somebody who calls it.
pub(crate) struct TestServer {
    pub(crate) url: String,
    pub(crate) key: String,
    pub(crate) place: Place,
    pub(crate) store: Store,
    config: ServerConfig,
    stop: CancellationToken,
    serving: Option<tokio::task::JoinHandle<()>>,
    client: reqwest::Client,
}

impl TestServer {
    /// A server with nothing configured.
    pub(crate) async fn start(place: Place) -> Self {
        Self::start_with(place, ServerConfig::default()).await
    }

    /// A server whose evaluations may ask the models at this address.
    pub(crate) async fn start_with_models(place: Place, url: &str) -> Self {
        let rules = SentRules { addresses: vec![url.parse().unwrap()] };
        Self::start_with(place, ServerConfig { rules, ..ServerConfig::default() }).await
    }

    pub(crate) async fn start_with(place: Place, config: ServerConfig) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let store = place.open().await;
        let key = first_key(&store).await.unwrap().unwrap().key;
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let mut server = Self {
            url: String::new(),
            key,
            place,
            store,
            config,
            stop: CancellationToken::new(),
            serving: None,
            client,
        };
        server.serve().await;
        server
    }

    /// Stops the server as a signal would, and starts another on the same store.
    pub(crate) async fn restart(&mut self) {
        self.stop().await;
        self.serve().await;
    }

    /// Stops the server as a signal would.
    pub(crate) async fn stop(&mut self) {
        self.stop.cancel();
        if let Some(serving) = self.serving.take() {
            serving.await.unwrap();
        }
    }

    /// Has another server work on the same store until it is told to stop.
    pub(crate) async fn start_another(&self, stop: CancellationToken) {
        self.serve_until(stop).await;
    }

    async fn serve(&mut self) {
        self.stop = CancellationToken::new();
        let (url, serving) = self.serve_until(self.stop.clone()).await;
        (self.url, self.serving) = (url, Some(serving));
    }

    async fn serve_until(&self, stop: CancellationToken) -> (String, tokio::task::JoinHandle<()>) {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let store = self.place.open().await;
        let server = Server::start(store, self.config.clone()).await.unwrap();
        let serving = tokio::spawn(async move {
            server.serve(listener, async move { stop.cancelled().await }).await;
        });
        (url, serving)
    }

    /// A request with the key of the organization.
    pub(crate) fn request(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
        let request = self.client.request(method, format!("{}{path}", self.url));
        request.header("authorization", format!("Bearer {}", self.key))
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        answer(self.request("GET", path)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> (u16, Value) {
        answer(self.request("DELETE", path)).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        answer(with_json(self.request("POST", path), &body)).await
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> (u16, Value) {
        answer(with_json(self.request("PATCH", path), &body)).await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> (u16, Value) {
        answer(with_json(self.request("PUT", path), &body)).await
    }

    /// The same server, called with a key of another organization.
    pub(crate) async fn as_other_organization(&self) -> OtherCaller<'_> {
        let slug = Uuid::now_v7().to_string();
        let new = NewOrganization { name: "Other".to_owned(), slug, plan: Plan::Free };
        let organization = self.store.create_organization(new).await.unwrap().id;
        let key = new_key(&self.store, organization, UserRole::Owner).await;
        OtherCaller { server: self, organization, key }
    }

    /// Asks again until the answer is as it should be.
    pub(crate) async fn wait(&self, path: &str, is_right: impl Fn(&Value) -> bool) -> Value {
        wait_for(|| self.request("GET", path), is_right).await
    }
}

/// A key of an organization, which belongs to nobody.
pub(crate) async fn new_key(store: &Store, organization: OrganizationId, role: UserRole) -> String {
    key_of(&store.scoped(organization), None, role).await
}

/// A key of somebody, or of nobody in particular.
pub(crate) async fn key_of(store: &ScopedStore, user: Option<Uuid>, role: UserRole) -> String {
    let key = format!("fb_{}", Uuid::now_v7().simple());
    add_key(store, user, role, sha_256(&key)).await;
    key
}

/// A key of which this is kept.
pub(crate) async fn add_key(store: &ScopedStore, user: Option<Uuid>, role: UserRole, hash: String) {
    let new = NewApiKey {
        id: Uuid::now_v7(),
        name: "other".to_owned(),
        user,
        role,
        scopes: None,
        requests_per_minute: None,
        expires_at: None,
        created_by: None,
        secret: KeptSecret { prefix: "fb_other".to_owned(), hash },
    };
    store.add_api_key(new).await.unwrap();
}

/// What is kept of a secret.
pub(crate) fn sha_256(secret: &str) -> String {
    Sha256::digest(secret.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Somebody of another organization.
pub(crate) struct OtherCaller<'server> {
    server: &'server TestServer,
    pub(crate) organization: OrganizationId,
    pub(crate) key: String,
}

impl OtherCaller<'_> {
    pub(crate) async fn send(&self, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        let request = self.server.request(method, path);
        let request = match body {
            Some(body) => with_json(request, &body),
            None => request,
        };
        let mut request = request.build().unwrap();
        let key = format!("Bearer {}", self.key).parse().unwrap();
        request.headers_mut().insert("authorization", key);
        read(self.server.client.execute(request).await.unwrap()).await
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        self.send("GET", path, None).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        self.send("POST", path, Some(body)).await
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> (u16, Value) {
        self.send("PATCH", path, Some(body)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> (u16, Value) {
        self.send("DELETE", path, None).await
    }
}

/// The request with a JSON body.
pub(crate) fn with_json(request: reqwest::RequestBuilder, body: &Value) -> reqwest::RequestBuilder {
    request.header("content-type", "application/json").body(body.to_string())
}

/// Asks again until the answer is as it should be.
pub(crate) async fn wait_for(
    request: impl Fn() -> reqwest::RequestBuilder,
    is_right: impl Fn(&Value) -> bool,
) -> Value {
    let mut last = Value::Null;
    for _ in 0..600 {
        let (status, body) = answer(request()).await;
        assert_eq!(status, 200, "{body}");
        if is_right(&body) {
            return body;
        }
        last = body;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{:?} never came to what it should be: {last}", request());
}

/// Status and body; null where there is none.
pub(crate) async fn answer(request: reqwest::RequestBuilder) -> (u16, Value) {
    read(request.send().await.unwrap()).await
}

async fn read(response: reqwest::Response) -> (u16, Value) {
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::Null))
}
