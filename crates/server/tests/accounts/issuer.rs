//! An issuer that says whatever a test wants it to say.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Json;
use axum::routing::{get, post};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use openidconnect::core::{CoreEdDsaPrivateSigningKey, CoreJwsSigningAlgorithm};
use openidconnect::{JsonWebKeyId, PrivateSigningKey};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// What the issuer calls the server.
pub(crate) const CLIENT: &str = "fullbench";

/// An issuer on this machine.
#[derive(Clone)]
pub(crate) struct FakeIssuer {
    pub(crate) url: String,
    key: Arc<CoreEdDsaPrivateSigningKey>,
    /// The ID token and the challenge of each code that was not used yet.
    codes: Arc<Mutex<HashMap<String, (String, String)>>>,
}

impl FakeIssuer {
    pub(crate) async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = Self {
            url: format!("http://{}", listener.local_addr().unwrap()),
            key: Arc::new(new_key()),
            codes: Arc::default(),
        };
        let router = axum::Router::new()
            .route("/.well-known/openid-configuration", get(configuration))
            .route("/keys", get(keys))
            .route("/token", post(token))
            .with_state(issuer.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        issuer
    }

    /// What an ID token says that is all right.
    pub(crate) fn claims(&self, nonce: &str) -> Value {
        let now = jiff::Timestamp::now().as_second();
        json!({"iss": self.url, "aud": CLIENT, "sub": "subject-1", "nonce": nonce, "iat": now,
            "exp": now + 60, "email": "Ann@Example.com", "email_verified": true, "name": "Ann"})
    }

    /// A token signed with the issuer's key.
    pub(crate) fn signed(&self, claims: &Value) -> String {
        signed_by(&self.key, claims)
    }

    /// A code for which the issuer gives this token, to who answers this challenge.
    pub(crate) fn code(&self, token: String, challenge: &str) -> String {
        let code = uuid::Uuid::now_v7().to_string();
        self.codes.lock().unwrap().insert(code.clone(), (token, challenge.to_owned()));
        code
    }
}

/// A token signed with a key that the issuer does not know.
pub(crate) fn forged(claims: &Value) -> String {
    signed_by(&new_key(), claims)
}

/// A token that nobody signed.
pub(crate) fn unsigned(claims: &Value) -> String {
    format!("{}.", unsigned_part(&json!({"alg": "none"}), claims))
}

fn new_key() -> CoreEdDsaPrivateSigningKey {
    // PKCS #8 of an Ed25519 key (RFC 8410) is these bytes and the key.
    let mut der = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20".to_vec();
    let mut secret = [0; 32];
    getrandom::fill(&mut secret).unwrap();
    der.extend_from_slice(&secret);
    let label = "PRIVATE KEY";
    let pem = format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", STANDARD.encode(der));
    let id = Some(JsonWebKeyId::new("one".to_owned()));
    CoreEdDsaPrivateSigningKey::from_ed25519_pem(&pem, id).unwrap()
}

fn signed_by(key: &CoreEdDsaPrivateSigningKey, claims: &Value) -> String {
    let signed = unsigned_part(&json!({"alg": "EdDSA", "kid": "one", "typ": "JWT"}), claims);
    let signature = key.sign(&CoreJwsSigningAlgorithm::EdDsa, signed.as_bytes()).unwrap();
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

fn unsigned_part(header: &Value, claims: &Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}", part(header), part(claims))
}

async fn configuration(State(issuer): State<FakeIssuer>) -> Json<Value> {
    let url = &issuer.url;
    Json(json!({
        "issuer": url,
        "authorization_endpoint": format!("{url}/authorize"),
        "token_endpoint": format!("{url}/token"),
        "jwks_uri": format!("{url}/keys"),
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["EdDSA", "none"],
    }))
}

async fn keys(State(issuer): State<FakeIssuer>) -> Json<Value> {
    let key = serde_json::to_value(issuer.key.as_verification_key()).unwrap();
    Json(json!({"keys": [key]}))
}

async fn token(State(issuer): State<FakeIssuer>, body: String) -> (StatusCode, Json<Value>) {
    let form: HashMap<String, String> =
        form_urlencoded::parse(body.as_bytes()).into_owned().collect();
    let refused = (StatusCode::BAD_REQUEST, Json(json!({"error": "invalid_grant"})));
    let Some((token, challenge)) = issuer.codes.lock().unwrap().remove(&form["code"]) else {
        return refused;
    };
    let answered = URL_SAFE_NO_PAD.encode(Sha256::digest(form["code_verifier"].as_bytes()));
    if answered != challenge {
        return refused;
    }
    let answer = json!({"access_token": "a", "token_type": "Bearer", "id_token": token});
    (StatusCode::OK, Json(answer))
}
