//! Sessions begin anew at every sign-in, and end.

use std::time::Duration;

use fullbench_server::ServerConfig;
use fullbench_types::UserRole;
use serde_json::json;

use crate::backend::{Place, on_every_backend};
use crate::browser::{Browser, PASSWORD, person};
use crate::common::TestServer;

on_every_backend!(
    signing_in_opens_the_organization_until_signing_out,
    every_sign_in_has_a_cookie_of_its_own,
    a_session_ends_by_itself,
    sessions_are_seen_and_ended_elsewhere,
    with_tls_the_cookie_is_for_this_host_alone,
    a_key_counts_more_than_a_cookie_and_has_no_account,
);

async fn signing_in_opens_the_organization_until_signing_out(place: Place) {
    let server = TestServer::start(place).await;
    person(&server, "ann@example.com", UserRole::Viewer).await;
    let mut ann = Browser::new(&server);
    assert_eq!(ann.get("/v1/session").await.status, 401);
    let signed_in = ann.sign_in(" Ann@Example.com", PASSWORD).await;
    assert_eq!(signed_in.status, 201, "{}", signed_in.body);
    assert_eq!(signed_in.header("cache-control"), Some("no-store"));
    let cookie = signed_in.header("set-cookie").unwrap();
    for part in ["fullbench=fbs_", "HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=2592000"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains("Domain") && !cookie.contains("Secure"), "{cookie}");
    let session = ann.get("/v1/session").await;
    assert_eq!(session.body["user"]["email"], "ann@example.com");
    assert_eq!(session.body["user"]["role"], "viewer");
    assert_eq!(session.body["organization"]["slug"], "default");
    assert_eq!(session.body["csrf_token"], signed_in.body["csrf_token"]);
    let actions = session.body["actions"].as_array().unwrap();
    assert!(actions.contains(&json!("runs:read")) && !actions.contains(&json!("runs:start")));
    assert_eq!(ann.get("/v1/organization").await.status, 200);
    let refused = ann.post("/v1/datasets", json!({"name": "d", "type": "EVALUATION"})).await;
    assert_eq!(refused.status, 403, "{}", refused.body);
    let cookie = ann.cookie.clone();
    assert_eq!(ann.send("DELETE", "/v1/session", None).await.status, 204);
    assert_eq!(ann.cookie, None, "the browser forgets it");
    ann.cookie = cookie;
    assert_eq!(ann.get("/v1/session").await.status, 401, "and so does the server");
}

async fn every_sign_in_has_a_cookie_of_its_own(place: Place) {
    let server = TestServer::start(place).await;
    person(&server, "ann@example.com", UserRole::Viewer).await;
    let mut ann = Browser::new(&server);
    let planted = format!("fullbench=fbs_{}", "0".repeat(64));
    ann.cookie = Some(planted.clone());
    assert_eq!(ann.sign_in("ann@example.com", PASSWORD).await.status, 201);
    let first = ann.cookie.clone().unwrap();
    assert_ne!(first, planted, "a cookie that somebody else planted is not taken");
    assert_eq!(ann.sign_in("ann@example.com", PASSWORD).await.status, 201);
    assert_ne!(ann.cookie.clone().unwrap(), first);
    ann.cookie = Some(first.clone());
    assert_eq!(ann.get("/v1/session").await.status, 401, "the session before is over");
    let token = first.strip_prefix("fullbench=").unwrap();
    let kept = server.store.session_of_hash(token).await.unwrap();
    assert!(kept.is_none(), "only the hash is kept");
}

async fn a_session_ends_by_itself(place: Place) {
    let config = ServerConfig {
        session_idle_end: Duration::from_secs(3600),
        session_end: Duration::from_secs(86_400),
        ..ServerConfig::default()
    };
    let server = TestServer::start_with(place, config).await;
    person(&server, "ann@example.com", UserRole::Viewer).await;
    for (change, status) in [
        ("last_seen_at = last_seen_at - 3500000", 200),
        ("last_seen_at = last_seen_at - 3600001", 401),
        ("expires_at = expires_at - 86000000", 200),
        ("expires_at = expires_at - 86400001", 401),
    ] {
        let mut ann = Browser::signed_in(&server, "ann@example.com").await;
        server.place.execute(&format!("UPDATE sessions SET {change}")).await.unwrap();
        assert_eq!(ann.get("/v1/session").await.status, status, "{change}");
        // An end is one, however often somebody asks.
        assert_eq!(ann.get("/v1/session").await.status, status, "{change}");
        server.place.execute("DELETE FROM sessions").await.unwrap();
    }
}

async fn sessions_are_seen_and_ended_elsewhere(place: Place) {
    let server = TestServer::start(place).await;
    person(&server, "ann@example.com", UserRole::Viewer).await;
    person(&server, "bob@example.com", UserRole::Owner).await;
    let mut laptop = Browser::signed_in(&server, "ann@example.com").await;
    let mut phone = Browser::signed_in(&server, "ann@example.com").await;
    let mut bob = Browser::signed_in(&server, "bob@example.com").await;
    assert_eq!(phone.get("/v1/session").await.status, 200);
    let seen = laptop.get("/v1/account/sessions").await.body;
    let seen = seen["sessions"].as_array().unwrap();
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert_eq!(seen[0]["from_address"], "127.0.0.1");
    let other = seen.iter().find(|session| session["is_current"] == false).unwrap();
    let path = format!("/v1/account/sessions/{}", other["session_id"].as_str().unwrap());
    assert_eq!(bob.send("DELETE", &path, None).await.status, 404, "nobody else's");
    assert_eq!(laptop.send("DELETE", &path, None).await.status, 204);
    assert_eq!(phone.get("/v1/session").await.status, 401);
    assert_eq!(laptop.get("/v1/session").await.status, 200);
}

async fn with_tls_the_cookie_is_for_this_host_alone(place: Place) {
    let config = ServerConfig { secure_cookies: true, ..ServerConfig::default() };
    let server = TestServer::start_with(place, config).await;
    person(&server, "ann@example.com", UserRole::Viewer).await;
    let mut ann = Browser::new(&server);
    let signed_in = ann.sign_in("ann@example.com", PASSWORD).await;
    let cookie = signed_in.header("set-cookie").unwrap();
    assert!(cookie.starts_with("__Host-fullbench=fbs_") && cookie.ends_with("; Secure"));
    assert_eq!(ann.get("/v1/session").await.status, 200);
    ann.cookie = ann.cookie.map(|cookie| cookie.replace("__Host-", ""));
    assert_eq!(ann.get("/v1/session").await.status, 401, "another host could have set it");
}

async fn a_key_counts_more_than_a_cookie_and_has_no_account(place: Place) {
    let server = TestServer::start(place).await;
    person(&server, "ann@example.com", UserRole::Viewer).await;
    let ann = Browser::signed_in(&server, "ann@example.com").await;
    let with_both = |method, path, key: &str| {
        let mut plain = Browser::new(&server);
        plain.cookie = ann.cookie.clone();
        plain.request(method, path).header("authorization", format!("Bearer {key}"))
    };
    let created = json!({"name": "d", "type": "EVALUATION"});
    let request = with_both("POST", "/v1/datasets", &server.key);
    let (status, body) = crate::common::answer(crate::common::with_json(request, &created)).await;
    assert_eq!(status, 201, "the owner's key, and no token: {body}");
    let (status, _) = crate::common::answer(with_both("GET", "/v1/organization", "fb_no")).await;
    assert_eq!(status, 401, "a wrong key is not made good by a cookie");
    for path in ["/v1/session", "/v1/account/sessions"] {
        let (status, body) = server.get(path).await;
        assert_eq!((status, body["code"].as_str()), (403, Some("forbidden")), "{path}");
    }
}
