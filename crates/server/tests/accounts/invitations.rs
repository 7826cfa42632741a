//! Invitations: accepted once, in time, by whoever has the token.

use fullbench_types::{DEFAULT_ORGANIZATION, UserRole};
use serde_json::{Value, json};

use crate::backend::{Place, on_every_backend};
use crate::browser::{Browser, PASSWORD, person};
use crate::common::{TestServer, answer, with_json};

on_every_backend!(
    an_invitation_is_accepted_once,
    what_holds_no_more_is_refused,
    nobody_is_written_to_again_and_again,
    an_invitation_ends_with_its_maker,
    who_comes_in_is_noted,
);

fn acceptance(token: &Value) -> Value {
    json!({"token": token, "name": "New", "password": PASSWORD})
}

async fn invited(server: &TestServer, email: &str) -> Value {
    let (status, made) =
        server.post("/v1/invitations", json!({"email": email, "role": "engineer"})).await;
    assert_eq!(status, 201, "{made}");
    assert_eq!(made["is_mailed"], false);
    made
}

async fn an_invitation_is_accepted_once(place: Place) {
    let server = TestServer::start(place).await;
    let made = invited(&server, "New@Example.com").await;
    let token = made["token"].as_str().unwrap();
    assert!(server.store.invitation_of_hash(token).await.unwrap().is_none(), "only the hash");
    let (_, list) = server.get("/v1/invitations").await;
    assert!(!list.to_string().contains(token), "the token is shown once");
    let mut anybody = Browser::new(&server);
    let accept = "/v1/invitations/accept";
    let short = json!({"token": token, "name": "New", "password": "short"});
    assert_eq!(anybody.post(accept, short).await.status, 422);
    let address = json!({"token": token, "name": "New", "password": "new@example.com"});
    assert_eq!(anybody.post(accept, address).await.status, 422);
    let tries = (0..4).map(|_| {
        let mut browser = Browser::new(&server);
        let acceptance = acceptance(&made["token"]);
        async move { browser.post(accept, acceptance).await.status }
    });
    let mut statuses = futures::future::join_all(tries).await;
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 404, 404, 404], "however many at once");
    assert_eq!(anybody.post(accept, acceptance(&made["token"])).await.status, 404);
    let signed_in = anybody.sign_in("new@example.com", PASSWORD).await;
    assert_eq!(signed_in.body["user"]["role"], "engineer", "{}", signed_in.body);
    let again = json!({"email": "new@example.com", "role": "viewer"});
    assert_eq!(server.post("/v1/invitations", again).await.0, 409);
}

async fn what_holds_no_more_is_refused(place: Place) {
    let server = TestServer::start(place).await;
    let mut anybody = Browser::new(&server);
    let accept = "/v1/invitations/accept";
    let revoked = invited(&server, "a@example.com").await;
    let path = format!("/v1/invitations/{}", revoked["invitation_id"].as_str().unwrap());
    assert_eq!(server.delete(&path).await.0, 200);
    assert_eq!(anybody.post(accept, acceptance(&revoked["token"])).await.status, 404);
    let first = invited(&server, "b@example.com").await;
    let second = invited(&server, "b@example.com").await;
    assert_eq!(anybody.post(accept, acceptance(&first["token"])).await.status, 404);
    server.place.execute("UPDATE invitations SET expires_at = 1").await.unwrap();
    assert_eq!(anybody.post(accept, acceptance(&second["token"])).await.status, 404);
    assert_eq!(anybody.post(accept, acceptance(&json!("fbi_0"))).await.status, 404);
    let people = server.store.scoped(DEFAULT_ORGANIZATION).users().await.unwrap();
    assert_eq!(people.len(), 1, "{people:?}");

    person(&server, "admin@example.com", UserRole::Admin).await;
    let (_, of_owner) =
        server.post("/v1/invitations", json!({"email": "c@example.com", "role": "owner"})).await;
    let mut admin = Browser::signed_in(&server, "admin@example.com").await;
    let path = format!("/v1/invitations/{}", of_owner["invitation_id"].as_str().unwrap());
    assert_eq!(admin.send("DELETE", &path, None).await.status, 403);

    let request = || {
        let request = server.request("POST", "/v1/invitations").header("idempotency-key", "k1");
        with_json(request, &json!({"email": "d@example.com", "role": "viewer"}))
    };
    let (status, made) = answer(request()).await;
    assert!(status == 201 && made["token"].is_string(), "{made}");
    let (status, again) = answer(request()).await;
    assert!(status == 201 && again["token"].is_null(), "the token is not kept: {again}");
}

async fn nobody_is_written_to_again_and_again(place: Place) {
    let server = TestServer::start(place).await;
    for _ in 0..10 {
        invited(&server, "a@example.com").await;
    }
    let again = json!({"email": "A@example.com", "role": "viewer"});
    let (status, problem) = server.post("/v1/invitations", again.clone()).await;
    assert_eq!(status, 429, "{problem}");
    let at_once = (0..20).map(|_| {
        let new = json!({"email": "b@example.com", "role": "viewer"});
        server.post("/v1/invitations", new)
    });
    let answers = futures::future::join_all(at_once).await;
    let made = answers.iter().filter(|(status, _)| *status == 201).count();
    assert_eq!(made, 10, "however many at once: {answers:?}");
    invited(&server, "c@example.com").await;
    let sql = "UPDATE invitations SET created_at = created_at - 3600001";
    server.place.execute(sql).await.unwrap();
    assert_eq!(server.post("/v1/invitations", again).await.0, 201);
}

async fn an_invitation_ends_with_its_maker(place: Place) {
    let server = TestServer::start(place).await;
    let accept = "/v1/invitations/accept";
    let mut anybody = Browser::new(&server);
    let member = person(&server, "admin@example.com", UserRole::Admin).await;
    let mut admin = Browser::signed_in(&server, "admin@example.com").await;
    let mut invite = async |email: &str, role: &str| {
        let made = admin.post("/v1/invitations", json!({"email": email, "role": role})).await;
        assert_eq!(made.status, 201, "{}", made.body);
        made.body["token"].clone()
    };
    let (high, low) =
        (invite("a@example.com", "admin").await, invite("b@example.com", "viewer").await);
    let later = invite("c@example.com", "viewer").await;
    let path = format!("/v1/members/{}", member.id);
    assert_eq!(server.patch(&path, json!({"role": "engineer"})).await.0, 200);
    assert_eq!(anybody.post(accept, acceptance(&high)).await.status, 404, "they are no admin");
    assert_eq!(anybody.post(accept, acceptance(&low)).await.status, 201);
    assert_eq!(server.delete(&path).await.0, 204);
    assert_eq!(anybody.post(accept, acceptance(&later)).await.status, 404, "they are gone");

    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let invite = async |key: &Value, email: &str, role: &str| {
        let request = client.post(format!("{}/v1/invitations", server.url));
        let request = request.bearer_auth(key["key"].as_str().unwrap());
        let (status, made) =
            answer(with_json(request, &json!({"email": email, "role": role}))).await;
        assert_eq!(status, 201, "{made}");
        made["token"].clone()
    };
    let (_, key) = server.post("/v1/api-keys", json!({"name": "k", "role": "admin"})).await;
    let token = invite(&key, "d@example.com", "viewer").await;
    let path = format!("/v1/api-keys/{}", key["api_key_id"].as_str().unwrap());
    assert_eq!(server.delete(&path).await.0, 200);
    assert_eq!(anybody.post(accept, acceptance(&token)).await.status, 404, "the key is revoked");

    let member = person(&server, "second@example.com", UserRole::Admin).await;
    let mut admin = Browser::signed_in(&server, "second@example.com").await;
    let key = admin.post("/v1/api-keys", json!({"name": "own", "role": "admin"})).await.body;
    let (high, low) = (
        invite(&key, "e@example.com", "admin").await,
        invite(&key, "f@example.com", "viewer").await,
    );
    let path = format!("/v1/members/{}", member.id);
    assert_eq!(server.patch(&path, json!({"role": "engineer"})).await.0, 200);
    let refused = anybody.post(accept, acceptance(&high)).await.status;
    assert_eq!(refused, 404, "whose key it was is no admin");
    assert_eq!(server.patch(&path, json!({"disabled": true})).await.0, 200);
    let refused = anybody.post(accept, acceptance(&low)).await.status;
    assert_eq!(refused, 404, "whose key it was may do nothing");
}

async fn who_comes_in_is_noted(place: Place) {
    let server = TestServer::start(place).await;
    let made = invited(&server, "new@example.com").await;
    let mut anybody = Browser::new(&server);
    let accepted = anybody.post("/v1/invitations/accept", acceptance(&made["token"])).await;
    assert_eq!(accepted.status, 201, "{}", accepted.body);
    assert_eq!(anybody.sign_in("new@example.com", PASSWORD).await.status, 201);
    let noted = |action: &str, entries: &Value| -> Vec<Value> {
        let entries = entries["entries"].as_array().unwrap().iter();
        entries.filter(|entry| entry["action"] == action).cloned().collect()
    };
    // The end is noted after the answer.
    let log = server
        .wait("/v1/audit-log", |entries| noted("accept_invitation", entries).len() == 2)
        .await;
    let [done, asked] = &noted("accept_invitation", &log)[..] else { panic!("{log}") };
    assert_eq!((&asked["phase"], &done["phase"]), (&json!("asked"), &json!("done")));
    assert_eq!(done["actor"], "user:new@example.com");
    assert_eq!(done["target"], made["invitation_id"]);
    assert_eq!(done["after"]["email"], "new@example.com", "{done}");
    assert!(done["from_address"].is_string() && done["request_id"].is_string(), "{done}");
    let invitation = &noted("invite", &log)[0];
    assert_eq!(invitation["after"]["role"], "engineer", "{invitation}");
    assert!(!log.to_string().contains(made["token"].as_str().unwrap()), "no token");
    let sign_in = &noted("sign_in", &log)[0];
    assert!(sign_in["request_id"].is_string(), "{sign_in}");
}
