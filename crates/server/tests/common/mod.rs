//! A server for scenario tests: on a port of its own, with two organizations that know nothing of each other.
//!
//! A test file begins with
//! ```text
//! #[path = "../../store/tests/backend/mod.rs"]
//! mod backend;
//! mod common;
//! ```
//! and names its scenarios in `backend::on_every_backend!`.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used)]

use std::net::SocketAddr;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use fullbench_server::{Server, ServerConfig, first_key};
use fullbench_store::{NewApiKey, NewOrganization, Store};
use fullbench_types::{OrganizationId, Plan};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::backend::Place;

/// A server that runs, seen by the owner of the first organization.
pub(crate) struct TestServer {
    client: Client,
    other_key: String,
    stop: Option<oneshot::Sender<()>>,
    serving: Option<JoinHandle<()>>,
    pub(crate) place: Arc<Place>,
}

/// Somebody with a key.
#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    address: SocketAddr,
    key: String,
}

impl TestServer {
    /// Starts a server with a store at this place.
    pub(crate) async fn start(place: Place) -> Self {
        Self::start_with(place, ServerConfig::default()).await
    }

    pub(crate) async fn start_with(place: Place, config: ServerConfig) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let store = place.open().await;
        let key = first_key(&store).await.unwrap_or_else(|_| panic!("no key")).unwrap().key;
        let new = NewOrganization { name: "Other".into(), slug: "other".into(), plan: Plan::Free };
        let other = store.create_organization(new).await.unwrap().id;
        let other_key = add_key(&store, other).await;
        let (address, stop, serving) = serve(store, config).await;
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let client = Client { http, address, key };
        let (stop, serving) = (Some(stop), Some(serving));
        Self { client, other_key, stop, serving, place: Arc::new(place) }
    }

    /// Shuts the server down, and starts another one on what it left.
    pub(crate) async fn restart(&mut self, config: ServerConfig) {
        self.stop().await;
        let (address, stop, serving) = serve(self.place.open().await, config).await;
        self.client.address = address;
        (self.stop, self.serving) = (Some(stop), Some(serving));
    }

    /// Shuts the server down.
    pub(crate) async fn stop(&mut self) {
        if let (Some(stop), Some(serving)) = (self.stop.take(), self.serving.take()) {
            let _ = stop.send(());
            serving.await.unwrap();
        }
    }

    /// The same server, seen by a member of another organization.
    pub(crate) fn as_other_organization(&self) -> Client {
        Client { key: self.other_key.clone(), ..self.client.clone() }
    }
}

impl Deref for TestServer {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

async fn serve(
    store: Store,
    config: ServerConfig,
) -> (SocketAddr, oneshot::Sender<()>, JoinHandle<()>) {
    let server = Server::start(store.clone(), config).await.unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let serving = tokio::spawn(async move {
        let stopped = async move {
            let _ = stopped.await;
        };
        server.serve(listener, stopped).await.unwrap();
        store.close().await.unwrap();
    });
    (address, stop, serving)
}

/// A key of an organization.
async fn add_key(store: &Store, organization: OrganizationId) -> String {
    let key = format!("fb_{}", Uuid::now_v7().simple());
    let hash = sha256(key.as_bytes());
    let new = NewApiKey {
        id: Uuid::now_v7(),
        name: "key of a test".to_owned(),
        user: None,
        prefix: key[..10].to_owned(),
        hash,
    };
    store.scoped(organization).add_api_key(new).await.unwrap();
    key
}

/// SHA-256 in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Client {
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// A request with the key.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, self.url(path)).bearer_auth(&self.key)
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        answer(self.request(Method::GET, path)).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        answer(with_json(self.request(Method::POST, path), &body)).await
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> (u16, Value) {
        answer(with_json(self.request(Method::PATCH, path), &body)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> (u16, Value) {
        answer(self.request(Method::DELETE, path)).await
    }

    /// Asks until the answer is as it should be.
    pub(crate) async fn get_until(&self, path: &str, done: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..1200 {
            let (status, value) = self.get(path).await;
            assert_eq!(status, 200, "{value}");
            if done(&value) {
                return value;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!("{path} never came to be as it should");
    }
}

/// A request with a JSON body.
pub(crate) fn with_json(request: RequestBuilder, body: &Value) -> RequestBuilder {
    request.header("content-type", "application/json").body(body.to_string())
}

/// Sends a request; an answer without a body is null.
pub(crate) async fn answer(request: RequestBuilder) -> (u16, Value) {
    read(request.send().await.unwrap()).await
}

pub(crate) async fn read(response: Response) -> (u16, Value) {
    let status = response.status().as_u16();
    let bytes = response.bytes().await.unwrap();
    let value = match bytes.is_empty() {
        true => Value::Null,
        false => serde_json::from_slice(&bytes).unwrap_or_else(|error| {
            panic!("{error}: {}", String::from_utf8_lossy(&bytes));
        }),
    };
    (status, value)
}
