//! Signing in through an issuer, and what somebody might send instead.

use fullbench_server::{OidcConfig, ServerConfig};
use fullbench_store::MemberChange;
use fullbench_types::{DEFAULT_ORGANIZATION, UserRole};
use serde_json::{Value, json};

use crate::backend::{Place, on_every_backend};
use crate::browser::{Answer, Browser, PASSWORD, person};
use crate::common::TestServer;
use crate::issuer::{CLIENT, FakeIssuer, forged, unsigned};

on_every_backend!(
    who_is_vouched_for_gets_in_and_is_known_again,
    what_is_not_right_is_refused,
    only_who_is_known_or_invited_gets_in,
);

async fn started(
    place: Place,
    change: impl FnOnce(OidcConfig) -> OidcConfig,
) -> (TestServer, FakeIssuer) {
    let issuer = FakeIssuer::start().await;
    let oidc = OidcConfig::new(issuer.url.clone(), CLIENT.to_owned(), "default".to_owned());
    let config = ServerConfig {
        oidc: Some(change(oidc)),
        public_url: Some("https://bench.example.com/".parse().unwrap()),
        ..ServerConfig::default()
    };
    (TestServer::start_with(place, config).await, issuer)
}

/// A browser on its way to the issuer, and what it was sent with.
struct OnTheWay {
    browser: Browser,
    state: String,
    nonce: String,
    challenge: String,
}

async fn on_the_way(server: &TestServer, issuer: &FakeIssuer) -> OnTheWay {
    let mut browser = Browser::new(server);
    let sent = browser.get("/v1/session/oidc/start").await;
    assert_eq!(sent.status, 303, "{}", sent.body);
    let location: reqwest::Url = sent.header("location").unwrap().parse().unwrap();
    assert!(location.as_str().starts_with(&format!("{}/authorize?", issuer.url)), "{location}");
    let value = |name: &str| {
        let found = location.query_pairs().find(|(key, _)| key == name);
        found.unwrap_or_else(|| panic!("no {name} in {location}")).1.into_owned()
    };
    assert_eq!(value("code_challenge_method"), "S256");
    assert_eq!(value("redirect_uri"), "https://bench.example.com/v1/session/oidc/callback");
    assert_eq!(value("scope"), "openid email profile");
    let (state, nonce, challenge) = (value("state"), value("nonce"), value("code_challenge"));
    let cookie = sent.header("set-cookie").unwrap();
    assert!(cookie.contains("HttpOnly") && !cookie.contains(&state), "{cookie}");
    OnTheWay { browser, state, nonce, challenge }
}

impl OnTheWay {
    async fn back(&mut self, code: &str, state: &str) -> Answer {
        let path = format!("/v1/session/oidc/callback?code={code}&state={state}");
        self.browser.get(&path).await
    }
}

/// Comes back with a token that says this.
async fn vouched(server: &TestServer, issuer: &FakeIssuer, change: Value) -> (Answer, Browser) {
    let mut way = on_the_way(server, issuer).await;
    let mut claims = issuer.claims(&way.nonce);
    for (name, value) in change.as_object().unwrap() {
        claims[name] = value.clone();
    }
    let code = issuer.code(issuer.signed(&claims), &way.challenge);
    let state = way.state.clone();
    let answer = way.back(&code, &state).await;
    (answer, way.browser)
}

async fn who_is_vouched_for_gets_in_and_is_known_again(place: Place) {
    let (server, issuer) =
        started(place, |oidc| OidcConfig { default_role: Some(UserRole::Viewer), ..oidc }).await;
    let (answer, mut ann) = vouched(&server, &issuer, json!({})).await;
    assert_eq!(answer.status, 303, "{}", answer.body);
    assert_eq!(answer.header("location"), Some("https://bench.example.com/"));
    let session = ann.get("/v1/session").await.body;
    assert_eq!(
        (&session["user"]["email"], &session["user"]["role"]),
        (&json!("ann@example.com"), &json!("viewer"))
    );
    let id = session["user"]["user_id"].clone();
    let moved = json!({"email": "other@elsewhere.example", "email_verified": false});
    let (answer, mut again) = vouched(&server, &issuer, moved).await;
    assert_eq!(answer.status, 303, "{}", answer.body);
    assert_eq!(again.get("/v1/session").await.body["user"]["user_id"], id, "by what never changes");
    let (answer, _) = vouched(&server, &issuer, json!({"sub": "subject-2"})).await;
    assert_eq!(answer.status, 401, "the address of somebody else's account: {}", answer.body);
    let mut eve = Browser::new(&server);
    assert_eq!(eve.sign_in("ann@example.com", PASSWORD).await.status, 401, "no password");
}

async fn what_is_not_right_is_refused(place: Place) {
    let (server, issuer) = started(place, |oidc| OidcConfig {
        default_role: Some(UserRole::Viewer),
        domains: vec!["example.com".to_owned()],
        ..oidc
    })
    .await;
    for wrong in [
        json!({"nonce": "another"}),
        json!({"nonce": null}),
        json!({"aud": "another client"}),
        json!({"aud": [CLIENT, "another client"]}),
        json!({"iss": "https://evil.example"}),
        json!({"exp": 1_000_000_000}),
        json!({"email_verified": false}),
        json!({"email_verified": null}),
        json!({"email": "ann@evil.example"}),
        json!({"email": null}),
    ] {
        let (answer, mut browser) = vouched(&server, &issuer, wrong.clone()).await;
        assert_eq!(answer.status, 401, "{wrong}: {}", answer.body);
        assert_eq!(browser.get("/v1/session").await.status, 401, "{wrong}");
    }
    for made in [forged, unsigned] {
        let mut way = on_the_way(&server, &issuer).await;
        let code = issuer.code(made(&issuer.claims(&way.nonce)), &way.challenge);
        let state = way.state.clone();
        assert_eq!(way.back(&code, &state).await.status, 401);
    }
    let mut way = on_the_way(&server, &issuer).await;
    let good = issuer.signed(&issuer.claims(&way.nonce));
    let code = issuer.code(good.clone(), &way.challenge);
    let cookie = way.browser.cookie.clone();
    let state = way.state.clone();
    let answer = way.back(&code, "another").await;
    assert_eq!(answer.status, 401, "the state of somebody else");
    assert_eq!(way.browser.cookie, None, "the way is used up");
    assert_eq!(way.back(&code, &state).await.status, 401, "without the cookie");
    let mut other = on_the_way(&server, &issuer).await;
    assert_eq!(other.back(&code, &state).await.status, 401, "with the cookie of another way");
    let mut intercepted = on_the_way(&server, &issuer).await;
    let stolen = issuer.code(good, &way.challenge);
    let own = intercepted.state.clone();
    let answer = intercepted.back(&stolen, &own).await;
    assert_eq!(answer.status, 401, "a stolen code has another challenge");
    way.browser.cookie = cookie.clone();
    let answer = way.back(&code, &state).await;
    assert_eq!(answer.status, 303, "{}", answer.body);
    way.browser.cookie = cookie;
    assert_eq!(way.back(&code, &state).await.status, 401, "a code is used once");
    let people = server.store.scoped(DEFAULT_ORGANIZATION).users().await.unwrap();
    assert_eq!(people.len(), 2, "the owner and the one who got in: {people:?}");
}

async fn only_who_is_known_or_invited_gets_in(place: Place) {
    let (server, issuer) = started(place, |oidc| oidc).await;
    let store = server.store.scoped(DEFAULT_ORGANIZATION);
    let (answer, _) = vouched(&server, &issuer, json!({})).await;
    assert_eq!(answer.status, 401, "{}", answer.body);
    let invited = json!({"email": "ann@example.com", "role": "engineer"});
    let (status, invitation) = server.post("/v1/invitations", invited).await;
    assert_eq!(status, 201, "{invitation}");
    let (answer, mut ann) = vouched(&server, &issuer, json!({})).await;
    assert_eq!(answer.status, 303, "{}", answer.body);
    assert_eq!(ann.get("/v1/session").await.body["user"]["role"], "engineer");
    let used = json!({"token": invitation["token"], "name": "Eve", "password": PASSWORD});
    assert_eq!(ann.post("/v1/invitations/accept", used).await.status, 404, "it is accepted");

    let bob = person(&server, "bob@example.com", UserRole::Admin).await;
    let claims = json!({"sub": "bob", "email": "bob@example.com"});
    let (answer, mut browser) = vouched(&server, &issuer, claims.clone()).await;
    assert_eq!(answer.status, 303, "{}", answer.body);
    assert_eq!(browser.get("/v1/session").await.body["user"]["user_id"], json!(bob.id));
    let disabled = MemberChange { disabled: Some(true), role: None };
    store.change_member(&bob, disabled).await.unwrap();
    let (answer, _) = vouched(&server, &issuer, claims).await;
    assert_eq!(answer.status, 401, "who is disabled is so for the issuer too");
}
