//! What an organization decides.

use std::num::NonZeroU32;

use fullbench_server::{Limit, PlanLimit, Quotas, ServerConfig};
use fullbench_store::OrganizationChange;
use fullbench_types::{DEFAULT_ORGANIZATION, Plan, UserRole};
use serde_json::json;

use crate::backend::{Place, on_every_backend};
use crate::browser::{Browser, person};
use crate::common::TestServer;

on_every_backend!(
    settings_are_changed_one_by_one,
    a_new_limit_holds_at_once,
    nobody_lifts_the_limit_of_the_server,
    who_runs_the_server_gives_plans
);

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

async fn nobody_lifts_the_limit_of_the_server(place: Place) {
    let quotas = Quotas { requests_per_minute: NonZeroU32::new(5), ..Quotas::default() };
    let limit = Limit::RequestsPerMinute(NonZeroU32::new(8));
    let plan_limits = vec![PlanLimit { plan: Plan::Starter, limit }];
    let config = ServerConfig { quotas, plan_limits, ..ServerConfig::default() };
    let server = TestServer::start_with(place, config).await;
    let policy = async || {
        let answer = server.request("GET", "/v1/organization").send().await.unwrap();
        answer.headers()["ratelimit-policy"].to_str().unwrap().to_owned()
    };
    let set = async |limit: u32| {
        let body = json!({"settings": {"requests_per_minute": limit}});
        server.patch("/v1/organization", body).await.0
    };
    assert_eq!(set(1_000_000).await, 200);
    assert!(policy().await.contains("q=5;"), "its own limit is no more than the server's");
    assert_eq!((set(4).await, set(3).await, set(2).await), (200, 200, 200));
    assert_eq!(set(1_000_000).await, 429, "another limit is no new allowance");
}

async fn who_runs_the_server_gives_plans(place: Place) {
    let limit = Limit::RequestsPerMinute(NonZeroU32::new(800));
    let plan_limits = vec![PlanLimit { plan: Plan::Starter, limit }];
    let config = ServerConfig { plan_limits, ..ServerConfig::default() };
    let server = TestServer::start_with(place, config).await;
    let (status, problem) = server.patch("/v1/organization", json!({"plan": "STARTER"})).await;
    assert_eq!(status, 422, "nobody gives themselves a plan: {problem}");
    let store = server.store.scoped(DEFAULT_ORGANIZATION);
    let change = OrganizationChange { plan: Some(Plan::Starter), ..Default::default() };
    store.change_organization(change).await.unwrap();
    // Any change of the organization lets the server look again at once.
    let (status, changed) = server.patch("/v1/organization", json!({"name": "Acme"})).await;
    assert_eq!((status, &changed["plan"]), (200, &json!("STARTER")), "{changed}");
    let answer = server.request("GET", "/v1/organization").send().await.unwrap();
    let policy = answer.headers()["ratelimit-policy"].to_str().unwrap();
    assert!(policy.contains("q=800;"), "{policy}");
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
