//! Who may change whom, and what follows from it.

use fullbench_store::{KeptSecret, MemberChange, NewApiKey};
use fullbench_types::{DEFAULT_ORGANIZATION, UserRole};
use serde_json::json;
use uuid::Uuid;

use crate::backend::{Place, on_every_backend};
use crate::browser::{Browser, person};
use crate::common::TestServer;

on_every_backend!(
    nobody_gives_or_changes_what_they_have_not,
    there_is_always_an_owner,
    an_owner_who_cannot_get_in_is_none,
    owners_cannot_remove_each_other_at_once,
    who_is_disabled_or_gone_is_out_at_once,
);

async fn nobody_gives_or_changes_what_they_have_not(place: Place) {
    let server = TestServer::start(place).await;
    let owner = person(&server, "owner@example.com", UserRole::Owner).await;
    person(&server, "admin@example.com", UserRole::Admin).await;
    let viewer = person(&server, "viewer@example.com", UserRole::Viewer).await;
    let mut admin = Browser::signed_in(&server, "admin@example.com").await;
    let members = admin.get("/v1/members").await.body;
    assert_eq!(members["members"].as_array().unwrap().len(), 4, "{members}");
    assert!(!members.to_string().contains("argon2"));
    let (of_owner, of_viewer) =
        (format!("/v1/members/{}", owner.id), format!("/v1/members/{}", viewer.id));
    for (method, path, body) in [
        ("PATCH", &of_viewer, Some(json!({"role": "owner"}))),
        ("PATCH", &of_owner, Some(json!({"role": "viewer"}))),
        ("PATCH", &of_owner, Some(json!({"disabled": true}))),
        ("DELETE", &of_owner, None),
    ] {
        let refused = admin.send(method, path, body).await;
        assert_eq!(refused.status, 403, "{method}: {}", refused.body);
    }
    let changed = admin.send("PATCH", &of_viewer, Some(json!({"role": "engineer"}))).await;
    assert_eq!((changed.status, &changed.body["role"]), (200, &json!("engineer")));
    let mut engineer = Browser::signed_in(&server, "viewer@example.com").await;
    let refused = engineer.send("PATCH", &of_viewer, Some(json!({"role": "engineer"}))).await;
    assert_eq!(refused.status, 403, "engineers change nobody");
    let invited = json!({"email": "new@example.com", "role": "owner"});
    assert_eq!(admin.post("/v1/invitations", invited).await.status, 403);
    let unknown = format!("/v1/members/{}", Uuid::now_v7());
    assert_eq!(admin.send("DELETE", &unknown, None).await.status, 404);
}

async fn there_is_always_an_owner(place: Place) {
    let server = TestServer::start(place).await;
    let owner = server.store.scoped(DEFAULT_ORGANIZATION).users().await.unwrap().remove(0);
    let path = format!("/v1/members/{}", owner.id);
    for (method, body) in [
        ("PATCH", Some(json!({"role": "admin"}))),
        ("PATCH", Some(json!({"disabled": true}))),
        ("DELETE", None),
    ] {
        let request = server.request(method, &path);
        let request = match &body {
            Some(body) => crate::common::with_json(request, body),
            None => request,
        };
        let (status, refused) = crate::common::answer(request).await;
        assert_eq!(status, 409, "{method} {body:?}: {refused}");
        assert!(refused["detail"].as_str().unwrap().contains("last owner"), "{refused}");
    }
    let other = person(&server, "other@example.com", UserRole::Owner).await;
    let of_other = format!("/v1/members/{}", other.id);
    let (status, _) = server.patch(&of_other, json!({"disabled": true})).await;
    assert_eq!(status, 200);
    let (status, _) = server.patch(&path, json!({"role": "admin"})).await;
    assert_eq!(status, 409, "an owner who is disabled is none");
    let (status, _) = server.patch(&of_other, json!({"disabled": false})).await;
    assert_eq!(status, 200);
    assert_eq!(server.patch(&path, json!({"role": "admin"})).await.0, 200);
}

async fn an_owner_who_cannot_get_in_is_none(place: Place) {
    let server = TestServer::start(place).await;
    let store = server.store.scoped(DEFAULT_ORGANIZATION);
    let first = store.users().await.unwrap().remove(0);
    let owner = person(&server, "owner@example.com", UserRole::Owner).await;
    let mut browser = Browser::signed_in(&server, "owner@example.com").await;
    let path = format!("/v1/members/{}", owner.id);
    let demoted = || Some(json!({"role": "viewer"}));
    // Whoever made the organization has no password, and nothing but a key.
    for key in store.api_keys().await.unwrap() {
        store.revoke_api_key(key.id).await.unwrap();
    }
    for (method, body) in
        [("PATCH", demoted()), ("PATCH", Some(json!({"disabled": true}))), ("DELETE", None)]
    {
        let refused = browser.send(method, &path, body).await;
        assert_eq!(refused.status, 409, "{method}: {}", refused.body);
    }
    crate::common::key_of(&store, Some(first.id), UserRole::Owner).await;
    assert_eq!(browser.send("PATCH", &path, demoted()).await.status, 200);
}

async fn owners_cannot_remove_each_other_at_once(place: Place) {
    let server = TestServer::start(place).await;
    let store = server.store.scoped(DEFAULT_ORGANIZATION);
    for _ in 0..5 {
        let first = store.users().await.unwrap().remove(0);
        let second =
            person(&server, &format!("{}@example.com", Uuid::now_v7()), UserRole::Owner).await;
        let demoted = MemberChange { role: Some(UserRole::Viewer), disabled: None };
        let (one, other) =
            tokio::join!(store.change_member(&first, demoted), store.remove_member(&second));
        assert!(one.is_ok() != other.is_ok(), "{one:?} {other:?}");
        let people = store.users().await.unwrap();
        let owners: Vec<_> = people.iter().filter(|one| one.role == UserRole::Owner).collect();
        assert_eq!(owners.len(), 1, "{people:?}");
        if let Ok(demoted) = one {
            // So that the next round begins with one owner, who comes first.
            let change = MemberChange { role: Some(UserRole::Owner), disabled: None };
            store.change_member(&demoted, change).await.unwrap();
            store.remove_member(&second).await.unwrap();
        }
    }
}

async fn who_is_disabled_or_gone_is_out_at_once(place: Place) {
    let server = TestServer::start(place).await;
    let store = server.store.scoped(DEFAULT_ORGANIZATION);
    for (number, method, body) in
        [(1, "PATCH", Some(json!({"disabled": true}))), (2, "DELETE", None)]
    {
        let email = format!("ann{number}@example.com");
        let ann = person(&server, &email, UserRole::Engineer).await;
        let mut browser = Browser::signed_in(&server, &email).await;
        let made = browser.post("/v1/api-keys", json!({"name": "mine"})).await;
        assert_eq!(made.status, 201, "{}", made.body);
        let key = made.body["key"].as_str().unwrap().to_owned();
        let by_key = async || {
            let client = reqwest::Client::builder().no_proxy().build().unwrap();
            let request = client.get(format!("{}/v1/organization", server.url)).bearer_auth(&key);
            request.send().await.unwrap().status().as_u16()
        };
        assert_eq!(by_key().await, 200);
        assert_eq!(browser.get("/v1/session").await.status, 200);
        let mut request = server.request(method, &format!("/v1/members/{}", ann.id));
        if let Some(body) = &body {
            request = crate::common::with_json(request, body);
        }
        let (status, _) = crate::common::answer(request).await;
        assert!([200, 204].contains(&status), "{status}");
        assert_eq!(browser.get("/v1/session").await.status, 401);
        assert_eq!(by_key().await, 401);
        assert!(store.sessions_of(ann.id).await.unwrap().is_empty());
        // Nor does a key of theirs that nobody revoked by name open anything after a look into the database.
        let kept = store.api_keys().await.unwrap();
        let kept = kept.into_iter().find(|key| key.name == "mine").unwrap();
        assert!(kept.revoked_at.is_some() || kept.user.is_some());
    }
    let orphan = NewApiKey {
        id: Uuid::now_v7(),
        name: "service".to_owned(),
        user: None,
        role: UserRole::Viewer,
        scopes: None,
        requests_per_minute: None,
        expires_at: None,
        created_by: None,
        secret: KeptSecret { prefix: "fb_".to_owned(), hash: "h".to_owned() },
    };
    let service = store.add_api_key(orphan).await.unwrap();
    assert!(service.revoked_at.is_none(), "keys of services stay");
}
