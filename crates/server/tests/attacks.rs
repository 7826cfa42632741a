//! Attacks that concern no resource in particular: secrets that are guessed or read, streams that outlive what opened them,
//! addresses inside of the network, compressed bodies, headers made of names.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::time::Duration;

use common::backend::{self, Place, on_every_backend};
use common::caller::{Caller, PASSWORD, person};
use common::version::version;
use common::{TestServer, add_key, answer, assert_unmarked, sha_256, with_json};
use fullbench_store::{InvitationPace, NewInvitation, NewSession};
use fullbench_types::{DEFAULT_ORGANIZATION, UserRole};
use jiff::Timestamp;
use serde_json::json;
use uuid::Uuid;

on_every_backend!(
    a_key_is_right_to_the_last_letter_or_opens_nothing,
    a_stream_ends_with_what_opened_it,
    a_secret_is_looked_for_by_its_hash_alone,
    no_secret_that_is_given_out_is_kept,
    models_inside_of_the_network_are_out_of_reach,
    bodies_are_never_decompressed,
    a_name_does_not_become_a_header,
);

async fn a_key_is_right_to_the_last_letter_or_opens_nothing(place: Place) {
    let server = TestServer::start(place).await;
    let key = &server.key;
    let last = if key.ends_with('0') { "1" } else { "0" };
    let guesses = [
        format!("{}{last}", &key[..key.len() - 1]),
        key[..key.len() - 1].to_owned(),
        format!("{key}0"),
        key.to_uppercase(),
        key[..10].to_owned(),
        "fb_".to_owned(),
        "fb_%".to_owned(),
        "' OR 1=1 --".to_owned(),
    ];
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    for guess in guesses {
        let request = client.get(format!("{}/v1/datasets", server.url)).bearer_auth(&guess);
        let (status, problem) = answer(request).await;
        assert_eq!((status, &problem["code"]), (401, &json!("unauthorized")), "{guess}");
        let repeats = guess.len() > 10 && problem.to_string().contains(&guess);
        assert!(!repeats, "what was tried is not repeated: {problem}");
    }
    assert_eq!(server.get("/v1/datasets").await.0, 200);
}

async fn a_stream_ends_with_what_opened_it(place: Place) {
    let server = TestServer::start(place).await;
    let (_, made) = server.post("/v1/api-keys", json!({"name": "reader", "role": "viewer"})).await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let open = client.get(format!("{}/v1/events", server.url));
    let mut stream = open.bearer_auth(made["key"].as_str().unwrap()).send().await.unwrap();
    assert!(stream.chunk().await.unwrap().is_some(), "it begins");
    let path = format!("/v1/api-keys/{}", made["api_key_id"].as_str().unwrap());
    assert_eq!(server.delete(&path).await.0, 200);
    // Something happens that would be told.
    let run = json!({"input": "a", "output": "a", "metrics": ["exact_match"]});
    assert_eq!(server.post("/v1/evaluations", run).await.0, 201);
    let rest = tokio::time::timeout(Duration::from_secs(30), async {
        let mut rest = Vec::new();
        while let Some(piece) = stream.chunk().await.unwrap() {
            rest.extend_from_slice(&piece);
        }
        String::from_utf8(rest).unwrap()
    });
    let rest = rest.await.expect("the stream ends");
    assert!(!rest.contains("event:"), "nothing is told any more: {rest}");
}

/// Whatever opens something is found by its SHA-256: neither what is kept is a secret, nor is a secret what is kept.
async fn a_secret_is_looked_for_by_its_hash_alone(place: Place) {
    let server = TestServer::start(place).await;
    let ann = person(&server.store, DEFAULT_ORGANIZATION, "ann@example.com", UserRole::Owner).await;
    for kind in ["key", "session", "invitation", "password reset"] {
        let opener = Opener { server: &server, user: ann.id, kind };
        let known = opener.secret();
        opener.keep(sha_256(&known)).await;
        assert!(!opener.opens(&sha_256(&known)).await, "what is kept of a {kind} is none");
        let plain = opener.secret();
        opener.keep(plain.clone()).await;
        assert!(!opener.opens(&plain).await, "a {kind} is not compared itself");
        let last = if known.ends_with('0') { "1" } else { "0" };
        let alike = format!("{}{last}", &known[..known.len() - 1]);
        assert!(!opener.opens(&alike).await, "a {kind} that is right but for its last letter");
        assert!(opener.opens(&known).await, "a {kind} is found by its hash");
    }
}

/// Something that opens something, with a secret of our own.
struct Opener<'server> {
    server: &'server TestServer,
    user: Uuid,
    kind: &'static str,
}

impl Opener<'_> {
    fn secret(&self) -> String {
        let prefix = if self.kind == "session" { "fbs_" } else { "fb_" };
        format!("{prefix}{}{}", Uuid::now_v7().simple(), Uuid::now_v7().simple())
    }

    async fn keep(&self, kept: String) {
        let store = self.server.store.scoped(DEFAULT_ORGANIZATION);
        let (id, expires_at) = (Uuid::now_v7(), Timestamp::now() + Duration::from_secs(3600));
        match self.kind {
            "key" => add_key(&store, None, UserRole::Viewer, kept).await,
            "session" => {
                let (user, token_hash) = (self.user, kept);
                let (from_address, user_agent) = (None, None);
                let password_set_at = store.user(user).await.unwrap().password_set_at;
                let new = NewSession {
                    id,
                    user,
                    password_set_at,
                    token_hash,
                    from_address,
                    user_agent,
                    expires_at,
                };
                store.start_session(new).await.unwrap().unwrap();
            }
            "invitation" => {
                let (email, role) = (format!("{id}@example.com"), UserRole::Viewer);
                let (token_hash, created_by) = (kept, None);
                let new = NewInvitation { id, email, role, token_hash, created_by, expires_at };
                let within = Duration::from_secs(3600);
                let pace = InvitationPace { within, to_one: u64::MAX, to_all: u64::MAX };
                store.invite(new, pace).await.unwrap().unwrap();
            }
            _ => store.allow_password_reset(self.user, kept, expires_at).await.unwrap(),
        }
    }

    /// Whether something opens that is none of the other answers.
    async fn opens(&self, secret: &str) -> bool {
        let nobody = Caller::nobody(self.server);
        let request = match self.kind {
            "key" => nobody.request("GET", "/v1/organization").bearer_auth(secret),
            "session" => {
                nobody.request("GET", "/v1/session").header("cookie", format!("fullbench={secret}"))
            }
            "invitation" => {
                let body = json!({"token": secret, "name": "Bob", "password": PASSWORD});
                with_json(nobody.request("POST", "/v1/invitations/accept"), &body)
            }
            _ => {
                let body = json!({"token": secret, "password": PASSWORD});
                with_json(nobody.request("POST", "/v1/password-resets/complete"), &body)
            }
        };
        let (status, answer) = answer(request).await;
        assert!(matches!(status, 200..=204 | 401 | 404), "{status} {answer}");
        status < 400
    }
}

async fn no_secret_that_is_given_out_is_kept(place: Place) {
    let server = TestServer::start(place).await;
    person(&server.store, DEFAULT_ORGANIZATION, "ann@example.com", UserRole::Owner).await;
    let (_, key) = server.post("/v1/api-keys", json!({"name": "key"})).await;
    let invited = json!({"email": "bob@example.com", "role": "viewer"});
    let (_, invitation) = server.post("/v1/invitations", invited).await;
    let ann = Caller::signed_in(&server, "ann@example.com", "default").await;
    let (status, session) = ann.get("/v1/session").await;
    assert_eq!(status, 200, "{session}");
    let request = ann.request("GET", "/v1/session").build().unwrap();
    let cookie = request.headers()["cookie"].to_str().unwrap();
    for secret in [
        key["key"].as_str().unwrap(),
        invitation["token"].as_str().unwrap(),
        cookie.strip_prefix("fullbench=").unwrap(),
        session["csrf_token"].as_str().unwrap(),
    ] {
        assert!(secret.len() >= 64, "{secret}");
        // Its first letters are kept, to tell it from others, and not what comes after them.
        assert_unmarked(&server, &secret[10..26]).await;
    }
}

async fn models_inside_of_the_network_are_out_of_reach(place: Place) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = TestServer::start(place).await;
    let store = server.store.scoped(DEFAULT_ORGANIZATION);
    let version = version(&store, [json!({"input": "a?", "reference": "a"})].into_iter()).await;
    for url in [
        format!("http://127.0.0.1:{port}/v1"),
        format!("http://localhost:{port}/v1"),
        format!("http://2130706433:{port}/v1"),
        format!("http://0x7f.1:{port}/v1"),
        format!("http://[::1]:{port}/v1"),
        format!("http://[::ffff:127.0.0.1]:{port}/v1"),
        "http://169.254.169.254/latest/meta-data".to_owned(),
        "http://10.0.0.1/v1".to_owned(),
        // A name that leads to an address inside is an address that nobody allowed, wherever it leads later.
        format!("http://127.0.0.1.nip.io:{port}/v1"),
        "file:///etc/passwd".to_owned(),
    ] {
        let model = json!({"provider": "openai", "model": "m", "base_url": url});
        let batch = json!({"name": "ssrf", "dataset_version_id": version, "models": [model],
            "prompt": "{{ input }}", "metrics": ["exact_match"]});
        let (status, problem) = server.post("/v1/evaluations/batch", batch).await;
        assert_eq!(status, 422, "{url}: {problem}");
        assert!(problem.to_string().contains("base_url"), "{url}: {problem}");
    }
    // A provider whose own address is on the machine of the server.
    for (models, metrics) in [
        (json!(["ollama:llama3.2"]), json!(["exact_match"])),
        (
            json!([]),
            json!([{"type": "binary", "criterion": "coherence", "model": "ollama:llama3.2"}]),
        ),
        (json!([]), json!([{"type": "semantic_similarity", "model": "ollama:embedder"}])),
    ] {
        let batch = json!({"name": "ssrf", "dataset_version_id": version, "models": models,
            "prompt": "{{ input }}", "metrics": metrics});
        let (status, problem) = server.post("/v1/evaluations/batch", batch).await;
        assert_eq!(status, 422, "{problem}");
        assert!(problem.to_string().contains("may not reach"), "{problem}");
    }
    let single = json!({"input": "a", "output": "a", "metrics": ["coherence"],
        "config": {"evaluator_model": "ollama:llama3.2"}});
    let (status, problem) = server.post("/v1/evaluations", single).await;
    assert_eq!(status, 422, "{problem}");
    assert!(problem.to_string().contains("may not reach"), "{problem}");
    let called = tokio::time::timeout(Duration::from_millis(200), listener.accept()).await;
    assert!(called.is_err(), "nobody called");
}

async fn bodies_are_never_decompressed(place: Place) {
    let server = TestServer::start(place).await;
    // Ten megabytes of nothing, in a few bytes; were they read, the limit on bodies would be none.
    for encoding in ["gzip", "deflate", "br", "zstd"] {
        let request = server
            .request("POST", "/v1/datasets")
            .header("content-encoding", encoding)
            .header("content-type", "application/json")
            .body(r#"{"name": "d", "type": "EVALUATION"}"#);
        let (status, problem) = answer(request).await;
        assert_eq!(status, 415, "{encoding}: {problem}");
    }
}

async fn a_name_does_not_become_a_header(place: Place) {
    let server = TestServer::start(place).await;
    let name = "d\"; filename=\"evil.sh\r\nX-Evil: 1";
    let (status, made) =
        server.post("/v1/datasets", json!({"name": name, "type": "EVALUATION"})).await;
    assert_eq!(status, 201, "{made}");
    let id = made["dataset_id"].as_str().unwrap();
    let boundary = "b";
    let form = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; \
         filename=\"../../../../tmp/evil.jsonl\"\r\n\r\n{{\"input\": \"a\"}}\n\r\n--{boundary}--\r\n"
    );
    let request = server
        .request("POST", &format!("/v1/datasets/{id}/versions"))
        .header("content-type", format!("multipart/form-data; boundary={boundary}"))
        .body(form);
    let (status, version) = answer(request).await;
    assert_eq!(status, 202, "{version}");
    let uri = version["file_uri"].as_str().unwrap();
    assert!(uri.contains(id) && !uri.contains("evil") && !uri.contains(".."), "{uri}");
    let path = format!("/v1/datasets/{id}/versions/1");
    server.wait(&path, |version| version["validation_status"] == "VALID").await;
    let response = server.request("GET", &format!("{path}/download")).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert!(!response.headers().contains_key("x-evil"));
    let disposition = response.headers().get("content-disposition");
    let disposition = disposition.map(|value| value.to_str().unwrap()).unwrap_or_default();
    assert!(!disposition.contains("filename=\"evil.sh"), "{disposition}");
}
