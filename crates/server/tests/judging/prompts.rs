//! Prompts and their versions.

use fullbench_types::ContentHash;
use serde_json::{Value, json};

use crate::backend::{Place, on_every_backend};
use crate::common::TestServer;
use crate::{created_once, fields, send};

on_every_backend!(
    a_prompt_is_made_found_and_changed,
    versions_are_added_and_read,
    a_template_that_cannot_be_used_is_refused_with_its_line,
    prompts_belong_to_their_organization,
);

async fn a_prompt_is_made_found_and_changed(place: Place) {
    let server = TestServer::start(place).await;
    let sent = json!({"name": "greeting", "description": "says hello"});
    let made = created_once(&server, "/v1/prompts", &sent).await;
    let (status, problem) = server.post("/v1/prompts", sent).await;
    assert_eq!((status, &problem["code"]), (409, &json!("conflict")));
    server.post("/v1/prompts", json!({"name": "farewell"})).await;
    let (_, page) = server.get("/v1/prompts?limit=1").await;
    assert_eq!((&page["total"], &page["has_more"]), (&json!(2), &json!(true)));
    let (_, page) = server.get("/v1/prompts?name=greeting").await;
    assert_eq!((&page["total"], &page["prompts"][0]), (&json!(1), &made));

    let path = format!("/v1/prompts/{}", made["prompt_id"].as_str().unwrap());
    let response = server.request("GET", &path).send().await.unwrap();
    assert_eq!(response.headers()["etag"], "\"1\"");
    let change = json!({"name": "hello"});
    let (status, changed) = send(&server, "PATCH", &path, ("if-match", "\"1\""), &change).await;
    assert_eq!((status, &changed["name"]), (200, &json!("hello")), "{changed}");
    assert_eq!(changed["description"], json!("says hello"));
    let (status, _) = send(&server, "PATCH", &path, ("if-match", "\"1\""), &change).await;
    assert_eq!(status, 412);
    let (status, _) = send(&server, "PATCH", &path, ("if-match", "first"), &change).await;
    assert_eq!(status, 400);
    let (_, changed) = server.patch(&path, json!({"description": null})).await;
    assert_eq!((&changed["name"], &changed["description"]), (&json!("hello"), &Value::Null));
    assert_eq!(server.patch(&path, json!({"name": "farewell"})).await.0, 409);
    for (wrong, field) in [
        (json!({"name": " "}), "name"),
        (json!({"name": "x".repeat(256)}), "name"),
        (json!({"description": "x".repeat(10_001)}), "description"),
        (json!({"color": "blue"}), "color"),
    ] {
        let (status, problem) = server.patch(&path, wrong).await;
        assert_eq!((status, fields(&problem)), (422, vec![field]), "{problem}");
    }
    assert_eq!(server.post("/v1/prompts", json!({"name": "nul\u{0}"})).await.0, 201);
    assert_eq!(server.post("/v1/prompts", json!({"name": "nul\u{0}"})).await.0, 409);
    assert_eq!(server.get("/v1/prompts?name=nul%00").await.1["total"], json!(1));
}

async fn versions_are_added_and_read(place: Place) {
    let server = TestServer::start(place).await;
    let (_, made) = server.post("/v1/prompts", json!({"name": "greeting"})).await;
    let path = format!("/v1/prompts/{}/versions", made["prompt_id"].as_str().unwrap());
    let sent = json!({"template": "Hello {{ input }}, {{ name }}", "description": "the first"});
    let first = created_once(&server, &path, &sent).await;
    assert_eq!((&first["version_number"], &first["template"]), (&json!(1), &sent["template"]));
    assert_eq!(first["variables"], json!(["input", "name"]));
    let hash = ContentHash::of(b"Hello {{ input }}, {{ name }}").to_string();
    assert_eq!(first["content_hash"], json!(hash));
    let messages = json!({"system": "Be brief.", "user": "{{ input }}",
        "examples": [{"user": "Hi", "assistant": "Hello"}]});
    let (status, second) = server.post(&path, json!({"messages": messages})).await;
    assert_eq!((status, &second["version_number"]), (201, &json!(2)), "{second}");
    assert_eq!((&second["messages"], &second["template"]), (&messages, &Value::Null));
    let (_, page) = server.get(&format!("{path}?limit=1")).await;
    assert_eq!((&page["total"], &page["versions"][0]), (&json!(2), &second));
    assert_eq!(page["has_more"], json!(true));
    assert_eq!(server.get(&format!("{path}/1")).await, (200, first));
    assert_eq!(server.get(&format!("{path}/2")).await, (200, second));
    for number in ["0", "3", "2147483648", "4294967295", "4294967296", "-1", "x"] {
        assert_eq!(server.get(&format!("{path}/{number}")).await.0, 404, "{number}");
    }
    assert_eq!(server.patch(&format!("{path}/1"), json!({})).await.0, 405);
}

async fn a_template_that_cannot_be_used_is_refused_with_its_line(place: Place) {
    let server = TestServer::start(place).await;
    let (_, made) = server.post("/v1/prompts", json!({"name": "greeting"})).await;
    let path = format!("/v1/prompts/{}/versions", made["prompt_id"].as_str().unwrap());
    for (wrong, field) in [
        (json!({"template": "Hello\n{{ name }"}), "template"),
        (json!({"messages": {"user": "Hello\n{% if %}"}}), "messages.user"),
    ] {
        let (status, problem) = server.post(&path, wrong).await;
        assert_eq!((status, fields(&problem)), (422, vec![field]), "{problem}");
        let message = problem["errors"][0]["message"].as_str().unwrap();
        assert!(message.starts_with("line 2: "), "{message}");
    }
    for (wrong, field) in [
        (json!({}), "template"),
        (json!({"template": ""}), "template"),
        (json!({"template": "nul\u{0}"}), "template"),
        (json!({"template": "x".repeat(200_001)}), "template"),
        (json!({"messages": {}}), "messages"),
        (json!({"messages": {"color": "x"}}), "messages.color"),
        (json!({"template": "x", "messages": {"user": "x"}}), "messages"),
    ] {
        let (status, problem) = server.post(&path, wrong).await;
        assert_eq!((status, fields(&problem)), (422, vec![field]), "{problem}");
    }
    assert_eq!(server.get(&path).await.1["total"], json!(0));
}

async fn prompts_belong_to_their_organization(place: Place) {
    let server = TestServer::start(place).await;
    let (_, made) = server.post("/v1/prompts", json!({"name": "greeting"})).await;
    let path = format!("/v1/prompts/{}", made["prompt_id"].as_str().unwrap());
    server.post(&format!("{path}/versions"), json!({"template": "{{ input }}"})).await;
    let other = server.as_other_organization().await;
    for path in [path.clone(), format!("{path}/versions"), format!("{path}/versions/1")] {
        assert_eq!(server.get(&path).await.0, 200, "{path}");
        assert_eq!(other.get(&path).await.0, 404, "{path}");
    }
    assert_eq!(other.patch(&path, json!({"name": "mine"})).await.0, 404);
    let added = other.post(&format!("{path}/versions"), json!({"template": "mine"})).await;
    assert_eq!(added.0, 404);
    assert_eq!(other.get("/v1/prompts").await.1["total"], json!(0));
    assert_eq!(other.post("/v1/prompts", json!({"name": "greeting"})).await.0, 201);
    assert_eq!(server.get(&path).await.1["name"], json!("greeting"));
}
