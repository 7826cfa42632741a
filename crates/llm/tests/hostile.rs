//! Servers that behave as no provider should: written by hand, byte for byte.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use fullbench_llm::{FailureClass, GenerateError, ModelConfig, Provider};
use support::{handle, one_attempt, one_short_attempt, reply, server, user};

fn config(base_url: String) -> ModelConfig {
    let mut config = ModelConfig::new(Provider::Openai, Some("m".to_owned()));
    config.base_url = Some(base_url);
    config
}

async fn failure(config: &ModelConfig) -> (FailureClass, String) {
    let error = handle(config, &one_attempt()).generate(user("hello"), 0, 0).await.unwrap_err();
    match error {
        GenerateError::Failed { class, failure, .. } => (class, failure.message),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_key_that_the_server_repeats_is_not_shown() {
    let key = env!("CARGO_PKG_NAME");
    let body = format!(r#"{{"error": {{"message": "wrong key {key}, yes {key}"}}}}"#);
    let mut refused = config(server(reply("401 Unauthorized", "", &body)).await);
    refused.api_key_env = Some("CARGO_PKG_NAME".to_owned());
    let (class, message) = failure(&refused).await;
    assert_eq!(class, FailureClass::Auth);
    assert_eq!(message, "HTTP 401: wrong key ***, yes ***");
    let body = format!(r#"{{"choices": [{{"message": {{"content": "x"}}}}], "echo": "{key}"}}"#);
    let mut answered = config(server(reply("200 OK", "", &body)).await);
    answered.api_key_env = Some("CARGO_PKG_NAME".to_owned());
    let generation = handle(&answered, &one_attempt()).generate(user("hello"), 0, 0).await.unwrap();
    assert!(generation.raw.unwrap().contains(r#""echo": "***""#));
}

#[tokio::test]
async fn a_stream_that_stays_open_after_its_end_is_an_answer() {
    let events = concat!(
        r#"data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}"#,
        "\n\ndata: [DONE]\n\n"
    );
    let chunked = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{events}\r\n",
        events.len()
    );
    let mut config = config(server(chunked).await);
    config.stream = true;
    let generation = handle(&config, &one_attempt()).generate(user("hello"), 0, 0).await.unwrap();
    assert_eq!(generation.text, "Hi");
}

#[tokio::test]
async fn a_redirect_does_not_carry_the_key_elsewhere() {
    let redirect = reply("307 Temporary Redirect", "location: http://127.0.0.1:9/\r\n", "");
    let (class, message) = failure(&config(server(redirect).await)).await;
    assert_eq!(class, FailureClass::NotFound);
    assert_eq!(message, "HTTP 307: Temporary Redirect");
}

#[tokio::test]
async fn a_reply_that_never_ends_is_a_timeout() {
    let config = config(server("HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{".to_owned()).await);
    let model = handle(&config, &one_short_attempt());
    let error = model.generate(user("hello"), 0, 0).await.unwrap_err();
    assert!(matches!(error, GenerateError::Failed { class: FailureClass::Timeout, .. }));
}

#[tokio::test]
async fn replies_that_are_not_what_they_say_are_failures() {
    for (wrong, expected) in [
        (reply("200 OK", "", "<html>hello</html>"), FailureClass::Malformed),
        (reply("200 OK", "", ""), FailureClass::Malformed),
        ("garbage\r\n\r\n".to_owned(), FailureClass::Connection),
        (reply("502 Bad Gateway", "", "<html>nginx</html>"), FailureClass::Server),
    ] {
        let (class, message) = failure(&config(server(wrong.clone()).await)).await;
        assert_eq!(class, expected, "{wrong}: {message}");
    }
}
