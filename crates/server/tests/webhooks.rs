//! Webhooks over HTTP: what a receiver gets, what is tried again, and where nothing is sent.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::time::Duration;

use common::TestServer;
use common::backend::{self, Place, on_every_backend};
use common::receiver::Receiver;
use common::version::version;
use fullbench_server::ServerConfig;
use fullbench_types::{DEFAULT_ORGANIZATION, EventKind};
use serde_json::{Value, json};

on_every_backend!(
    a_receiver_is_told_of_the_end_of_a_batch_with_a_signature,
    what_does_not_arrive_is_sent_again_also_after_a_restart,
    what_is_given_up_can_be_sent_again_by_hand,
    a_changed_secret_signs_beside_the_one_before,
    nothing_is_sent_to_private_addresses,
    a_receiver_that_is_gone_is_left_alone,
    webhooks_are_made_listed_changed_and_removed,
    a_webhook_is_tried_out_once_a_minute,
    there_are_so_many_webhooks_and_all_are_told,
);

async fn start(place: Place, waits: &[u64]) -> TestServer {
    let config = ServerConfig {
        allow_private_webhooks: true,
        webhook_waits: waits.iter().map(|wait| Duration::from_millis(*wait)).collect(),
        ..ServerConfig::default()
    };
    TestServer::start_with(place, config).await
}

async fn add(server: &TestServer, url: &str) -> String {
    let (status, made) = server.post("/v1/webhooks", json!({"url": url})).await;
    assert_eq!(status, 201, "{made}");
    made["webhook_id"].as_str().unwrap().to_owned()
}

async fn secret(server: &TestServer, id: &str) -> String {
    let (status, body) = server.get(&format!("/v1/webhooks/{id}/secret")).await;
    assert_eq!(status, 200, "{body}");
    body["secret"].as_str().unwrap().to_owned()
}

async fn test(server: &TestServer, id: &str) -> String {
    // As if a minute had passed since the last time.
    let sql = "UPDATE webhook_deliveries SET created_at = created_at - 60001";
    server.place.execute(sql).await.unwrap();
    let (status, made) = server.post(&format!("/v1/webhooks/{id}/test"), json!({})).await;
    assert_eq!(status, 202, "{made}");
    format!("/v1/webhook-deliveries/{}", made["delivery_id"].as_str().unwrap())
}

async fn a_receiver_is_told_of_the_end_of_a_batch_with_a_signature(place: Place) {
    let server = start(place, &[]).await;
    let (standing, standing_url) = Receiver::start(&[]).await;
    let (named, named_url) = Receiver::start(&[]).await;
    let webhook = add(&server, &standing_url).await;
    let store = server.store.scoped(DEFAULT_ORGANIZATION);
    let rows = [json!({"input": "1+1?", "reference": "2", "output": "2", "kind": "a"})];
    let version = version(&store, rows.into_iter()).await;
    let body = json!({"dataset_version_id": version, "metrics": ["exact_match"],
        "config": {"gates": ["exact_match.mean >= 0.5"]}, "webhook_url": named_url});
    let (status, batch) = server.post("/v1/evaluations/batch", body).await;
    assert_eq!(status, 202, "{batch}");

    let got = standing.wait(1).await.remove(0);
    assert_eq!(got.json()["type"], "run.completed", "{}", got.json());
    assert_eq!(got.json()["run_id"], batch["job_id"]);
    assert_eq!(got.json()["data"]["status"], "completed");
    assert!(got.json()["data"]["gates"].is_array(), "{}", got.json());
    assert!(got.is_signed_by(&secret(&server, &webhook).await));

    let got = named.wait(1).await.remove(0);
    assert_eq!(got.json()["run_id"], batch["job_id"]);
    let (_, own) = server.get("/v1/organization/webhook-secret").await;
    assert!(got.is_signed_by(own["secret"].as_str().unwrap()));
    assert!(!got.is_signed_by(&secret(&server, &webhook).await));

    let path = format!("/v1/webhook-deliveries?run_id={}", batch["job_id"].as_str().unwrap());
    let both_delivered = |list: &Value| {
        list["total"] == 2
            && list["deliveries"].as_array().unwrap().iter().all(|one| one["status"] == "delivered")
    };
    server.wait(&path, both_delivered).await;
    let text = server.get("/v1/webhooks").await.1.to_string();
    assert!(!text.contains("whsec_"), "secrets are shown where they are asked for");
}

async fn what_does_not_arrive_is_sent_again_also_after_a_restart(place: Place) {
    let mut server = start(place, &[50, 400, 50]).await;
    let (receiver, url) = Receiver::start(&[500, 302]).await;
    let webhook = add(&server, &url).await;
    let path = test(&server, &webhook).await;
    receiver.wait(2).await;
    server.wait(&path, |delivery| delivery["attempts"] == 2).await;
    server.restart().await;
    let got = receiver.wait(3).await;
    let done = server.wait(&path, |delivery| delivery["status"] == "delivered").await;
    let statuses: Vec<u64> = done["log"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["response_status"].as_u64())
        .collect();
    assert_eq!(statuses, [500, 302, 200], "{done}");
    assert!(done["log"][1]["problem"].as_str().unwrap().contains("redirect"), "{done}");
    assert_eq!(done["log"][2]["problem"], Value::Null);
    let ids: Vec<&str> = got.iter().map(|one| one.header("webhook-id")).collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "a receiver knows what it has: {ids:?}");
    assert_eq!(got.len(), 3, "and nothing is sent that has arrived");
}

async fn what_is_given_up_can_be_sent_again_by_hand(place: Place) {
    let server = start(place, &[20]).await;
    let (receiver, url) = Receiver::start(&[503, 503]).await;
    let webhook = add(&server, &url).await;
    let path = test(&server, &webhook).await;
    let failed = server.wait(&path, |delivery| delivery["status"] == "failed").await;
    assert_eq!((&failed["attempts"], &failed["next_attempt_at"]), (&json!(2), &Value::Null));
    let (status, again) = server.post(&format!("{path}/retry"), json!({})).await;
    assert_eq!((status, &again["status"]), (202, &json!("pending")), "{again}");
    let done = server.wait(&path, |delivery| delivery["status"] == "delivered").await;
    assert_eq!(done["attempts"], 3);
    assert_eq!(receiver.got().len(), 3);
    let (_, list) = server.get("/v1/webhook-deliveries?status=failed").await;
    assert_eq!(list["total"], 0, "{list}");
}

async fn a_changed_secret_signs_beside_the_one_before(place: Place) {
    let server = start(place, &[]).await;
    let (receiver, url) = Receiver::start(&[]).await;
    let webhook = add(&server, &url).await;
    let before = secret(&server, &webhook).await;
    let path = format!("/v1/webhooks/{webhook}/rotate-secret");
    let (status, changed) = server.post(&path, json!({})).await;
    assert_eq!(status, 200, "{changed}");
    assert!(!changed.to_string().contains("whsec_"));
    let after = secret(&server, &webhook).await;
    assert_ne!(before, after);
    test(&server, &webhook).await;
    let got = receiver.wait(1).await.remove(0);
    assert!(got.is_signed_by(&before) && got.is_signed_by(&after));
}

async fn nothing_is_sent_to_private_addresses(place: Place) {
    let server = TestServer::start(place).await;
    let (receiver, url) = Receiver::start(&[]).await;
    for wrong in [&url, "http://[::1]:9/", "http://0x7f.1/", "ftp://example.com/", "nonsense"] {
        let (status, problem) = server.post("/v1/webhooks", json!({"url": wrong})).await;
        assert_eq!((status, &problem["errors"][0]["field"]), (422, &json!("url")), "{problem}");
    }
    // A name is looked up when something is sent.
    let webhook = add(&server, &url.replace("127.0.0.1", "localhost")).await;
    let path = test(&server, &webhook).await;
    let tried = server.wait(&path, |delivery| delivery["attempts"] == 1).await;
    let problem = tried["log"][0]["problem"].as_str().unwrap();
    assert!(problem.contains("not one of the public internet"), "{problem}");
    let (status, _) = server
        .patch(&format!("/v1/webhooks/{webhook}"), json!({"url": "http://169.254.169.254/"}))
        .await;
    assert_eq!(status, 422);
    assert!(receiver.got().is_empty());
}

async fn a_receiver_that_is_gone_is_left_alone(place: Place) {
    let server = start(place, &[20, 20, 20]).await;
    let (receiver, url) = Receiver::start(&[410]).await;
    let webhook = add(&server, &url).await;
    let first = test(&server, &webhook).await;
    server.wait(&first, |delivery| delivery["status"] == "failed").await;
    let path = format!("/v1/webhooks/{webhook}");
    let disabled = server.wait(&path, |webhook| webhook["enabled"] == false).await;
    assert!(disabled["disabled_because"].as_str().unwrap().contains("410"), "{disabled}");
    let second = test(&server, &webhook).await;
    let failed = server.wait(&second, |delivery| delivery["status"] == "failed").await;
    assert!(failed["log"][0]["problem"].as_str().unwrap().contains("disabled"), "{failed}");
    assert_eq!(receiver.got().len(), 1);
    let (status, enabled) = server.patch(&path, json!({"enabled": true})).await;
    assert_eq!((status, &enabled["disabled_because"]), (200, &Value::Null), "{enabled}");
    let third = test(&server, &webhook).await;
    server.wait(&third, |delivery| delivery["status"] == "delivered").await;
}

async fn webhooks_are_made_listed_changed_and_removed(place: Place) {
    let server = start(place, &[60_000]).await;
    let (_, url) = Receiver::start(&[500]).await;
    let (status, made) = server
        .post("/v1/webhooks", json!({"url": url, "events": ["run.failed"], "description": "d"}))
        .await;
    assert_eq!((status, &made["events"]), (201, &json!(["run.failed"])), "{made}");
    for (wrong, field) in [
        (json!({"url": url, "events": []}), "events"),
        (json!({"url": url, "events": ["webhook.test"]}), "events"),
        (json!({"url": url, "events": ["run.lost"]}), "events[0]"),
        (json!({"url": "https://ann:s3cret@example.com/"}), "url"),
        (json!({"url": url, "description": "d".repeat(1001)}), "description"),
    ] {
        let (status, problem) = server.post("/v1/webhooks", wrong).await;
        assert_eq!((status, &problem["errors"][0]["field"]), (422, &json!(field)), "{problem}");
        assert!(!problem.to_string().contains("s3cret"), "{problem}");
    }
    let path = format!("/v1/webhooks/{}", made["webhook_id"].as_str().unwrap());
    let stale = server.request("PATCH", &path).header("if-match", "\"7\"");
    let (status, _) = common::answer(common::with_json(stale, &json!({"enabled": false}))).await;
    assert_eq!(status, 412);
    let (status, changed) = server.patch(&path, json!({"description": null})).await;
    assert_eq!((status, &changed["description"]), (200, &Value::Null), "{changed}");
    assert_eq!(server.get("/v1/webhooks").await.1["total"], 1);
    let delivery = test(&server, made["webhook_id"].as_str().unwrap()).await;
    server.wait(&delivery, |delivery| delivery["attempts"] == 1).await;
    assert_eq!(server.delete(&path).await.0, 204);
    assert_eq!(server.get(&path).await.0, 404);
    server.post(&format!("{delivery}/retry"), json!({})).await;
    let given_up = server.wait(&delivery, |delivery| delivery["status"] == "failed").await;
    assert!(given_up["log"][1]["problem"].as_str().unwrap().contains("removed"), "{given_up}");
}

async fn a_webhook_is_tried_out_once_a_minute(place: Place) {
    let server = start(place, &[]).await;
    let (receiver, url) = Receiver::start(&[]).await;
    let (webhook, other) = (add(&server, &url).await, add(&server, &url).await);
    test(&server, &webhook).await;
    let again = server.request("POST", &format!("/v1/webhooks/{webhook}/test"));
    let refused = again.send().await.unwrap();
    assert_eq!(refused.status(), 429);
    let wait: u64 = refused.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
    let (status, made) = server.post(&format!("/v1/webhooks/{other}/test"), json!({})).await;
    assert_eq!(status, 202, "another one is not held up: {made}");
    assert_eq!(receiver.wait(2).await.len(), 2);
}

async fn there_are_so_many_webhooks_and_all_are_told(place: Place) {
    let server = start(place, &[60_000]).await;
    let body = json!({"url": "http://127.0.0.1:9/", "events": ["run.failed"]});
    for _ in 0..100 {
        assert_eq!(server.post("/v1/webhooks", body.clone()).await.0, 201);
    }
    let (status, problem) = server.post("/v1/webhooks", body).await;
    assert_eq!(status, 409, "{problem}");
    assert_eq!(server.get("/v1/webhooks").await.1["total"], 100);
    // More rows than SQLite takes with one statement.
    let event =
        || fullbench_store::NewEvent { run: None, kind: EventKind::RunFailed, data: json!({}) };
    let events: Vec<_> = (0..30).map(|_| event()).collect();
    server.store.scoped(DEFAULT_ORGANIZATION).add_events(&events).await.unwrap();
    assert_eq!(server.get("/v1/webhook-deliveries").await.1["total"], 3000);
}
