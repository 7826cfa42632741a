//! What an organization decides.

use fullbench_types::UserRole;
use serde_json::json;

use crate::backend::{Place, on_every_backend};
use crate::browser::{Browser, person};
use crate::common::TestServer;

on_every_backend!(settings_are_changed_one_by_one, a_new_limit_holds_at_once);

async fn settings_are_changed_one_by_one(place: Place) {
    let server = TestServer::start(place).await;
    let path = "/v1/organization";
    let (status, changed) = server
        .patch(
            path,
            json!({"name": "Acme", "billing_email": "Bill@Acme.com",
                "settings": {"cost_budget_monthly_usd": 12.5, "data_retention_days": 90}}),
        )
        .await;
    assert_eq!(status, 200, "{changed}");
    assert_eq!(
        (&changed["name"], &changed["billing_email"]),
        (&json!("Acme"), &json!("bill@acme.com"))
    );
    assert_eq!(changed["settings"]["cost_budget_monthly_usd"], 12.5);
    let (_, changed) = server
        .patch(path, json!({"billing_email": null, "settings": {"data_retention_days": null}}))
        .await;
    assert_eq!(changed["name"], "Acme", "what is left out stays");
    assert_eq!(changed["settings"]["cost_budget_monthly_usd"], 12.5);
    assert!(changed["billing_email"].is_null());
    assert!(changed["settings"]["data_retention_days"].is_null());
    for (wrong, field) in [
        (json!({"name": "  "}), "name"),
        (json!({"billing_email": "nobody"}), "billing_email"),
        (json!({"settings": {"cost_budget_monthly_usd": -1}}), "settings.cost_budget_monthly_usd"),
        (json!({"settings": {"data_retention_days": 0}}), "settings.data_retention_days"),
        (json!({"settings": {"requests_per_minute": 0}}), "settings.requests_per_minute"),
        (json!({"settings": {"default_evaluators": [""]}}), "settings.default_evaluators"),
    ] {
        let (status, problem) = server.patch(path, wrong).await;
        assert_eq!(
            (status, problem["errors"][0]["field"].as_str()),
            (422, Some(field)),
            "{problem}"
        );
    }
    let (_, after) = server.get(path).await;
    assert_eq!(after["settings"], changed["settings"]);
    person(&server, "eng@example.com", UserRole::Engineer).await;
    let mut engineer = Browser::signed_in(&server, "eng@example.com").await;
    assert_eq!(engineer.send("PATCH", path, Some(json!({"name": "Mine"}))).await.status, 403);
}

async fn a_new_limit_holds_at_once(place: Place) {
    let server = TestServer::start(place).await;
    let body = json!({"settings": {"requests_per_minute": 2}});
    assert_eq!(server.patch("/v1/organization", body).await.0, 200);
    let mut statuses = Vec::new();
    for _ in 0..4 {
        statuses.push(server.get("/v1/organization").await.0);
    }
    assert!(statuses.contains(&429), "{statuses:?}");
}
