//! API keys: what they are for, when they end, how often they may be used, and that none of them reaches more than its maker.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::time::Duration;

use common::TestServer;
use common::backend::{self, Place, on_every_backend};
use serde_json::{Value, json};

on_every_backend!(a_key_is_for_its_scopes_and_until_its_end);
on_every_backend!(a_renewed_key_goes_on_for_its_grace);
on_every_backend!(nobody_reaches_more_through_a_key);
on_every_backend!(a_key_makes_none_that_lasts_longer_or_is_used_more);
on_every_backend!(a_key_is_used_as_often_as_it_may);
on_every_backend!(a_repeated_request_is_answered_to_who_made_it);

/// A request with a key, and its answer with the headers.
async fn call(
    server: &TestServer,
    key: &str,
    method: &str,
    path: &str,
    body: Option<Value>,
) -> (u16, Value, reqwest::header::HeaderMap) {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let request =
        client.request(method.parse().unwrap(), format!("{}{path}", server.url)).bearer_auth(key);
    let request = match body {
        Some(body) => common::with_json(request, &body),
        None => request,
    };
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let text = response.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::Null), headers)
}

async fn status(server: &TestServer, key: &str, path: &str) -> u16 {
    call(server, key, "GET", path, None).await.0
}

/// A new key, made by whoever has this one: the key itself, and its id.
async fn made(server: &TestServer, maker: &str, wanted: Value) -> (String, String) {
    let (status, made, _) = call(server, maker, "POST", "/v1/api-keys", Some(wanted)).await;
    assert_eq!(status, 201, "{made}");
    let text = |name: &str| made[name].as_str().unwrap().to_owned();
    (text("key"), text("api_key_id"))
}

async fn a_key_is_for_its_scopes_and_until_its_end(place: Place) {
    let server = TestServer::start(place).await;
    let wanted = json!({"name": "reads", "role": "viewer", "scopes": ["datasets:read"]});
    let (key, _) = made(&server, &server.key, wanted).await;
    assert_eq!(status(&server, &key, "/v1/datasets").await, 200);
    let (refused, problem, _) = call(&server, &key, "GET", "/v1/evaluations", None).await;
    assert_eq!((refused, &problem["code"]), (403, &json!("forbidden")), "{problem}");
    let end = jiff::Timestamp::now() + Duration::from_secs(4);
    let wanted = json!({"name": "short", "role": "viewer", "expires_at": end.to_string()});
    let (key, _) = made(&server, &server.key, wanted).await;
    assert_eq!(status(&server, &key, "/v1/datasets").await, 200);
    let left = end.duration_since(jiff::Timestamp::now()).unsigned_abs();
    tokio::time::sleep(left + Duration::from_millis(50)).await;
    assert_eq!(status(&server, &key, "/v1/datasets").await, 401, "it is past its end");
}

async fn a_renewed_key_goes_on_for_its_grace(place: Place) {
    let server = TestServer::start(place).await;
    let (old, id) = made(&server, &server.key, json!({"name": "ci"})).await;
    let path = format!("/v1/api-keys/{id}/renew");
    let (renewed, new, _) =
        call(&server, &server.key, "POST", &path, Some(json!({"grace_seconds": 60}))).await;
    assert_eq!((renewed, &new["role"]), (201, &json!("engineer")), "{new}");
    let key = new["key"].as_str().unwrap();
    assert_eq!(status(&server, &old, "/v1/datasets").await, 200, "there is time to change");
    assert_eq!(status(&server, key, "/v1/datasets").await, 200);
    let path = format!("/v1/api-keys/{}/renew", new["api_key_id"].as_str().unwrap());
    let at_once = Some(json!({"grace_seconds": 0}));
    assert_eq!(call(&server, &server.key, "POST", &path, at_once.clone()).await.0, 201);
    assert_eq!(status(&server, key, "/v1/datasets").await, 401, "without a grace it ends at once");
    assert_eq!(call(&server, &server.key, "POST", &path, at_once).await.0, 409, "it is over");
}

async fn nobody_reaches_more_through_a_key(place: Place) {
    let server = TestServer::start(place).await;
    let (admin, admin_id) =
        made(&server, &server.key, json!({"name": "admin", "role": "admin"})).await;
    let (engineer, _) = made(&server, &server.key, json!({"name": "engineer"})).await;
    for (maker, role) in [(&admin, "owner"), (&engineer, "admin")] {
        let wanted = json!({"name": "more", "role": role});
        let (refused, problem, _) =
            call(&server, maker, "POST", "/v1/api-keys", Some(wanted)).await;
        assert_eq!(refused, 403, "{problem}");
    }
    let path = format!("/v1/api-keys/{admin_id}/renew");
    let renewed = call(&server, &engineer, "POST", &path, Some(json!({}))).await;
    assert_eq!(renewed.0, 403, "{}", renewed.1);
    // One's own key may allow more than the one that is at hand, and can be given up all the same.
    let path = format!("/v1/api-keys/{admin_id}");
    assert_eq!(call(&server, &engineer, "DELETE", &path, None).await.0, 200);
    assert_eq!(status(&server, &admin, "/v1/datasets").await, 401);
}

async fn a_key_makes_none_that_lasts_longer_or_is_used_more(place: Place) {
    let server = TestServer::start(place).await;
    let end = (jiff::Timestamp::now() + Duration::from_secs(3600)).to_string();
    let (short, short_id) =
        made(&server, &server.key, json!({"name": "short", "expires_at": end})).await;
    let (status, child, _) =
        call(&server, &short, "POST", "/v1/api-keys", Some(json!({"name": "child"}))).await;
    assert_eq!(status, 201, "{child}");
    let ends = |text: &Value| text.as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    let difference = ends(&child["expires_at"]).duration_since(end.parse().unwrap());
    assert!(difference.as_millis().abs() <= 1, "{child}");
    let later = (jiff::Timestamp::now() + Duration::from_secs(7200)).to_string();
    let more = json!({"name": "more", "expires_at": later});
    let (refused, problem, _) = call(&server, &short, "POST", "/v1/api-keys", Some(more)).await;
    assert_eq!((refused, &problem["errors"][0]["field"]), (422, &json!("expires_at")), "{problem}");
    let (_, lasting) = made(&server, &server.key, json!({"name": "lasting"})).await;
    for (id, expected) in [(lasting, 403), (short_id, 201)] {
        let path = format!("/v1/api-keys/{id}/renew");
        let (renewed, problem, _) = call(&server, &short, "POST", &path, Some(json!({}))).await;
        assert_eq!(renewed, expected, "it renews nothing that lasts longer: {problem}");
    }
    // Each key is counted by itself, so that with more keys more would come through.
    let slow = json!({"name": "slow", "requests_per_minute": 50});
    let (slow, slow_id) = made(&server, &server.key, slow).await;
    for path in ["/v1/api-keys".to_owned(), format!("/v1/api-keys/{slow_id}/renew")] {
        let body = if path.ends_with("renew") { json!({}) } else { json!({"name": "child"}) };
        let (refused, problem, _) = call(&server, &slow, "POST", &path, Some(body)).await;
        assert_eq!(refused, 403, "{problem}");
    }
    let wanted = json!({"name": "service", "service": true});
    let (service, _) = made(&server, &server.key, wanted).await;
    let (refused, problem, _) =
        call(&server, &service, "POST", "/v1/api-keys", Some(json!({"name": "child"}))).await;
    assert_eq!(refused, 403, "a key of nobody makes none that outlives it: {problem}");
    let odd = Some(json!({"name": "a\u{0}b\nc"}));
    assert_eq!(call(&server, &server.key, "POST", "/v1/api-keys", odd).await.0, 422);
}

async fn a_key_is_used_as_often_as_it_may(place: Place) {
    let server = TestServer::start(place).await;
    let wanted = json!({"name": "slow", "role": "viewer", "requests_per_minute": 2});
    let (key, _) = made(&server, &server.key, wanted).await;
    for left in [1, 0] {
        let (status, _, headers) = call(&server, &key, "GET", "/v1/datasets", None).await;
        let told = headers["ratelimit"].to_str().unwrap();
        assert!(status == 200 && told.starts_with(&format!("\"key\";r={left};")), "{told}");
    }
    let (status, problem, headers) = call(&server, &key, "GET", "/v1/datasets", None).await;
    assert_eq!((status, &problem["code"]), (429, &json!("too_many_requests")), "{problem}");
    let wait: u64 = headers["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=31).contains(&wait), "{wait}");
    assert_eq!(server.get("/v1/datasets").await.0, 200, "other keys go on");
}

async fn a_repeated_request_is_answered_to_who_made_it(place: Place) {
    let server = TestServer::start(place).await;
    let (engineer, _) = made(&server, &server.key, json!({"name": "engineer"})).await;
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let send = async |key: &str| {
        let request = client
            .post(format!("{}/v1/api-keys", server.url))
            .bearer_auth(key)
            .header("idempotency-key", "same");
        common::answer(common::with_json(request, &json!({"name": "i", "role": "owner"}))).await
    };
    assert_eq!(send(&server.key).await.0, 201);
    let (again, repeated) = send(&server.key).await;
    assert_eq!((again, &repeated["key"]), (201, &Value::Null), "{repeated}");
    let (refused, problem) = send(&engineer).await;
    assert_eq!((refused, &problem["code"]), (422, &json!("idempotency_key_reused")), "{problem}");
}
