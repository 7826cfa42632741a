//! Who is told, by real receivers: a webhook, a mail server and a server that takes messages as Slack does.

use std::time::Duration;

use fullbench_server::Server;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::backend::{Place, on_every_backend};
use crate::common::TestServer;
use crate::common::captured::Captured;
use crate::common::mail::MailServer;
use crate::common::receiver::Receiver;
use crate::fixture::{config, make, spend, spending_rule, stands, start};

on_every_backend!(
    everybody_is_told_that_it_fires_goes_on_and_is_over,
    two_servers_tell_it_once,
    a_dead_address_of_slack_is_tried_again_and_shown_nowhere,
    channels_are_tried_out_once_a_minute,
    nothing_is_sent_to_slack_at_private_addresses,
);

/// A part of every address of Slack here, which is a secret.
const TOKEN: &str = "zanzibarzanzibarzanzibarzanzibar";

fn slack_path(url: &str) -> String {
    url.replace("/hook", &format!("/services/T00/B00/{TOKEN}"))
}

async fn webhook(server: &TestServer, url: &str) {
    let new = json!({"url": url, "events": ["alert.firing", "alert.resolved"]});
    let (status, made) = server.post("/v1/webhooks", new).await;
    assert_eq!(status, 201, "{made}");
}

async fn everybody_is_told_that_it_fires_goes_on_and_is_over(place: Place) {
    let mut mail = MailServer::start().await;
    let server = start(place, config(Some(&mail), &[])).await;
    let (hook, hook_url) = Receiver::start(&[]).await;
    let (slack, slack_url) = Receiver::start(&[]).await;
    webhook(&server, &hook_url).await;
    let channels = json!({"webhooks": true, "emails": ["Ann@example.com", "bob@example.com"],
        "slack_url": slack_path(&slack_url)});
    spend(&server, 8).await;
    let path = make(&server, spending_rule(channels)).await;
    let fine = stands(&server, &path, "ok").await;
    assert_eq!((&fine["last_value"], &fine["last_notified_at"]), (&json!(0.8), &Value::Null));

    spend(&server, 9).await;
    stands(&server, &path, "firing").await;
    hook.wait(1).await;
    slack.wait(1).await;
    let (first, second) = (mail.next().await, mail.next().await);
    let told_before = "UPDATE alert_rules SET notified_at = notified_at - 300000";
    server.place.execute(told_before).await.unwrap();
    hook.wait(2).await;
    slack.wait(2).await;
    let _ = (mail.next().await, mail.next().await);
    spend(&server, 5).await;
    stands(&server, &path, "ok").await;
    let (hooked, slacked) = (hook.wait(3).await, slack.wait(3).await);
    let (over, _) = (mail.next().await, mail.next().await);

    let mut recipients = [first.to.concat(), second.to.concat()];
    recipients.sort();
    assert_eq!(recipients, ["ann@example.com", "bob@example.com"]);
    for line in ["Value: 90.00 %", "Threshold: 80.00 %", "Since: "] {
        assert!(first.text.contains(line), "{line} is not in\n{}", first.text);
    }
    assert!(first.text.contains("Subject: [Fullbench] Firing: The month's <budget>"), "{first:?}");
    assert!(over.text.contains("has ended.") && over.text.contains("Value: 50.00 %"), "{over:?}");
    let told: Vec<(Value, Value, Value)> = hooked
        .iter()
        .map(|got| got.json())
        .map(|got| (got["type"].clone(), got["data"]["news"].clone(), got["data"]["value"].clone()))
        .collect();
    assert_eq!(
        told,
        [
            (json!("alert.firing"), json!("firing"), json!(0.9)),
            (json!("alert.firing"), json!("repeated"), json!(0.9)),
            (json!("alert.resolved"), json!("resolved"), json!(0.5)),
        ]
    );
    let texts: Vec<Value> = slacked.iter().map(|got| got.json()["text"].clone()).collect();
    let begins = |place: usize, with: &str| texts[place].as_str().unwrap().starts_with(with);
    assert!(begins(0, "[Fullbench] Firing: The month's &lt;budget&gt;\n"), "{texts:?}");
    assert!(begins(1, "[Fullbench] Still firing:") && begins(2, "[Fullbench] Resolved:"));
    assert_eq!(slacked[0].json().as_object().unwrap().len(), 1, "a text and nothing else");

    let done = |list: &Value| {
        list["notifications"].as_array().unwrap().iter().all(|one| one["status"] != "pending")
    };
    let log = server.wait(&format!("{path}/notifications?limit=100"), done).await;
    assert_eq!(log["total"], 12, "{log}");
    let of = |channel: &str, status: &str| {
        let all = log["notifications"].as_array().unwrap().iter();
        all.filter(|one| one["channel"] == channel && one["status"] == status).count()
    };
    assert_eq!((of("webhooks", "handed_over"), of("email", "delivered")), (3, 6), "{log}");
    assert_eq!(of("slack", "delivered"), 3, "{log}");
    let (_, page) = server.get(&format!("{path}/notifications?limit=5&offset=10")).await;
    assert_eq!(
        (page["notifications"].as_array().unwrap().len(), &page["has_more"]),
        (2, &json!(false))
    );
}

async fn two_servers_tell_it_once(place: Place) {
    let server = start(place, config(None, &[])).await;
    let stop = CancellationToken::new();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let second = Server::start(server.place.open().await, config(None, &[])).await.unwrap();
    let stopped = stop.clone();
    let serving = tokio::spawn(async move {
        second.serve(listener, async move { stopped.cancelled().await }).await;
    });
    let (hook, hook_url) = Receiver::start(&[]).await;
    let (slack, slack_url) = Receiver::start(&[]).await;
    webhook(&server, &hook_url).await;
    spend(&server, 9).await;
    let mut paths = Vec::new();
    for number in 0..10 {
        let mut rule =
            spending_rule(json!({"webhooks": true, "slack_url": slack_path(&slack_url)}));
        rule["name"] = json!(format!("rule {number}"));
        paths.push(make(&server, rule).await);
    }
    for path in &paths {
        stands(&server, path, "firing").await;
    }
    slack.wait(10).await;
    hook.wait(10).await;
    // Both go on looking at all of them for a while.
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!((slack.got().len(), hook.got().len()), (10, 10));
    for path in &paths {
        let (_, log) = server.get(&format!("{path}/notifications")).await;
        assert_eq!(log["total"], 2, "{log}");
    }
    stop.cancel();
    serving.await.unwrap();
}

async fn a_dead_address_of_slack_is_tried_again_and_shown_nowhere(place: Place) {
    let (log, _captured) = Captured::start();
    let server = start(place, config(None, &[20, 20])).await;
    let (busy, busy_url) = Receiver::start(&[500, 302]).await;
    let dead = {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        format!("http://{}/services/{TOKEN}", listener.local_addr().unwrap())
    };
    spend(&server, 9).await;
    let mut seen = String::new();
    let mut paths = Vec::new();
    for (name, url) in [("dead", dead), ("busy", slack_path(&busy_url))] {
        let mut rule = spending_rule(json!({"slack_url": url}));
        rule["name"] = json!(name);
        let request = server.request("POST", "/v1/alerts").header("idempotency-key", name);
        let (status, made) = crate::common::answer(crate::common::with_json(request, &rule)).await;
        assert_eq!(status, 201, "{made}");
        assert_eq!(made["channels"]["slack"]["last_four"], "ibar", "{made}");
        seen.push_str(&made.to_string());
        paths.push(format!("/v1/alerts/{}/notifications", made["alert_id"].as_str().unwrap()));
    }
    let ended = |list: &Value| {
        let first = &list["notifications"][0];
        !first.is_null() && first["status"] != "pending"
    };
    let given_up = server.wait(&paths[0], ended).await;
    let first = &given_up["notifications"][0];
    assert_eq!((&first["status"], &first["attempts"]), (&json!("failed"), &json!(3)));
    assert!(first["problem"].as_str().unwrap().starts_with("no connection"), "{first}");
    let arrived = server.wait(&paths[1], ended).await;
    let first = &arrived["notifications"][0];
    assert_eq!((&first["status"], &first["attempts"]), (&json!("delivered"), &json!(3)), "{first}");
    assert_eq!(busy.got().len(), 3);

    for path in ["/v1/alerts", "/v1/audit-log?limit=100", "/v1/organization"] {
        seen.push_str(&server.get(path).await.1.to_string());
    }
    seen.push_str(&given_up.to_string());
    seen.push_str(&arrived.to_string());
    assert!(!seen.contains(TOKEN), "an answer has the address");
    let written = log.text();
    assert!(written.contains("an alert could not be told"), "nothing was captured");
    assert!(!written.contains(TOKEN), "the log has the address");
    if !server.place.is_postgres() {
        for file in std::fs::read_dir(server.place.home()).unwrap() {
            let path = file.unwrap().path();
            let content = std::fs::read(&path).unwrap_or_default();
            assert!(!has(&content, TOKEN.as_bytes()), "{} has the address", path.display());
        }
    }
}

fn has(content: &[u8], word: &[u8]) -> bool {
    content.windows(word.len()).any(|window| window == word)
}

async fn channels_are_tried_out_once_a_minute(place: Place) {
    let mut mail = MailServer::start().await;
    let server = start(place, config(Some(&mail), &[20, 20])).await;
    let (hook, hook_url) = Receiver::start(&[]).await;
    let (slack, slack_url) = Receiver::start(&[]).await;
    webhook(&server, &hook_url).await;
    let channels = json!({"webhooks": true, "emails": ["ann@example.com"],
        "slack_url": slack_path(&slack_url)});
    let path = make(&server, spending_rule(channels)).await;
    let (status, sent) = server.post(&format!("{path}/test"), json!({})).await;
    assert_eq!((status, &sent["notifications"]), (202, &json!(3)), "{sent}");
    // Before what was sent is waited for, which can take as long as it likes.
    let (status, problem) = server.post(&format!("{path}/test"), json!({})).await;
    assert_eq!(status, 429, "{problem}");
    let letter = mail.next().await;
    assert!(letter.text.contains("This is a test of"), "{letter:?}");
    let got = hook.wait(1).await.remove(0).json();
    assert_eq!((&got["type"], &got["data"]["news"]), (&json!("alert.firing"), &json!("test")));
    assert!(slack.wait(1).await[0].json()["text"].as_str().unwrap().contains("Test"));
    let (_, alert) = server.get(&path).await;
    assert_ne!(alert["state"], "firing", "{alert}");

    let mut silent = spending_rule(json!({}));
    silent["name"] = json!("silent");
    let silent = make(&server, silent).await;
    let (status, problem) = server.post(&format!("{silent}/test"), json!({})).await;
    assert_eq!((status, &problem["code"]), (409, &json!("conflict")), "{problem}");
}

async fn nothing_is_sent_to_slack_at_private_addresses(place: Place) {
    let strict = config(None, &[]);
    let strict = fullbench_server::ServerConfig { allow_private_webhooks: false, ..strict };
    let server = start(place, strict).await;
    let (receiver, url) = Receiver::start(&[]).await;
    for wrong in [&url, "https://127.0.0.1/x", "https://169.254.169.254/", "http://example.com/x"] {
        let rule = spending_rule(json!({"slack_url": wrong}));
        let (status, problem) = server.post("/v1/alerts", rule).await;
        assert_eq!(status, 422, "{problem}");
        assert_eq!(problem["errors"][0]["field"], "channels.slack_url", "{problem}");
    }
    // A name is looked up when something is sent.
    let named = url.replace("http://127.0.0.1", "https://localhost");
    spend(&server, 9).await;
    let path = make(&server, spending_rule(json!({"slack_url": named}))).await;
    let tried = |list: &Value| list["notifications"][0]["status"] == "failed";
    let list = server.wait(&format!("{path}/notifications"), tried).await;
    let problem = list["notifications"][0]["problem"].as_str().unwrap();
    assert!(problem.contains("not one of the public internet"), "{problem}");
    assert!(receiver.got().is_empty());
}
