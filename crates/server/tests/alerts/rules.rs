//! Rules are made, changed and removed as everything else, and what is wrong is told by field.

use serde_json::{Value, json};

use crate::backend::{Place, on_every_backend};
use crate::common::{TestServer, answer, with_json};
use crate::fixture::{config, make, spend, spending_rule, stands, start};

on_every_backend!(
    rules_are_made_listed_changed_and_removed,
    what_is_wrong_is_told_by_field,
    a_rule_of_another_organization_is_not_there,
    a_firing_rule_follows_what_is_changed,
);

async fn rules_are_made_listed_changed_and_removed(place: Place) {
    let server = start(place, config(None, &[])).await;
    let rule = json!({"name": "Latency", "kind": "latency", "threshold": 2500});
    let path = make(&server, rule.clone()).await;
    let (_, made) = server.get(&path).await;
    assert_eq!((&made["window_seconds"], &made["minimum_count"]), (&json!(3600), &json!(20)));
    let nobody = json!({"webhooks": false, "emails": [], "slack": null});
    assert_eq!((&made["repeat_seconds"], &made["channels"]), (&Value::Null, &nobody), "{made}");
    let (status, problem) = server.post("/v1/alerts", rule).await;
    assert_eq!(status, 409, "{problem}");
    let stale = server.request("PATCH", &path).header("if-match", "\"7\"");
    assert_eq!(answer(with_json(stale, &json!({"threshold": 1}))).await.0, 412);
    let change = json!({"threshold": 3000, "repeat_seconds": 600, "filter": {"model": "m"},
        "channels": {"webhooks": true}});
    let (status, changed) = server.patch(&path, change).await;
    assert_eq!((status, &changed["threshold"]), (200, &json!(3000.0)), "{changed}");
    assert_eq!(changed["filter"], json!({"provider": null, "model": "m", "scorer": null}));
    let (_, changed) = server.patch(&path, json!({"repeat_seconds": null, "filter": {}})).await;
    assert_eq!(
        (&changed["repeat_seconds"], &changed["filter"]["model"]),
        (&Value::Null, &Value::Null)
    );
    assert_eq!(changed["channels"]["webhooks"], true, "it stays");
    let (_, log) = server.get("/v1/audit-log?action=change_alert&limit=10").await;
    let first = log["entries"].as_array().unwrap().iter().rfind(|entry| entry["phase"] == "done");
    let first = first.unwrap();
    assert_eq!(first["before"]["threshold"], 2500.0, "{log}");
    assert_eq!(first["after"]["threshold"], 3000.0, "{log}");
    let (_, list) = server.get("/v1/alerts?limit=1").await;
    assert_eq!((&list["total"], &list["has_more"]), (&json!(1), &json!(false)), "{list}");
    assert_eq!(server.delete(&path).await.0, 204);
    for gone in [path.clone(), format!("{path}/notifications")] {
        assert_eq!(server.get(&gone).await.0, 404);
    }
}

async fn what_is_wrong_is_told_by_field(place: Place) {
    let server = start(place, config(None, &[])).await;
    let with = |changes: Value| {
        let mut rule = json!({"name": "n", "kind": "error_rate", "threshold": 0.1});
        rule.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        rule
    };
    let many: Vec<String> = (0..21).map(|number| format!("a{number}@example.com")).collect();
    for (wrong, field) in [
        (with(json!({"name": " "})), "name"),
        (with(json!({"name": "n".repeat(256)})), "name"),
        (with(json!({"kind": "weather"})), "kind"),
        (with(json!({"threshold": 1.5})), "threshold"),
        (with(json!({"threshold": -1})), "threshold"),
        (with(json!({"kind": "score_drop", "threshold": 2})), "threshold"),
        (with(json!({"window_seconds": 59})), "window_seconds"),
        (with(json!({"window_seconds": 604_801})), "window_seconds"),
        (with(json!({"minimum_count": 0})), "minimum_count"),
        (with(json!({"repeat_seconds": 299})), "repeat_seconds"),
        (with(json!({"kind": "score_drop"})), "filter.scorer"),
        (with(json!({"filter": {"scorer": "bleu"}})), "filter.scorer"),
        (with(json!({"kind": "spend", "filter": {"model": "m"}})), "filter.model"),
        (with(json!({"kind": "queue_time", "filter": {"provider": "openai"}})), "filter.provider"),
        (with(json!({"filter": {"provider": "nobody"}})), "filter.provider"),
        (with(json!({"filter": {"model": ""}})), "filter.model"),
        (with(json!({"channels": {"emails": many}})), "channels.emails"),
        (with(json!({"channels": {"emails": ["a@b\r\nBcc: c@d"]}})), "channels.emails[0]"),
        (with(json!({"channels": {"emails": ["ann@example.com"]}})), "channels.emails"),
        (with(json!({"channels": {"slack_url": "nonsense"}})), "channels.slack_url"),
        (with(json!({"channels": {"slack_url": "ftp://example.com/"}})), "channels.slack_url"),
        (
            with(json!({"channels": {"slack_url": "https://a:b@example.com/"}})),
            "channels.slack_url",
        ),
    ] {
        let (status, problem) = server.post("/v1/alerts", wrong.clone()).await;
        assert_eq!(status, 422, "{wrong}: {problem}");
        assert_eq!(problem["errors"][0]["field"], field, "{wrong}: {problem}");
    }
    let no_mail = with(json!({"channels": {"emails": ["ann@example.com"]}}));
    let (_, problem) = server.post("/v1/alerts", no_mail).await;
    assert!(problem["hint"].as_str().unwrap().contains("FULLBENCH_SMTP_URL"), "{problem}");
    let path = make(&server, with(json!({}))).await;
    for (wrong, field) in [
        (json!({"threshold": 2}), "threshold"),
        (json!({"kind": "latency"}), "kind"),
        (json!({"filter": {"scorer": "bleu"}}), "filter.scorer"),
        (json!({"channels": {"slack_url": "nonsense"}}), "channels.slack_url"),
    ] {
        let (status, problem) = server.patch(&path, wrong).await;
        assert_eq!((status, &problem["errors"][0]["field"]), (422, &json!(field)), "{problem}");
    }
}

async fn a_rule_of_another_organization_is_not_there(place: Place) {
    let server = start(place, config(None, &[])).await;
    let path = make(&server, spending_rule(json!({"webhooks": true}))).await;
    let other = server.as_other_organization().await;
    assert_eq!(other.get("/v1/alerts").await.1["total"], 0);
    for status in [
        other.get(&path).await.0,
        other.get(&format!("{path}/notifications")).await.0,
        other.patch(&path, json!({"threshold": 0.1})).await.0,
        other.post(&format!("{path}/test"), json!({})).await.0,
        other.delete(&path).await.0,
    ] {
        assert_eq!(status, 404);
    }
    let same_name = spending_rule(json!({}));
    assert_eq!(other.post("/v1/alerts", same_name).await.0, 201);
}

/// The kinds of events of alerts so far, with why they came.
async fn told(server: &TestServer) -> Vec<(String, Value)> {
    let store = server.store.scoped(fullbench_types::DEFAULT_ORGANIZATION);
    let events = store.events_after(0, None, 100).await.unwrap().into_iter();
    events.map(|event| (event.kind.to_string(), event.data["because"].clone())).collect()
}

async fn a_firing_rule_follows_what_is_changed(place: Place) {
    let server = start(place, config(None, &[])).await;
    spend(&server, 9).await;
    let path = make(&server, spending_rule(json!({"webhooks": true}))).await;
    stands(&server, &path, "firing").await;
    server.patch(&path, json!({"threshold": 0.9})).await;
    stands(&server, &path, "ok").await;
    server.patch(&path, json!({"threshold": 0.5})).await;
    stands(&server, &path, "firing").await;
    let (_, disabled) = server.patch(&path, json!({"enabled": false})).await;
    assert_eq!(disabled["state"], "no_data", "{disabled}");
    server.patch(&path, json!({"enabled": true})).await;
    stands(&server, &path, "firing").await;
    assert_eq!(server.delete(&path).await.0, 204);
    let event = |kind: &str, because: Value| (format!("alert.{kind}"), because);
    assert_eq!(
        told(&server).await,
        [
            event("firing", Value::Null),
            event("resolved", Value::Null),
            event("firing", Value::Null),
            event("resolved", json!("disabled")),
            event("firing", Value::Null),
            event("resolved", json!("deleted")),
        ]
    );
}
