//! Somebody on the other side who repeats all that they were sent: a channel of Slack, a collector of traces, and an issuer of
//! OpenID Connect that takes every code for none.

use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::support::receiver::{Received, receive};

/// Somebody who repeats all that they were sent.
pub(crate) struct Echo {
    pub(crate) url: String,
    got: Arc<Mutex<Vec<u8>>>,
}

impl Echo {
    pub(crate) fn start() -> Self {
        let got = Arc::<Mutex<Vec<u8>>>::default();
        let kept = got.clone();
        let url = receive(move |received| {
            let all = [received.head.as_bytes(), &received.body].concat();
            kept.lock().unwrap().extend_from_slice(&all);
            said(&received, &String::from_utf8_lossy(&all))
        });
        Self { url, got }
    }

    /// Heads and bodies of all that came.
    pub(crate) fn got(&self) -> Vec<u8> {
        self.got.lock().unwrap().clone()
    }
}

/// What is answered to whom these were sent.
fn said(received: &Received, all: &str) -> (u16, String) {
    let host = received.head.lines().find_map(|line| line.strip_prefix("host: "));
    let url = format!("http://{}", host.unwrap_or_default());
    match received.path() {
        "/.well-known/openid-configuration" => {
            let configuration = json!({
                "issuer": url,
                "authorization_endpoint": format!("{url}/authorize"),
                "token_endpoint": format!("{url}/token"),
                "jwks_uri": format!("{url}/keys"),
                "response_types_supported": ["code"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["RS256"],
            });
            (200, configuration.to_string())
        }
        "/keys" => (200, json!({"keys": []}).to_string()),
        _ => (400, json!({"error": "invalid_client", "error_description": all}).to_string()),
    }
}
