//! Many requests at once: everybody is answered in turn, who goes away is forgotten, memory stays what it is.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fullbench_llm::Parameters;
use serde_json::json;

use crate::support::{QUESTION, answer, model, short};

/// Memory this process holds at the moment.
pub(crate) fn resident_bytes() -> u64 {
    let statistics = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: u64 = statistics.split(' ').nth(1).and_then(|count| count.parse().ok()).unwrap_or(0);
    pages * 4_096
}

#[tokio::test]
async fn requests_are_answered_in_the_order_they_came() {
    let Some(model) = model() else { return };
    let answered = Arc::new(Mutex::new(Vec::new()));
    let requests = (0..80).map(|number| {
        let (model, answered) = (model.clone(), answered.clone());
        async move {
            let one = Parameters { max_tokens: Some(1), ..short() };
            answer(&model, &format!("Question {number}"), one).await;
            answered.lock().unwrap().push(number);
        }
    });
    futures::future::join_all(requests).await;
    assert_eq!(*answered.lock().unwrap(), (0..80).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_request_that_nobody_waits_for_stops() {
    let Some(model) = model() else { return };
    // No model comes to its end by itself before it has counted that far.
    let schema = json!({"type": "array", "minItems": 1_000, "items": {"type": "integer"}});
    let endless = Parameters { max_tokens: Some(3_000), json_schema: Some(schema), ..short() };
    let given_up = answer(&model, "Count from one to a thousand.", endless);
    assert!(tokio::time::timeout(Duration::from_millis(700), given_up).await.is_err());
    let started = Instant::now();
    let next = answer(&model, QUESTION, Parameters { max_tokens: Some(1), ..short() }).await;
    let waited = started.elapsed() - Duration::from_micros(next.latency_us);
    assert!(waited < Duration::from_secs(60), "the next one waited {waited:?}");
}

#[tokio::test]
async fn many_requests_need_no_more_memory_than_a_few() {
    let Some(model) = model() else { return };
    let one = |number: usize| Parameters {
        max_tokens: Some(2),
        seed: Some(number as i64),
        top_logprobs: Some(2),
        ..short()
    };
    let mut text = "word ".repeat(80);
    for number in 0..5 {
        answer(&model, &text, one(number)).await;
    }
    let before = resident_bytes();
    for number in 0..60 {
        text.push_str("more ");
        answer(&model, &text[number..], one(number)).await;
    }
    let grown = resident_bytes().saturating_sub(before);
    assert!(grown < 30_000_000, "memory grew by {grown} bytes");
}
