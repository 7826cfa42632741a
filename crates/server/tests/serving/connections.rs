//! Nobody holds a connection by doing nothing, and there are only so many.

use std::time::{Duration, Instant};

use fullbench_server::ServingConfig;

use crate::raw::Raw;
use crate::serving;

const HEALTH: &str = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";

fn milliseconds(count: u64) -> Duration {
    Duration::from_millis(count)
}

#[tokio::test]
async fn a_head_that_never_ends_is_not_waited_for() {
    let header_timeout = milliseconds(400);
    let server = serving(ServingConfig { header_timeout, ..ServingConfig::default() }).await;
    let mut silent = Raw::connect(&server).await;
    let mut dripping = Raw::connect(&server).await;
    assert!(dripping.send("GET /healthz HTTP/1.1\r\nX-Slow: ").await);
    let started = Instant::now();
    while dripping.send("a").await {
        assert!(started.elapsed() < Duration::from_secs(10), "it may go on for ever");
        tokio::time::sleep(milliseconds(20)).await;
    }
    assert!(started.elapsed() >= milliseconds(300), "{:?}", started.elapsed());
    assert!(silent.until_closed().await.1.is_empty());
}

#[tokio::test]
async fn a_second_head_has_no_more_time_than_the_first() {
    let header_timeout = milliseconds(400);
    let server = serving(ServingConfig { header_timeout, ..ServingConfig::default() }).await;
    let mut client = Raw::connect(&server).await;
    assert!(client.send(HEALTH).await);
    assert_eq!(client.answer().await.status, 200);
    assert!(client.send("GET /heal").await);
    let (took, _) = client.until_closed().await;
    assert!(took < Duration::from_secs(10), "{took:?}: the idle time, not that of a head");
}

#[tokio::test]
async fn an_idle_connection_is_kept_for_a_while() {
    let config = ServingConfig {
        header_timeout: milliseconds(200),
        idle_timeout: milliseconds(3000),
        ..ServingConfig::default()
    };
    let server = serving(config).await;
    let mut client = Raw::connect(&server).await;
    for _ in 0..2 {
        assert!(client.send(HEALTH).await);
        assert_eq!(client.answer().await.status, 200);
        tokio::time::sleep(milliseconds(600)).await;
    }
    let (took, rest) = client.until_closed().await;
    assert!(rest.is_empty() && took < Duration::from_secs(10), "{took:?}");
}

#[tokio::test]
async fn who_reads_nothing_of_what_they_asked_for_is_let_go() {
    let stall_timeout = milliseconds(500);
    let server = serving(ServingConfig { stall_timeout, ..ServingConfig::default() }).await;
    let mut client = Raw::connect(&server).await;
    let asked = 400;
    assert!(client.send(&"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(asked)).await);
    tokio::time::sleep(milliseconds(2500)).await;
    let (_, bytes) = client.until_closed().await;
    let answers = bytes.windows(15).filter(|part| part == b"HTTP/1.1 200 OK").count();
    assert!((1..asked).contains(&answers), "{answers} answers");
}

#[tokio::test]
async fn more_connections_than_there_are_places_wait() {
    let server = serving(ServingConfig { max_connections: 2, ..ServingConfig::default() }).await;
    let mut first = Raw::connect(&server).await;
    let mut second = Raw::connect(&server).await;
    for client in [&mut first, &mut second] {
        assert!(client.send(HEALTH).await);
        assert_eq!(client.answer().await.status, 200);
    }
    let mut third = Raw::connect(&server).await;
    assert!(third.send(HEALTH).await);
    assert!(!third.hears_within(milliseconds(400)).await, "there was no place");
    drop(first);
    assert_eq!(third.answer().await.status, 200);
}

#[tokio::test]
async fn heads_that_are_too_large_are_refused() {
    let server = serving(ServingConfig::default()).await;
    let long = format!("X-Long: {}\r\n", "a".repeat(200 << 10));
    let many: String = (0..150).map(|number| format!("X-{number}: a\r\n")).collect();
    for headers in [long, many] {
        let mut client = Raw::connect(&server).await;
        client.send(&format!("GET /healthz HTTP/1.1\r\nHost: x\r\n{headers}\r\n")).await;
        assert_eq!(client.answer().await.status, 431);
    }
}

#[tokio::test]
async fn what_is_being_answered_at_a_stop_is_answered() {
    let mut server = serving(ServingConfig::default()).await;
    let mut idle = Raw::connect(&server).await;
    let mut busy = Raw::connect(&server).await;
    let head = format!(
        "POST /v1/datasets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Expect: 100-continue\r\nContent-Length: 38\r\n\r\n",
        server.key
    );
    assert!(busy.send(&head).await);
    assert_eq!(busy.answer().await.status, 100, "it waits for the body");
    let answered = tokio::spawn(async move {
        assert!(idle.until_closed().await.1.is_empty(), "who asks nothing is let go at a stop");
        assert!(busy.send("{\"name\": \"late\", \"type\": \"EVALUATION\"}").await);
        busy.answer().await
    });
    server.stop().await;
    let answered = answered.await.unwrap();
    assert_eq!(answered.status, 201, "{}", answered.body);
    assert!(answered.head.contains("connection: close"), "{}", answered.head);
}
