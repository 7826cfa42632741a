//! Signing in: what is wrong is never said, and trying is made slow.

use argon2::password_hash::PasswordHasher;
use argon2::password_hash::phc::PasswordHash as Phc;
use argon2::{Algorithm, Argon2, Params, Version};
use fullbench_server::password_hash;
use fullbench_store::{MemberChange, NewOrganization, NewUser, PasswordHash};
use fullbench_types::{DEFAULT_ORGANIZATION, Plan, UserRole};
use serde_json::json;

use crate::backend::{Place, on_every_backend};
use crate::browser::{Browser, PASSWORD, person};
use crate::common::TestServer;

on_every_backend!(
    nobody_learns_who_has_an_account,
    an_account_is_locked_alike_whether_it_exists_or_not,
    an_address_is_counted_in_all_organizations_together,
    tries_at_the_same_time_are_counted_too,
    a_network_is_locked_across_accounts,
    who_belongs_to_several_says_to_which,
    a_weaker_hash_is_made_anew,
);

/// Ends all waits, as time would.
async fn wait_is_over(server: &TestServer) {
    server.place.execute("UPDATE sign_in_failures SET locked_until = 1").await.unwrap();
}

async fn nobody_learns_who_has_an_account(place: Place) {
    let server = TestServer::start(place).await;
    let store = server.store.scoped(DEFAULT_ORGANIZATION);
    person(&server, "ann@example.com", UserRole::Viewer).await;
    let gone = person(&server, "gone@example.com", UserRole::Viewer).await;
    let disabled = MemberChange { disabled: Some(true), role: None };
    store.change_member(&gone, disabled).await.unwrap();
    let mut answers = Vec::new();
    for (email, password) in [
        ("nobody@example.com", PASSWORD),
        ("ann@example.com", "wrong password"),
        ("gone@example.com", PASSWORD),
        ("owner@localhost", PASSWORD),
        ("not an address", PASSWORD),
    ] {
        let answer = Browser::new(&server).sign_in(email, password).await;
        assert_eq!(answer.status, 401, "{email}");
        assert!(answer.header("set-cookie").is_none());
        answers.push(answer.problem());
    }
    assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{answers:?}");
    let longer = "x".repeat(2000);
    assert_eq!(Browser::new(&server).sign_in("ann@example.com", &longer).await.status, 401);
}

async fn an_account_is_locked_alike_whether_it_exists_or_not(place: Place) {
    let server = TestServer::start(place).await;
    person(&server, "ann@example.com", UserRole::Viewer).await;
    let mut locked = Vec::new();
    for email in ["ann@example.com", "nobody@example.com"] {
        let mut eve = Browser::new(&server);
        for _ in 0..5 {
            assert_eq!(eve.sign_in(email, "wrong password").await.status, 401);
        }
        let refused = eve.sign_in(email, PASSWORD).await;
        assert_eq!(refused.status, 429, "even with the right password: {}", refused.body);
        let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=11).contains(&wait), "{wait}");
        let other = email.replace("example", "other");
        assert_eq!(eve.sign_in(&other, PASSWORD).await.status, 401, "others are not locked");
        wait_is_over(&server).await;
        assert_eq!(eve.sign_in(email, "wrong password").await.status, 401);
        let refused = eve.sign_in(email, "wrong password").await;
        let longer: u64 = refused.header("retry-after").unwrap().parse().unwrap();
        assert!((12..=21).contains(&longer), "the wait doubles: {longer}");
        wait_is_over(&server).await;
        let mut problem = refused.problem();
        problem["hint"] = json!(null);
        locked.push(problem);
    }
    assert_eq!(locked[0], locked[1]);
    let mut ann = Browser::new(&server);
    assert_eq!(ann.sign_in("ann@example.com", PASSWORD).await.status, 201);
    for _ in 0..4 {
        assert_eq!(ann.sign_in("ann@example.com", "wrong password").await.status, 401);
    }
    let forgiven = ann.sign_in("ann@example.com", PASSWORD).await;
    assert_eq!(forgiven.status, 201, "what went wrong before is forgotten: {}", forgiven.body);
}

/// Whoever has an account with the same address elsewhere guesses no more often by it, nor forgets failures by succeeding there.
async fn an_address_is_counted_in_all_organizations_together(place: Place) {
    let server = TestServer::start(place).await;
    person(&server, "ann@example.com", UserRole::Viewer).await;
    let other = server.as_other_organization().await;
    let elsewhere = server.store.scoped(other.organization);
    let password = Some(password_hash(PASSWORD, "ann@example.com").unwrap());
    let (email, name) = ("ann@example.com".to_owned(), "Eve".to_owned());
    elsewhere.add_user(NewUser { email, name, role: UserRole::Viewer, password }).await.unwrap();
    let slug = elsewhere.organization_record().await.unwrap().slug;
    let mut eve = Browser::new(&server);
    let mut sign_in = async |organization: Option<&str>, password: &str| {
        let shown = json!({"email": "ann@example.com", "password": password,
            "organization": organization});
        eve.post("/v1/session", shown).await.status
    };
    for _ in 0..4 {
        assert_eq!(sign_in(Some("default"), "wrong password").await, 401);
    }
    assert_eq!(sign_in(Some(&slug), PASSWORD).await, 201, "their own account");
    for organization in [None, None, None, None, Some("unknown"), Some("unknown")] {
        assert_eq!(sign_in(organization, "wrong password").await, 401);
    }
    assert_eq!(sign_in(Some(&slug), PASSWORD).await, 429, "the address has failed ten times");
}

async fn tries_at_the_same_time_are_counted_too(place: Place) {
    let server = TestServer::start(place).await;
    person(&server, "ann@example.com", UserRole::Viewer).await;
    let tries = (0..20).map(|number| {
        let mut eve = Browser::new(&server);
        async move { eve.sign_in("ann@example.com", &format!("guess number {number}")).await.status }
    });
    let statuses = futures::future::join_all(tries).await;
    let compared = statuses.iter().filter(|status| **status == 401).count();
    assert_eq!(compared, 5, "{statuses:?}");
}

async fn a_network_is_locked_across_accounts(place: Place) {
    let server = TestServer::start(place).await;
    person(&server, "ann@example.com", UserRole::Viewer).await;
    let mut eve = Browser::new(&server);
    for number in 0..49 {
        let email = format!("person{number}@example.com");
        assert_eq!(eve.sign_in(&email, PASSWORD).await.status, 401, "{number}");
    }
    assert_eq!(eve.sign_in("ann@example.com", PASSWORD).await.status, 201, "not yet locked");
    assert_eq!(eve.sign_in("bob@example.com", PASSWORD).await.status, 401);
    let refused = eve.sign_in("carl@example.com", PASSWORD).await;
    assert_eq!(refused.status, 429, "an own account forgives nothing to the network");
}

async fn who_belongs_to_several_says_to_which(place: Place) {
    let server = TestServer::start(place).await;
    person(&server, "ann@example.com", UserRole::Viewer).await;
    let new =
        NewOrganization { name: "Other".to_owned(), slug: "other".to_owned(), plan: Plan::Free };
    let other = server.store.create_organization(new).await.unwrap();
    let mut ann = Browser::new(&server);
    assert_eq!(ann.sign_in("ann@example.com", PASSWORD).await.status, 201, "she is in one only");
    let password = "another long password";
    let new = NewUser {
        email: "ann@example.com".to_owned(),
        name: "Ann".to_owned(),
        role: UserRole::Owner,
        password: Some(fullbench_server::password_hash(password, "").unwrap()),
    };
    server.store.scoped(other.id).add_user(new).await.unwrap();
    for password in [PASSWORD, password] {
        assert_eq!(ann.sign_in("ann@example.com", password).await.status, 401);
    }
    let mut shown =
        json!({"email": "ann@example.com", "password": password, "organization": "other"});
    let signed_in = ann.sign_in_with(shown.clone()).await;
    assert_eq!(signed_in.body["organization"]["slug"], "other", "{}", signed_in.body);
    shown["organization"] = json!("default");
    assert_eq!(ann.sign_in_with(shown.clone()).await.status, 401);
    shown["organization"] = json!("unknown");
    assert_eq!(ann.sign_in_with(shown).await.status, 401);
}

async fn a_weaker_hash_is_made_anew(place: Place) {
    let server = TestServer::start(place).await;
    let ann = person(&server, "ann@example.com", UserRole::Viewer).await;
    let store = server.store.scoped(DEFAULT_ORGANIZATION);
    let weak = Params::new(8 * 1024, 1, 1, None).unwrap();
    let weak = Argon2::new(Algorithm::Argon2id, Version::V0x13, weak);
    let hash: Phc = weak.hash_password_with_salt(PASSWORD.as_bytes(), &[1; 16]).unwrap();
    let old = PasswordHash::new(hash.to_string());
    store.set_password(ann.id, old.clone()).await.unwrap();
    let mut browser = Browser::signed_in(&server, "ann@example.com").await;
    let new = store.credentials(ann.id).await.unwrap().password.unwrap();
    assert!(new.phc().contains("m=19456,t=2,p=1"), "the parameters are those of today");
    assert_eq!(browser.sign_in("ann@example.com", PASSWORD).await.status, 201);
    let shown = format!("{:?}", store.credentials(ann.id).await.unwrap());
    assert!(!shown.contains("argon2id"), "{shown}");
}
