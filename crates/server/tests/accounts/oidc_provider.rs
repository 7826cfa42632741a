//! Signing in through a real issuer: `oidc-provider`, started by `scripts/oidc-issuer`, with its own pages.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Once;

use fullbench_server::{OidcConfig, ServerConfig};
use fullbench_types::UserRole;
use reqwest::{Client, Response, Url};

use crate::backend::{Place, on_every_backend};
use crate::browser::Browser;
use crate::common::TestServer;

on_every_backend!(a_browser_goes_to_a_real_issuer_and_comes_back);

/// Cookies of the issuer, by name.
type Cookies = BTreeMap<String, String>;

fn variable(name: &str) -> Option<String> {
    static TOLD: Once = Once::new();
    let value = std::env::var(name).ok();
    if value.is_none() {
        // Past the test harness, which keeps what a passing test prints to itself.
        let message = b"SKIPPED: the test with a real issuer: FULLBENCH_TEST_ISSUER is not set (scripts/oidc-issuer)\n";
        TOLD.call_once(|| std::io::stderr().write_all(message).unwrap());
    }
    value
}

async fn a_browser_goes_to_a_real_issuer_and_comes_back(place: Place) {
    let Some(issuer) = variable("FULLBENCH_TEST_ISSUER") else { return };
    let oidc = OidcConfig {
        client_secret: Some("fullbench-test-secret".to_owned()),
        default_role: Some(UserRole::Engineer),
        ..OidcConfig::new(issuer, "fullbench".to_owned(), "default".to_owned())
    };
    let config = ServerConfig {
        oidc: Some(oidc),
        // What the issuer knows; the test goes to where the server really is.
        public_url: Some("http://127.0.0.1:8787/".parse().unwrap()),
        ..ServerConfig::default()
    };
    let server = TestServer::start_with(place, config).await;
    let mut ann = Browser::new(&server);
    let sent = ann.get("/v1/session/oidc/start").await;
    assert_eq!(sent.status, 303, "{}", sent.body);
    let back = at_the_issuer(sent.header("location").unwrap().parse().unwrap()).await;
    assert_eq!(back.path(), "/v1/session/oidc/callback", "{back}");
    let path = format!("{}?{}", back.path(), back.query().unwrap());
    let answer = ann.get(&path).await;
    assert_eq!(answer.status, 303, "{}", answer.body);
    let session = ann.get("/v1/session").await.body;
    assert_eq!(session["user"]["email"], "ann@example.com", "{session}");
    assert_eq!(session["user"]["role"], "engineer");
}

/// Signs in and consents on the pages of the issuer, as somebody with a browser would.
async fn at_the_issuer(start: Url) -> Url {
    let client =
        Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    let (mut cookies, mut url) = (Cookies::new(), start);
    for _ in 0..20 {
        if url.port() == Some(8787) {
            return url;
        }
        let response = send(client.get(url.clone()), &mut cookies).await;
        if let Some(location) = response.headers().get("location") {
            url = url.join(location.to_str().unwrap()).unwrap();
            continue;
        }
        assert_eq!(response.status(), 200, "{url}");
        let page = response.text().await.unwrap();
        let form = if page.contains("name=\"login\"") {
            "prompt=login&login=ann&password=any"
        } else {
            "prompt=consent"
        };
        let request = client
            .post(url.clone())
            .header("content-type", "application/x-www-form-urlencoded")
            .body(form);
        let response = send(request, &mut cookies).await;
        let location = response.headers().get("location").expect("a form leads on");
        url = url.join(location.to_str().unwrap()).unwrap();
    }
    panic!("the issuer never sends the browser back");
}

async fn send(request: reqwest::RequestBuilder, cookies: &mut Cookies) -> Response {
    let sent: Vec<String> = cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let response = request.header("cookie", sent.join("; ")).send().await.unwrap();
    for line in response.headers().get_all("set-cookie") {
        let pair = line.to_str().unwrap().split(';').next().unwrap();
        let (name, value) = pair.split_once('=').unwrap();
        match value {
            "" => cookies.remove(name),
            value => cookies.insert(name.to_owned(), value.to_owned()),
        };
    }
    response
}
