//! A server that looks at its rules all the time, and may send to this machine.

use std::time::Duration;

use fullbench_server::{MailConfig, ServerConfig};
use fullbench_store::Month;
use serde_json::{Value, json};

use crate::backend::Place;
use crate::common::TestServer;
use crate::common::mail::MailServer;

/// How a server of these tests is set up.
pub(crate) fn config(mail: Option<&MailServer>, waits: &[u64]) -> ServerConfig {
    ServerConfig {
        allow_private_webhooks: true,
        webhook_waits: waits.iter().map(|wait| Duration::from_millis(*wait)).collect(),
        alert_every: Duration::from_millis(50),
        mail: mail.map(|mail| MailConfig {
            url: mail.url.clone(),
            from: "Fullbench <bench@example.com>".to_owned(),
        }),
        public_url: Some("https://bench.example.com/".parse().unwrap()),
        ..ServerConfig::default()
    }
}

/// Such a server, whose organization may spend ten dollars a month.
pub(crate) async fn start(place: Place, config: ServerConfig) -> TestServer {
    let server = TestServer::start_with(place, config).await;
    let settings = json!({"settings": {"cost_budget_monthly_usd": 10}});
    let (status, problem) = server.patch("/v1/organization", settings).await;
    assert_eq!(status, 200, "{problem}");
    server
}

/// Lets the organization have spent so many dollars this month.
pub(crate) async fn spend(server: &TestServer, dollars: u64) {
    let sql = format!(
        "INSERT INTO spending (organization_id, month, spent_nanodollars) \
         SELECT id, '{}', {dollars}000000000 FROM organizations WHERE TRUE \
         ON CONFLICT (organization_id, month) \
         DO UPDATE SET spent_nanodollars = excluded.spent_nanodollars",
        Month::now()
    );
    server.place.execute(&sql).await.unwrap();
}

/// A rule that fires over four fifths of the budget.
pub(crate) fn spending_rule(channels: Value) -> Value {
    json!({"name": "The month's <budget>", "kind": "spend", "threshold": 0.8,
        "repeat_seconds": 300, "channels": channels})
}

/// Makes a rule; gives its path.
pub(crate) async fn make(server: &TestServer, rule: Value) -> String {
    let (status, made) = server.post("/v1/alerts", rule).await;
    assert_eq!(status, 201, "{made}");
    format!("/v1/alerts/{}", made["alert_id"].as_str().unwrap())
}

/// Waits until a rule stands like this.
pub(crate) async fn stands(server: &TestServer, path: &str, state: &str) -> Value {
    server.wait(path, |alert| alert["state"] == state).await
}
