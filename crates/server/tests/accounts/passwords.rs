//! Changing a password, and setting a new one for who forgot theirs.

use std::time::Duration;

use fullbench_server::{MailConfig, ServerConfig, password_hash};
use fullbench_store::{NewSession, UserRecord};
use fullbench_types::{DEFAULT_ORGANIZATION, UserRole};
use jiff::Timestamp;
use serde_json::json;
use uuid::Uuid;

use crate::backend::{Place, on_every_backend};
use crate::browser::{Browser, PASSWORD, person};
use crate::common::TestServer;
use crate::common::mail::{MailServer, token_of};

on_every_backend!(
    a_sign_in_from_before_a_new_password_opens_nothing,
    a_changed_password_ends_the_other_sessions,
    a_forgotten_password_is_set_once_by_mail,
    guessing_the_old_password_is_counted,
);

const EMAIL: &str = "ann@example.com";
const NEW: &str = "an entirely new password";

async fn a_changed_password_ends_the_other_sessions(place: Place) {
    let server = TestServer::start(place).await;
    person(&server, EMAIL, UserRole::Viewer).await;
    let mut here = Browser::signed_in(&server, EMAIL).await;
    let mut elsewhere = Browser::signed_in(&server, EMAIL).await;
    assert_eq!(elsewhere.get("/v1/session").await.status, 200);
    let path = "/v1/account/password";
    let wrong = here.post(path, json!({"old_password": "not this one", "password": NEW})).await;
    assert_eq!((wrong.status, &wrong.body["errors"][0]["field"]), (422, &json!("old_password")));
    for bad in ["short", EMAIL] {
        let refused = here.post(path, json!({"old_password": PASSWORD, "password": bad})).await;
        assert_eq!(
            (refused.status, &refused.body["errors"][0]["field"]),
            (422, &json!("password"))
        );
    }
    let changed = here.post(path, json!({"old_password": PASSWORD, "password": NEW})).await;
    assert_eq!(changed.status, 204, "{}", changed.body);
    assert_eq!(here.get("/v1/session").await.status, 200);
    assert_eq!(elsewhere.get("/v1/session").await.status, 401);
    assert_eq!(elsewhere.sign_in(EMAIL, PASSWORD).await.status, 401);
    assert_eq!(elsewhere.sign_in(EMAIL, NEW).await.status, 201);
    let renamed = here.send("PATCH", "/v1/account", Some(json!({"name": " Anna "}))).await;
    assert_eq!(renamed.body["name"], "Anna", "{}", renamed.body);
    assert_eq!(here.get("/v1/session").await.body["user"]["name"], "Anna");
}

async fn guessing_the_old_password_is_counted(place: Place) {
    let server = TestServer::start(place).await;
    person(&server, EMAIL, UserRole::Viewer).await;
    let mut thief = Browser::signed_in(&server, EMAIL).await;
    let guess = json!({"old_password": "a wrong guess", "password": NEW});
    for _ in 0..5 {
        assert_eq!(thief.post("/v1/account/password", guess.clone()).await.status, 422);
    }
    let right = json!({"old_password": PASSWORD, "password": NEW});
    assert_eq!(thief.post("/v1/account/password", right).await.status, 429);
}

async fn a_forgotten_password_is_set_once_by_mail(place: Place) {
    let mut mail = MailServer::start().await;
    let config = ServerConfig {
        mail: Some(MailConfig {
            url: mail.url.clone(),
            from: "Fullbench <bench@example.com>".to_owned(),
        }),
        public_url: Some("https://bench.example.com/".parse().unwrap()),
        ..ServerConfig::default()
    };
    let server = TestServer::start_with(place, config).await;
    person(&server, EMAIL, UserRole::Viewer).await;
    let mut ann = Browser::signed_in(&server, EMAIL).await;
    let mut anybody = Browser::new(&server);
    let path = "/v1/password-resets";
    let unknown = anybody.post(path, json!({"email": "nobody@example.com"})).await;
    let first = anybody.post(path, json!({"email": EMAIL})).await;
    assert_eq!((unknown.status, first.status), (202, 202));
    assert_eq!(unknown.body, first.body);
    let letter = mail.next().await;
    assert_eq!(letter.to, [EMAIL], "and none to who has no account");
    assert!(letter.text.contains("https://bench.example.com/password#token=fbr_"), "{letter:?}");
    let old = token_of(&letter);
    anybody.post(path, json!({"email": EMAIL})).await;
    let token = token_of(&mail.next().await);
    assert_ne!(old, token);
    let complete = "/v1/password-resets/complete";
    let set = |token: &str| json!({"token": token, "password": NEW});
    let short = anybody.post(complete, json!({"token": token, "password": "short"})).await;
    assert_eq!(short.status, 422);
    assert_eq!(anybody.post(complete, set("fbr_0")).await.status, 404);
    assert_eq!(ann.get("/v1/session").await.status, 200);
    assert_eq!(anybody.post(complete, set(&token)).await.status, 204);
    assert_eq!(ann.get("/v1/session").await.status, 401, "all sessions end");
    assert_eq!(anybody.post(complete, set(&token)).await.status, 404, "a token is used once");
    assert_eq!(anybody.post(complete, set(&old)).await.status, 404, "and so are older ones");
    assert_eq!(anybody.sign_in(EMAIL, PASSWORD).await.status, 401);
    assert_eq!(anybody.sign_in(EMAIL, NEW).await.status, 201);

    anybody.post(path, json!({"email": EMAIL})).await;
    let token = token_of(&mail.next().await);
    server.place.execute("UPDATE password_resets SET expires_at = 1").await.unwrap();
    assert_eq!(anybody.post(complete, set(&token)).await.status, 404, "in time");
    for _ in 0..6 {
        assert_eq!(anybody.post(path, json!({"email": EMAIL})).await.status, 202);
    }
    for _ in 0..2 {
        assert_eq!(mail.next().await.to, [EMAIL]);
    }
    let moment = Duration::from_secs(3);
    let more = tokio::time::timeout(moment, mail.next()).await;
    assert!(more.is_err(), "nobody's mailbox is filled");

    let invited = json!({"email": "bob@example.com", "role": "viewer"});
    let (status, made) = server.post("/v1/invitations", invited).await;
    assert_eq!(status, 201, "{made}");
    assert!(made["is_mailed"] == true && made["token"].is_null() && made["link"].is_null());
    let letter = mail.next().await;
    assert_eq!(letter.to, ["bob@example.com"]);
    let accepted = json!({"token": token_of(&letter), "name": "Bob", "password": NEW});
    assert_eq!(anybody.post("/v1/invitations/accept", accepted).await.status, 201);
}

/// Who showed the old password a moment before it was changed is neither let in afterwards, nor changes it back.
async fn a_sign_in_from_before_a_new_password_opens_nothing(place: Place) {
    let server = TestServer::start(place).await;
    let store = server.store.scoped(DEFAULT_ORGANIZATION);
    let before = person(&server, EMAIL, UserRole::Engineer).await;
    let session = |person: &UserRecord| NewSession {
        id: Uuid::now_v7(),
        user: person.id,
        password_set_at: person.password_set_at,
        token_hash: Uuid::now_v7().to_string(),
        from_address: None,
        user_agent: None,
        expires_at: Timestamp::now() + Duration::from_secs(60),
    };
    let hash = || password_hash(NEW, EMAIL).unwrap();
    store.set_password(before.id, hash()).await.unwrap();
    assert_eq!(store.start_session(session(&before)).await.unwrap(), None);
    assert!(!store.change_password(&before, hash(), Uuid::now_v7()).await.unwrap());
    let now = store.user(before.id).await.unwrap();
    assert!(store.start_session(session(&now)).await.unwrap().is_some());
    assert!(store.change_password(&now, hash(), Uuid::now_v7()).await.unwrap());
}
