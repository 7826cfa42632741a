//! What browsers are told.

use fullbench_server::ServingConfig;
use reqwest::header::HeaderMap;
use sha2::{Digest, Sha256};

use crate::common::TestServer;
use crate::serving;

const APP: &str = "https://app.example.com";

async fn with_origin() -> TestServer {
    serving(ServingConfig { origins: vec![APP.parse().unwrap()], ..ServingConfig::default() }).await
}

async fn ask(
    server: &TestServer,
    method: &str,
    path: &str,
    more: &[(&str, &str)],
) -> (u16, HeaderMap) {
    let mut request = server.request(method, path);
    for (name, value) in more {
        request = request.header(*name, *value);
    }
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), answer.headers().clone())
}

fn text<'map>(headers: &'map HeaderMap, name: &str) -> &'map str {
    headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
}

#[tokio::test]
async fn every_answer_says_what_may_be_done_with_it() {
    let server = serving(ServingConfig::default()).await;
    for (path, status) in [
        ("/healthz", 200),
        ("/v1/datasets", 200),
        ("/v1/nothing", 404),
        ("/v1/datasets/x", 404),
        ("/docs", 200),
    ] {
        let (found, headers) = ask(&server, "GET", path, &[]).await;
        assert_eq!(found, status, "{path}");
        assert_eq!(text(&headers, "x-content-type-options"), "nosniff", "{path}");
        assert_eq!(text(&headers, "x-frame-options"), "DENY", "{path}");
        assert_eq!(text(&headers, "referrer-policy"), "no-referrer", "{path}");
        assert_eq!(text(&headers, "cross-origin-opener-policy"), "same-origin", "{path}");
        assert_eq!(text(&headers, "cross-origin-resource-policy"), "same-origin", "{path}");
        let policy = text(&headers, "content-security-policy");
        assert!(policy.starts_with("default-src 'none';"), "{path}: {policy}");
        assert!(policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        let cache = text(&headers, "cache-control");
        assert_eq!(cache == "no-store", path.starts_with("/v1"), "{path}: {cache}");
        assert!(!headers.contains_key("strict-transport-security"), "there is no TLS");
        assert!(!headers.contains_key("access-control-allow-origin"));
    }
    let (_, headers) = ask(&server, "GET", "/v1/events", &[]).await;
    assert_eq!(text(&headers, "cache-control"), "no-cache", "what an answer says itself is kept");
}

#[tokio::test]
async fn the_page_may_run_what_is_in_it_and_nothing_else() {
    let server = serving(ServingConfig::default()).await;
    let answer = server.request("GET", "/docs").send().await.unwrap();
    let policy = text(answer.headers(), "content-security-policy").to_owned();
    let page = answer.text().await.unwrap();
    for (element, directive) in [("script", "script-src"), ("style", "style-src")] {
        let parts: Vec<&str> = page.split(&format!("<{element}>")).collect();
        assert_eq!(parts.len(), 2, "one {element}, without attributes");
        let content = parts[1].split_once(&format!("</{element}>")).unwrap().0;
        let hash = base64(&Sha256::digest(content));
        assert!(policy.contains(&format!("{directive} 'sha256-{hash}'")), "{policy}");
    }
    assert!(!page.contains(" style=") && !page.contains(" onclick="), "these would be blocked");
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

#[tokio::test]
async fn pages_of_allowed_origins_may_call_and_no_others() {
    let server = with_origin().await;
    let (status, headers) = ask(&server, "GET", "/v1/datasets", &[("origin", APP)]).await;
    assert_eq!(status, 200);
    assert_eq!(text(&headers, "access-control-allow-origin"), APP);
    assert!(text(&headers, "access-control-expose-headers").contains("x-request-id"));
    assert_eq!(text(&headers, "vary"), "origin");
    assert!(!headers.contains_key("access-control-allow-credentials"));

    let asked = [
        ("origin", APP),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "authorization,content-type"),
    ];
    let (status, headers) = ask(&server, "OPTIONS", "/v1/evaluations", &asked).await;
    assert_eq!(status, 204);
    assert_eq!(text(&headers, "access-control-allow-origin"), APP);
    assert!(text(&headers, "access-control-allow-methods").contains("POST"));
    assert!(text(&headers, "access-control-allow-headers").contains("authorization"));
    assert_eq!(text(&headers, "vary"), "origin");

    for other in [
        "https://app.example.com.evil.example",
        "http://app.example.com",
        "null",
        "https://app.example.com:8443",
    ] {
        let (_, headers) = ask(&server, "GET", "/v1/datasets", &[("origin", other)]).await;
        assert!(!headers.contains_key("access-control-allow-origin"), "{other}");
        assert_eq!(text(&headers, "vary"), "origin", "an answer to one is not that to another");
        let asked = [("origin", other), ("access-control-request-method", "POST")];
        let (status, headers) = ask(&server, "OPTIONS", "/v1/evaluations", &asked).await;
        assert_eq!(status, 405, "{other}");
        assert!(!headers.contains_key("access-control-allow-origin"), "{other}");
    }
}

#[tokio::test]
async fn without_an_allowed_origin_no_page_may_call() {
    let server = serving(ServingConfig::default()).await;
    let asked = [("origin", APP), ("access-control-request-method", "GET")];
    let (status, headers) = ask(&server, "OPTIONS", "/v1/datasets", &asked).await;
    assert_eq!(status, 405);
    assert!(!headers.keys().any(|name| name.as_str().starts_with("access-control")));
}
