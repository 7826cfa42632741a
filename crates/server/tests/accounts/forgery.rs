//! Requests that another site has a browser send.

use fullbench_server::ServerConfig;
use fullbench_types::UserRole;
use serde_json::{Value, json};

use crate::backend::{Place, on_every_backend};
use crate::browser::{Browser, PASSWORD, person};
use crate::common::{TestServer, with_json};

on_every_backend!(changes_need_the_token_of_the_session, other_sites_are_refused);

fn new_dataset(name: &str) -> Value {
    json!({"name": name, "type": "EVALUATION"})
}

async fn changes_need_the_token_of_the_session(place: Place) {
    let server = TestServer::start(place).await;
    person(&server, "ann@example.com", UserRole::Owner).await;
    person(&server, "eve@example.com", UserRole::Owner).await;
    let mut ann = Browser::signed_in(&server, "ann@example.com").await;
    let eve = Browser::signed_in(&server, "eve@example.com").await;
    let right = ann.csrf.clone().unwrap();
    for wrong in [None, Some(String::new()), Some("0".repeat(64)), eve.csrf.clone()] {
        ann.csrf = wrong.clone();
        for (method, path) in
            [("POST", "/v1/datasets"), ("PATCH", "/v1/organization"), ("DELETE", "/v1/session")]
        {
            let refused = ann.send(method, path, Some(new_dataset("d"))).await;
            assert_eq!(refused.status, 403, "{method} {wrong:?}: {}", refused.body);
            assert_eq!(refused.body["code"], "forged_request");
        }
        assert_eq!(ann.get("/v1/datasets").await.status, 200, "reading needs none");
    }
    ann.csrf = Some(right);
    assert_eq!(ann.post("/v1/datasets", new_dataset("d")).await.status, 201);
}

async fn other_sites_are_refused(place: Place) {
    let public_url = Some("https://bench.example.com/app".parse().unwrap());
    let config = ServerConfig { public_url, ..ServerConfig::default() };
    let server = TestServer::start_with(place, config).await;
    person(&server, "ann@example.com", UserRole::Owner).await;
    let mut ann = Browser::signed_in(&server, "ann@example.com").await;
    let host = server.url.clone();
    for (number, (name, value, status)) in [
        ("origin", "https://evil.example", 403),
        ("origin", "null", 403),
        ("origin", "https://bench.example.com.evil.example", 403),
        ("sec-fetch-site", "cross-site", 403),
        ("sec-fetch-site", "same-origin", 201),
        ("origin", host.as_str(), 201),
        ("origin", "https://bench.example.com", 201),
    ]
    .into_iter()
    .enumerate()
    {
        let request = ann.request("POST", "/v1/datasets").header(name, value);
        let request = with_json(request, &new_dataset(&number.to_string()));
        let answer = ann.answer(request).await;
        assert_eq!(answer.status, status, "{name}: {value}: {}", answer.body);
        // Nor is a browser signed in by another site.
        let mut fresh = Browser::new(&server);
        let shown = json!({"email": "ann@example.com", "password": PASSWORD});
        let request = fresh.request("POST", "/v1/session").header(name, value);
        let answer = fresh.answer(with_json(request, &shown)).await;
        assert_eq!(answer.status, status, "{name}: {value}: {}", answer.body);
    }
}
