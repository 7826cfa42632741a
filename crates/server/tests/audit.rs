//! Nothing is changed without an entry in the audit log, and no entry without being missed.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::time::Duration;

use common::backend::{self, Place, on_every_backend};
use common::{TestServer, answer, new_key, with_json};
use fullbench_store::{AuditFilter, check_audit_file};
use fullbench_types::{DEFAULT_ORGANIZATION, SYSTEM_ORGANIZATION, UserRole};
use serde_json::{Value, json};

on_every_backend!(
    every_change_is_noted_before_and_after,
    what_is_not_allowed_is_noted_too,
    nothing_is_done_that_cannot_be_noted,
    a_log_that_has_to_wait_holds_up_no_other,
    an_erasure_says_who_asked_for_it,
    a_changed_entry_is_named,
);

/// The entries of an operation, the oldest first.
async fn entries(server: &TestServer, action: &str) -> Vec<Value> {
    let (status, log) = server.get(&format!("/v1/audit-log?action={action}&limit=100")).await;
    assert_eq!(status, 200, "{log}");
    let mut entries = log["entries"].as_array().unwrap().clone();
    entries.reverse();
    entries
}

async fn every_change_is_noted_before_and_after(place: Place) {
    let server = TestServer::start(place).await;
    let new = json!({"name": "ci", "role": "engineer"});
    let (status, made) = server.post("/v1/api-keys", new).await;
    assert_eq!(status, 201, "{made}");
    let path = format!("/v1/api-keys/{}", made["api_key_id"].as_str().unwrap());
    assert_eq!(server.delete(&path).await.0, 200);

    let created = entries(&server, "create_api_key").await;
    assert_eq!(created.len(), 2);
    assert_eq!((&created[0]["phase"], &created[0]["status"]), (&json!("asked"), &Value::Null));
    assert_eq!((&created[1]["phase"], &created[1]["status"]), (&json!("done"), &json!(201)));
    assert_eq!(created[1]["target"], made["api_key_id"]);
    assert_eq!(created[1]["after"]["role"], "engineer");
    assert_eq!(created[0]["request_id"], created[1]["request_id"]);
    assert!(created[1]["actor"].as_str().unwrap().starts_with("key:fb_"));
    assert!(created[1]["credential"].as_str().unwrap().starts_with("key:"));
    let revoked = entries(&server, "revoke_api_key").await;
    assert_eq!(revoked[1]["before"]["revoked_at"], Value::Null);
    assert!(revoked[1]["after"]["revoked_at"].is_string(), "{revoked:?}");
    assert_eq!(revoked[0]["target"], made["api_key_id"]);

    let secret = "https://example.com/hook/token-of-the-receiver";
    let (status, webhook) = server.post("/v1/webhooks", json!({"url": secret})).await;
    assert_eq!(status, 201, "{webhook}");
    let path = format!("/v1/webhooks/{}/secret", webhook["webhook_id"].as_str().unwrap());
    let (_, signing) = server.get(&path).await;
    assert_eq!(entries(&server, "get_webhook_secret").await.len(), 2, "a read of a secret");
    let wrong = server.post("/v1/datasets", json!({"name": ""})).await;
    assert_eq!(wrong.0, 422);
    assert_eq!(entries(&server, "create_dataset").await[1]["phase"], "refused");
    server.get("/v1/datasets").await;
    assert!(entries(&server, "list_datasets").await.is_empty(), "reading is not noted");
    let single = json!({"input": "a", "output": "a", "metrics": ["exact_match"]});
    assert_eq!(server.post("/v1/evaluations", single).await.0, 201);
    assert!(entries(&server, "create_evaluation").await.is_empty());

    let exported = server.request("GET", "/v1/audit-log/export").send().await.unwrap();
    let exported = exported.text().await.unwrap();
    let report = check_audit_file(exported.as_bytes(), None, None).unwrap();
    assert!(report.intact && report.entries >= 11, "{report:?}");
    for kept_out in [made["key"].as_str().unwrap(), "token-of-the", &server.key] {
        assert!(!exported.contains(kept_out), "a secret is in the audit log");
    }
    assert!(!exported.contains(signing["secret"].as_str().unwrap()));
    let (_, verified) = server.get(&format!("/v1/audit-log/verify?expect={}", report.hash)).await;
    assert_eq!(verified["intact"], true, "{verified}");
    let (_, page) = server.get("/v1/audit-log?limit=2").await;
    let (_, next) =
        server.get(&format!("/v1/audit-log?limit=2&cursor={}", page["next_cursor"])).await;
    let numbers = |page: &Value| page["entries"][0]["number"].as_u64().unwrap();
    assert_eq!(numbers(&page), numbers(&next) + 2);
}

async fn what_is_not_allowed_is_noted_too(place: Place) {
    let mut server = TestServer::start(place).await;
    let owner = server.key.clone();
    server.key = new_key(&server.store, DEFAULT_ORGANIZATION, UserRole::Viewer).await;
    assert_eq!(
        server.post("/v1/datasets", json!({"name": "a", "type": "EVALUATION"})).await.0,
        403
    );
    assert_eq!(server.get("/v1/audit-log").await.0, 403);
    server.key = owner;
    let refused = entries(&server, "create_dataset").await;
    assert_eq!(refused.len(), 1);
    assert_eq!((&refused[0]["phase"], &refused[0]["status"]), (&json!("refused"), &json!(403)));
    assert_eq!(entries(&server, "list_audit_entries").await.len(), 1);
    let other = server.as_other_organization().await;
    let (_, log) = other.get("/v1/audit-log").await;
    assert_eq!(log["entries"], json!([]), "everybody has a log of their own");
}

async fn nothing_is_done_that_cannot_be_noted(place: Place) {
    let server = TestServer::start(place).await;
    server.place.execute("ALTER TABLE audit_heads RENAME TO gone").await.unwrap();
    let (status, problem) =
        server.post("/v1/datasets", json!({"name": "a", "type": "EVALUATION"})).await;
    assert_eq!(status, 503, "{problem}");
    assert_eq!(server.get("/v1/datasets").await.1["total"], 0);
    server.place.execute("ALTER TABLE gone RENAME TO audit_heads").await.unwrap();
    let (status, _) = server.post("/v1/datasets", json!({"name": "a", "type": "EVALUATION"})).await;
    assert_eq!(status, 201);
}

/// As while an organization is erased.
async fn a_log_that_has_to_wait_holds_up_no_other(place: Place) {
    // SQLite has one writer for everybody.
    if !place.is_postgres() {
        return;
    }
    let server = TestServer::start(place).await;
    let other = server.as_other_organization().await;
    let new = |name: &str| json!({"name": name, "type": "EVALUATION"});
    assert_eq!(server.post("/v1/datasets", new("a")).await.0, 201);
    assert_eq!(other.post("/v1/datasets", new("a")).await.0, 201);
    let whose = other.organization.0;
    let hold = format!("SELECT 1 FROM audit_heads WHERE organization_id = '{whose}' FOR UPDATE");
    let holding = server.place.holding(&hold).await;
    let waiting = other.post("/v1/datasets", new("b"));
    tokio::pin!(waiting);
    let short = Duration::from_millis(300);
    assert!(tokio::time::timeout(short, &mut waiting).await.is_err(), "nothing was held");
    assert_eq!(server.post("/v1/datasets", new("b")).await.0, 201);
    drop(holding);
    assert_eq!(waiting.await.0, 201);
}

async fn an_erasure_says_who_asked_for_it(place: Place) {
    let server = TestServer::start(place).await;
    let (_, organization) = server.get("/v1/organization").await;
    let request = server.request("POST", "/v1/organization/erase");
    let request = request.header("x-request-id", "the-last-one");
    let (status, receipt) =
        answer(with_json(request, &json!({"slug": organization["slug"]}))).await;
    assert_eq!(status, 200, "{receipt}");
    let filter =
        AuditFilter { action: Some("erase_organization".to_owned()), ..AuditFilter::default() };
    let told = server.store.scoped(SYSTEM_ORGANIZATION).audit_entries(&filter, 10).await.unwrap();
    assert!(told.len() >= 2, "{told:?}");
    for entry in told {
        assert_eq!(entry.actor, "owner");
        assert!(entry.credential.unwrap().starts_with("key:"));
        assert_eq!(entry.from_address.as_deref(), Some("127.0.0.1"));
        assert_eq!(entry.request_id.as_deref(), Some("the-last-one"));
    }
}

async fn a_changed_entry_is_named(place: Place) {
    let server = TestServer::start(place).await;
    for name in ["a", "b"] {
        server.post("/v1/datasets", json!({"name": name, "type": "EVALUATION"})).await;
    }
    let disable = match server.place.is_postgres() {
        true => "ALTER TABLE audit_entries DISABLE TRIGGER ALL;",
        false => "DROP TRIGGER audit_entries_never_change;",
    };
    let change = format!("{disable} UPDATE audit_entries SET actor = 'somebody' WHERE number = 2");
    server.place.execute(&change).await.unwrap();
    let (_, verified) = server.get("/v1/audit-log/verify").await;
    assert_eq!(verified["intact"], false);
    assert_eq!(verified["findings"], json!(["entry 2 was changed"]));
}
