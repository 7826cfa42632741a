//! Secrets that others are sent, who repeat them in what they answer.

use serde_json::{Value, json};

use crate::MARK;
use crate::configured::Surroundings;
use crate::logged::Logged;
use crate::search::{Secret, given, secret};

/// What opens somebody's channel.
pub(crate) const SLACK: &str = "the address of a channel";

/// Tells an alert in a channel, goes to the issuer and back, and makes a webhook; gives the secrets in it.
pub(crate) fn outgoing(server: &mut Logged, around: &Surroundings) -> Vec<Secret> {
    [alert(server, around), issuer(server), webhooks(server)].concat()
}

fn alert(server: &mut Logged, around: &Surroundings) -> Vec<Secret> {
    let token = format!("{MARK}-slack-token");
    let alert = |url: &str| {
        Some(json!({"name": "spending", "kind": "spend", "threshold": 0.8,
            "channels": {"slack_url": url}}))
    };
    for wrong in [token.clone(), format!("ftp://example.com/{token}")] {
        assert_eq!(server.own("POST", "/v1/alerts", alert(&wrong)).0, 422);
    }
    let url = format!("{}/services/T00/B00/{token}", around.echo.url);
    let (status, made) = server.own("POST", "/v1/alerts", alert(&url));
    assert_eq!(status, 201, "{made}");
    let path = format!("/v1/alerts/{}", made["alert_id"].as_str().unwrap());
    assert_eq!(server.own("POST", &format!("{path}/test"), None).0, 202);
    let is_tried = |told: &Value| told["notifications"][0]["attempts"].as_u64() >= Some(1);
    server.wait(&format!("{path}/notifications"), is_tried);
    assert_eq!(server.own("GET", &path, None).0, 200);
    vec![secret(SLACK, token)]
}

/// The issuer takes the code for none, and says what it was sent.
fn issuer(server: &mut Logged) -> Vec<Secret> {
    let start = server.request("GET", "/v1/session/oidc/start", None);
    let sent = server.given(start);
    assert_eq!(sent.status, 303, "{}", sent.body);
    let header = |name: &str| sent.headers[name].to_str().unwrap();
    let (_, state) = header("location").split_once("&state=").unwrap();
    let state = state.split('&').next().unwrap();
    let cookie = header("set-cookie").split(';').next().unwrap();
    let code = format!("{MARK}-code");
    let path = format!("/v1/session/oidc/callback?code={code}&state={state}");
    let back = server.request("GET", &path, None).header("cookie", cookie);
    let answer = server.answer(back);
    assert_eq!(answer.status, 401, "{}", answer.body);
    vec![secret("a code of the issuer", code)]
}

fn webhooks(server: &mut Logged) -> Vec<Secret> {
    let password = format!("{MARK}-webhook-password");
    let webhook = |user: &str| {
        let url = format!("https://{user}hooks.example.com/");
        Some(json!({"url": url, "events": ["run.completed"]}))
    };
    let (status, _) = server.own("POST", "/v1/webhooks", webhook(&format!("user:{password}@")));
    assert_eq!(status, 422);
    let (status, made) = server.own("POST", "/v1/webhooks", webhook(""));
    assert_eq!(status, 201, "{made}");
    let path = format!("/v1/webhooks/{}/secret", made["webhook_id"].as_str().unwrap());
    let asked = server.request("GET", &path, None).bearer_auth(&server.key);
    let signed_with = server.given(asked).body["secret"].as_str().unwrap().to_owned();
    let path = "/v1/organization/webhook-secret";
    let asked = server.request("GET", path, None).bearer_auth(&server.key);
    let batches = server.given(asked).body["secret"].as_str().unwrap().to_owned();
    vec![
        secret("the password of a webhook", password),
        given("the secret of a webhook", &signed_with),
        given("the secret of webhooks of batches", &batches),
    ]
}
