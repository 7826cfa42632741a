//! Requests that are too slow or too large are refused with a problem document, over connections that say nothing else.

use std::time::{Duration, Instant};

use fullbench_server::{ServerConfig, ServingConfig};
use serde_json::Value;

use crate::common::TestServer;
use crate::common::backend::Place;
use crate::raw::{Answered, Raw};
use crate::serving;

/// The head of a request with a body of this type and length.
fn head(server: &TestServer, path: &str, kind: &str, length: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Type: {kind}\r\n{length}\r\n\r\n",
        server.key
    )
}

fn check_is_problem(answered: &Answered, status: u16, code: &str) {
    assert_eq!(answered.status, status, "{answered:?}");
    assert!(answered.head.contains("content-type: application/problem+json"), "{answered:?}");
    let problem: Value = serde_json::from_str(&answered.body).unwrap();
    assert_eq!((&problem["code"], &problem["status"]), (&code.into(), &status.into()));
    assert!(problem["request_id"].is_string(), "{problem}");
}

#[tokio::test]
async fn a_body_that_stops_coming_is_not_waited_for() {
    let body_idle_timeout = Duration::from_millis(1000);
    let server = serving(ServingConfig { body_idle_timeout, ..ServingConfig::default() }).await;
    let (status, made) = server
        .post("/v1/datasets", serde_json::json!({"name": "slow", "type": "EVALUATION"}))
        .await;
    assert_eq!(status, 201, "{made}");
    let upload = format!("/v1/datasets/{}/versions", made["dataset_id"].as_str().unwrap());
    for (path, kind, start) in [
        ("/v1/datasets", "application/json", "{\"name\""),
        (&upload, "multipart/form-data; boundary=B", "--B\r\nContent-Disposition: form-"),
        (
            &upload,
            "multipart/form-data; boundary=B",
            "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\ninput\na",
        ),
    ] {
        for key in ["", "\r\nIdempotency-Key: slow"] {
            let mut client = Raw::connect(&server).await;
            let length = format!("Content-Length: 1000{key}");
            assert!(client.send(&head(&server, path, kind, &length)).await);
            assert!(client.send(start).await);
            check_is_problem(&client.answer().await, 408, "request_timeout");
            client.until_closed().await;
        }
    }
}

#[tokio::test]
async fn a_json_body_that_drips_is_not_waited_for_but_a_file_is() {
    let config = ServingConfig {
        body_timeout: Duration::from_millis(2000),
        body_idle_timeout: Duration::from_millis(1900),
        ..ServingConfig::default()
    };
    let server = serving(config).await;
    let (_, made) = server
        .post("/v1/datasets", serde_json::json!({"name": "drip", "type": "EVALUATION"}))
        .await;
    let mut client = Raw::connect(&server).await;
    let chunked = "Transfer-Encoding: chunked";
    assert!(client.send(&head(&server, "/v1/datasets", "application/json", chunked)).await);
    let started = Instant::now();
    while !client.hears_within(Duration::from_millis(50)).await {
        assert!(started.elapsed() < Duration::from_secs(10), "it may go on for ever");
        client.send("1\r\n \r\n").await;
    }
    check_is_problem(&client.answer().await, 408, "request_timeout");

    let upload = format!("/v1/datasets/{}/versions", made["dataset_id"].as_str().unwrap());
    let mut client = Raw::connect(&server).await;
    let form = "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\ninput,reference\na,b\nc,d\n\r\n--B--\r\n";
    let length = format!("Content-Length: {}", form.len());
    assert!(client.send(&head(&server, &upload, "multipart/form-data; boundary=B", &length)).await);
    for letters in form.as_bytes().chunks(8) {
        assert!(client.send(std::str::from_utf8(letters).unwrap()).await);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let answered = client.answer().await;
    assert_eq!(answered.status, 202, "{answered:?}");
}

#[tokio::test]
async fn what_is_too_large_is_refused_before_it_is_sent() {
    let config = ServerConfig { max_body_bytes: 1000, ..ServerConfig::default() };
    let server = TestServer::start_with(Place::sqlite(), config).await;
    let json = |length: &str| head(&server, "/v1/datasets", "application/json", length);
    let mut client = Raw::connect(&server).await;
    assert!(client.send(&json("Content-Length: 1001\r\nExpect: 100-continue")).await);
    check_is_problem(&client.answer().await, 413, "too_large");

    let mut client = Raw::connect(&server).await;
    assert!(client.send(&json("Transfer-Encoding: chunked")).await);
    let piece = format!("200\r\n{}\r\n", " ".repeat(512));
    assert!(client.send(&piece.repeat(2)).await);
    check_is_problem(&client.answer().await, 413, "too_large");

    let mut client = Raw::connect(&server).await;
    assert!(client.send(&json("Content-Length: 200000")).await);
    assert!(client.send(&" ".repeat(200_000)).await, "it is read on, so that the answer arrives");
    check_is_problem(&client.answer().await, 413, "too_large");

    let mut client = Raw::connect(&server).await;
    let path = "a".repeat(60_000);
    assert!(client.send(&format!("GET /{path} HTTP/1.1\r\nHost: x\r\n\r\n")).await);
    check_is_problem(&client.answer().await, 414, "uri_too_long");

    let mut client = Raw::connect(&server).await;
    let long = "a".repeat(70 << 10);
    assert!(client.send(&format!("GET /healthz HTTP/1.1\r\nX: {long}\r\n\r\n")).await);
    check_is_problem(&client.answer().await, 431, "headers_too_large");
}

#[tokio::test]
async fn a_form_whose_heads_have_no_end_is_refused_early() {
    let server = serving(ServingConfig::default()).await;
    let new = serde_json::json!({"name": "heads", "type": "EVALUATION"});
    let (_, made) = server.post("/v1/datasets", new).await;
    let upload = format!("/v1/datasets/{}/versions", made["dataset_id"].as_str().unwrap());
    let letters = "x".repeat(1 << 16);
    let fields = "X-More: and more\r\n".repeat(3600);
    for (start, more) in [
        ("no part begins here", &letters),
        ("--B\r\nContent-Disposition: form-data; name=\"", &letters),
        ("--B\r\nContent-Disposition: form-data; name=\"file\"\r\n", &fields),
    ] {
        let mut client = Raw::connect(&server).await;
        let kind = "multipart/form-data; boundary=B";
        assert!(client.send(&head(&server, &upload, kind, "Transfer-Encoding: chunked")).await);
        let chunk = |text: &str| format!("{:x}\r\n{text}\r\n", text.len());
        assert!(client.send(&chunk(start)).await);
        let (mut sent, piece) = (0, chunk(more));
        while !client.hears_within(Duration::ZERO).await && client.send(&piece).await {
            sent += piece.len();
            assert!(sent < 64 << 20, "it is kept without end");
        }
        check_is_problem(&client.answer().await, 413, "too_large");
    }
}
