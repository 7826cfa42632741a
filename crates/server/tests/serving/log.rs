//! What the log says of requests.

use crate::common::TestServer;
use crate::common::backend::Place;
use crate::common::captured::Captured;
use crate::raw::Raw;

#[tokio::test]
async fn every_request_that_failed_is_logged_with_its_id_and_its_reason() {
    let server = TestServer::start(Place::sqlite()).await;
    server.place.execute("ALTER TABLE baselines RENAME TO lost").await.unwrap();
    let (log, _guard) = Captured::start();
    let id = "the-request-that-fails";
    let request = server.request("GET", "/v1/baselines").header("x-request-id", id);
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 500);
    let told = answer.text().await.unwrap();
    assert!(!told.contains("baselines"), "the reason is for the log: {told}");
    let text = log.text();
    let line = text.lines().find(|line| line.contains("a request failed"));
    let line = line.unwrap_or_else(|| panic!("nothing is said: {text}"));
    for part in ["ERROR", id, "GET", "/v1/baselines", "500", "no such table"] {
        assert!(line.contains(part), "{part} is not in {line}");
    }
    assert_eq!(text.matches("a request failed").count(), 1, "{text}");
}

#[tokio::test]
async fn a_name_of_a_request_is_plain_or_another() {
    let server = TestServer::start(Place::sqlite()).await;
    let (log, _guard) = Captured::start();
    for (sent, is_taken) in [
        ("4bf92f35-77b3:A_b.c", true),
        ("a b forged", false),
        ("a\" forged=\"yes", false),
        ("\u{e4}-forged", false),
    ] {
        let mut client = Raw::connect(&server).await;
        let head = format!("GET /v1/forged HTTP/1.1\r\nHost: x\r\nX-Request-Id: {sent}\r\n\r\n");
        assert!(client.send(&head).await);
        let answered = client.answer().await;
        let taken = answered.head.contains(&format!("x-request-id: {}", sent.to_lowercase()));
        assert_eq!(taken, is_taken, "{answered:?}");
        assert_eq!(answered.body.contains(sent), is_taken, "{answered:?}");
        assert_eq!(log.text().contains(sent), is_taken, "{sent}");
    }
}
