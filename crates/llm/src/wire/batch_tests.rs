#![allow(clippy::unwrap_used, clippy::expect_used)]
use serde_json::{Value, json};

use super::*;

fn id() -> ProviderBatchId {
    ProviderBatchId::generate()
}

#[test]
fn ids_are_taken_by_every_provider_and_belong_to_one_batch() {
    let (ours, other) = (id(), id());
    let custom_id = custom_id(ours, 99_999);
    assert!(custom_id.len() <= 64);
    assert!(custom_id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'));
    assert_eq!(position(ours, &custom_id), Some(99_999));
    assert_eq!(position(other, &custom_id), None);
    for wrong in ["", "7", "fb_7", &format!("fb_{ours}_"), &format!("fb_{ours}_+7")] {
        assert_eq!(position(ours, wrong), None, "{wrong}");
    }
    assert_eq!(position(ours, &format!("fb_{ours}_07")), None, "there is one way to write it");
    assert_eq!(position(ours, &format!("fb_{ours}_0")), Some(0));
}

#[test]
fn an_entry_has_the_body_as_it_is() {
    let body = br#"{"model":"m","messages":[]}"#;
    let openai = Wire::OpenAi.batch_entry("fb_1", body);
    let openai: Value = serde_json::from_slice(&openai).unwrap();
    assert_eq!(
        openai,
        json!({"custom_id": "fb_1", "method": "POST", "url": "/v1/chat/completions",
               "body": {"model": "m", "messages": []}})
    );
    let entries =
        vec![Wire::Anthropic.batch_entry("a", body), Wire::Anthropic.batch_entry("b", body)];
    let anthropic: Value = serde_json::from_slice(&batch_anthropic::creation(&entries)).unwrap();
    assert_eq!(anthropic["requests"][1]["custom_id"], "b");
    assert_eq!(anthropic["requests"][1]["params"]["model"], "m");
}

#[test]
fn openais_states_are_understood() {
    let read = |status: &str, more: &str| {
        let body = format!(
            r#"{{"id":"batch_1","object":"batch","status":"{status}","created_at":1711471533,"metadata":{{"fullbench_batch":"x"}},"request_counts":{{"total":3,"completed":1,"failed":1}}{more}}}"#
        );
        Wire::OpenAi.read_batch(&body).unwrap()
    };
    for open in ["validating", "in_progress", "finalizing", "cancelling"] {
        assert!(!read(open, "").is_ended, "{open}");
    }
    let completed =
        read("completed", r#","output_file_id":"file-1","error_file_id":"file-2","errors":null"#);
    assert!(completed.is_ended);
    assert_eq!((completed.requests, completed.done), (3, 2));
    assert_eq!(completed.marker.as_deref(), Some("x"));
    assert_eq!(completed.results, ["files/file-1/content", "files/file-2/content"]);
    assert_eq!(completed.missing.class, FailureClass::Malformed);
    assert_eq!(read("expired", "").missing.class, FailureClass::Timeout);
    assert_eq!(read("cancelled", "").missing.class, FailureClass::Server);
}

#[test]
fn a_refused_batch_says_which_requests_were_wrong() {
    let read = |errors: &str| {
        let body = format!(
            r#"{{"id":"batch_1","status":"failed","created_at":1,"errors":{{"data":[{errors}]}}}}"#
        );
        Wire::OpenAi.read_batch(&body).unwrap()
    };
    let line = read(r#"{"code":"invalid_json_line","message":"not JSON","line":2,"param":null}"#);
    assert_eq!(line.refused[&1].class, FailureClass::BadRequest);
    assert_eq!(line.missing.class, FailureClass::Server, "the others can be sent again");
    let full =
        read(r#"{"code":"token_limit_exceeded","message":"Enqueued token limit","line":null}"#);
    assert_eq!(full.missing.class, FailureClass::RateLimit);
    assert!(full.refused.is_empty());
}

#[test]
fn anthropics_states_are_understood() {
    let body = r#"{"id":"msgbatch_1","type":"message_batch","processing_status":"ended","request_counts":{"processing":0,"succeeded":95,"errored":2,"canceled":1,"expired":2},"created_at":"2024-09-24T18:37:24.100435Z","results_url":"https://api.anthropic.com/v1/messages/batches/msgbatch_1/results"}"#;
    let ended = Wire::Anthropic.read_batch(body).unwrap();
    assert!(ended.is_ended);
    assert_eq!((ended.requests, ended.done), (100, 100));
    assert_eq!(ended.results, ["messages/batches/msgbatch_1/results"]);
    let page = format!(r#"{{"data":[{body}],"has_more":true,"last_id":"msgbatch_1"}}"#);
    let page = Wire::Anthropic.read_page(&page).unwrap();
    assert_eq!(page.next.as_deref(), Some("messages/batches?limit=100&after_id=msgbatch_1"));
    assert_eq!(page.batches, [ended]);
}

fn class(wire: Wire, line: &str) -> (String, FailureClass) {
    let (custom_id, reply) = wire.read_result(line).unwrap();
    (custom_id, reply.unwrap_err().class)
}

#[test]
fn results_of_openai_are_those_of_single_calls() {
    let line = r#"{"id":"r","custom_id":"a","response":{"status_code":200,"request_id":"q","body":{"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"4"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}},"error":null}"#;
    let (custom_id, reply) = Wire::OpenAi.read_result(line).unwrap();
    let (answer, raw) = reply.unwrap();
    assert_eq!((custom_id.as_str(), answer.text.as_str()), ("a", "4"));
    assert_eq!(answer.usage.unwrap().input_tokens, 3);
    assert!(raw.starts_with(r#"{"model":"m""#) && raw.ends_with('}'));
    for (line, expected) in [
        (
            r#"{"custom_id":"a","response":{"status_code":400,"body":{"error":{"message":"bad","type":"invalid_request_error"}}},"error":null}"#,
            FailureClass::BadRequest,
        ),
        (
            r#"{"custom_id":"a","response":{"status_code":500,"body":null},"error":null}"#,
            FailureClass::Server,
        ),
        (
            r#"{"custom_id":"a","response":null,"error":{"code":"batch_expired","message":"late"}}"#,
            FailureClass::Timeout,
        ),
        (
            r#"{"custom_id":"a","response":null,"error":{"code":"batch_cancelled","message":"x"}}"#,
            FailureClass::Server,
        ),
        (
            r#"{"custom_id":"a","response":{"status_code":200,"body":{"choices":[]}}}"#,
            FailureClass::Malformed,
        ),
        (r#"{"custom_id":"a"}"#, FailureClass::Malformed),
    ] {
        assert_eq!(class(Wire::OpenAi, line), ("a".to_owned(), expected), "{line}");
    }
    assert!(Wire::OpenAi.read_result(r#"{"custom_id": "#).is_none());
    assert!(Wire::OpenAi.read_result("").is_none());
}

#[test]
fn results_of_anthropic_are_those_of_single_calls() {
    let line = r#"{"custom_id":"a","result":{"type":"succeeded","message":{"model":"m","content":[{"type":"text","text":"4"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":1}}}}"#;
    let (_, reply) = Wire::Anthropic.read_result(line).unwrap();
    assert_eq!(reply.unwrap().0.text, "4");
    for (line, expected) in [
        (
            r#"{"custom_id":"a","result":{"type":"errored","error":{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens"}}}}"#,
            FailureClass::ContextTooLong,
        ),
        (
            r#"{"custom_id":"a","result":{"type":"errored","error":{"type":"invalid_request","message":"?"}}}"#,
            FailureClass::Server,
        ),
        (
            r#"{"custom_id":"a","result":{"type":"errored","error":{"type":"error","error":{"type":"overloaded_error","message":"busy"}}}}"#,
            FailureClass::Server,
        ),
        (r#"{"custom_id":"a","result":{"type":"expired"}}"#, FailureClass::Timeout),
        (r#"{"custom_id":"a","result":{"type":"canceled"}}"#, FailureClass::Server),
        (r#"{"custom_id":"a","result":{"type":"succeeded"}}"#, FailureClass::Malformed),
    ] {
        assert_eq!(class(Wire::Anthropic, line), ("a".to_owned(), expected), "{line}");
    }
}
