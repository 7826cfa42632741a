//! Somebody who is sent events, and answers as told.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::Value;
use sha2::Sha256;

/// What a receiver got.
#[derive(Debug, Clone)]
pub(crate) struct Got {
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// Somebody who receives events, and answers as told: with 200 once that is used up.
#[derive(Clone, Default)]
pub(crate) struct Receiver {
    got: Arc<Mutex<Vec<Got>>>,
    answers: Arc<Mutex<Vec<u16>>>,
}

impl Receiver {
    pub(crate) async fn start(answers: &[u16]) -> (Self, String) {
        let receiver = Self::default();
        *receiver.answers.lock().unwrap() = answers.iter().rev().copied().collect();
        let routes = axum::Router::new().fallback(receive).with_state(receiver.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        (receiver, format!("http://127.0.0.1:{port}/hook"))
    }

    pub(crate) fn got(&self) -> Vec<Got> {
        self.got.lock().unwrap().clone()
    }

    /// Waits until so many came.
    pub(crate) async fn wait(&self, count: usize) -> Vec<Got> {
        for _ in 0..600 {
            if self.got().len() >= count {
                return self.got();
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("only {} of {count} came", self.got().len());
    }
}

async fn receive(
    State(receiver): State<Receiver>,
    headers: HeaderMap,
    body: Bytes,
) -> impl IntoResponse {
    receiver.got.lock().unwrap().push(Got { headers, body: body.to_vec() });
    let status = receiver.answers.lock().unwrap().pop().unwrap_or(200);
    let status = StatusCode::from_u16(status).unwrap();
    (status, [(header::LOCATION, "http://127.0.0.1:1/elsewhere")])
}

impl Got {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// Whether one of the signatures is by this secret.
    pub(crate) fn is_signed_by(&self, secret: &str) -> bool {
        let secret = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
        let mut code = Hmac::<Sha256>::new_from_slice(&secret).unwrap();
        code.update(self.header("webhook-id").as_bytes());
        code.update(b".");
        code.update(self.header("webhook-timestamp").as_bytes());
        code.update(b".");
        code.update(&self.body);
        let expected = format!("v1,{}", STANDARD.encode(code.finalize().into_bytes()));
        self.header("webhook-signature").split(' ').any(|signature| signature == expected)
    }
}
