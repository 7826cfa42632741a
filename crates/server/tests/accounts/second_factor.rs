//! Codes of an app, each taken once, and codes on paper.

use fullbench_types::{DEFAULT_ORGANIZATION, UserRole};
use serde_json::{Value, json};

use crate::backend::{Place, on_every_backend};
use crate::browser::{Browser, PASSWORD, person};
use crate::common::TestServer;
use crate::common::totp::code;

on_every_backend!(a_code_is_asked_for_and_taken_once, wrong_codes_are_counted);

const EMAIL: &str = "ann@example.com";

/// Gives somebody who is signed in a second factor: its secret, the code that confirmed it, and the codes on paper.
async fn confirmed(ann: &mut Browser) -> (String, String, Vec<String>) {
    let again = json!({"password": PASSWORD});
    let offered = ann.post("/v1/account/totp", again).await;
    assert_eq!(offered.status, 201, "{}", offered.body);
    assert_eq!(offered.header("cache-control"), Some("no-store"));
    let secret = offered.body["secret"].as_str().unwrap().to_owned();
    let uri = offered.body["otpauth_uri"].as_str().unwrap();
    assert!(uri.contains(&format!("secret={secret}")) && uri.starts_with("otpauth://totp/"));
    let confirm = "/v1/account/totp/confirm";
    let wrong = ann.post(confirm, json!({"totp_code": code(&secret, 50)})).await;
    assert_eq!(wrong.status, 422, "{}", wrong.body);
    let now = code(&secret, 0);
    let codes = ann.post(confirm, json!({"totp_code": now})).await;
    assert_eq!(codes.status, 200, "{}", codes.body);
    let codes = codes.body["recovery_codes"].as_array().unwrap().iter();
    (secret, now, codes.map(|code| code.as_str().unwrap().to_owned()).collect())
}

async fn shown(browser: &mut Browser, name: &str, code: &str) -> (u16, Value) {
    let shown = json!({"email": EMAIL, "password": PASSWORD, name: code});
    let answer = browser.sign_in_with(shown).await;
    (answer.status, answer.body["code"].clone())
}

async fn a_code_is_asked_for_and_taken_once(place: Place) {
    let server = TestServer::start(place).await;
    let user = person(&server, EMAIL, UserRole::Viewer).await;
    let mut ann = Browser::signed_in(&server, EMAIL).await;
    let wrong = ann.post("/v1/account/totp", json!({"password": "not the password"})).await;
    assert_eq!(wrong.status, 422, "the password is asked for again");
    let (secret, used, codes) = confirmed(&mut ann).await;
    assert_eq!(codes.len(), 10);
    assert_eq!(ann.get("/v1/session").await.body["user"]["has_second_factor"], true);
    let kept = server.store.scoped(DEFAULT_ORGANIZATION).credentials(user.id).await.unwrap();
    let sealed = kept.totp_secret.unwrap();
    assert!(sealed.bytes().len() >= 20 + 24 + 16, "nonce, secret and seal");
    assert_eq!(format!("{sealed:?}"), "SealedSecret(…)");

    let mut other = Browser::new(&server);
    let needed = other.sign_in(EMAIL, PASSWORD).await;
    assert_eq!((needed.status, &needed.body["code"]), (401, &json!("second_factor_needed")));
    let asked = |log: &Value| {
        let mut entries = log["entries"].as_array().unwrap().iter();
        entries.any(|entry| entry["action"] == "sign_in" && entry["phase"] == "asked")
    };
    server.wait("/v1/audit-log", asked).await;
    let wrong = other.sign_in(EMAIL, "wrong password").await;
    assert_eq!(wrong.body["code"], "sign_in_failed", "only with the right password");
    assert_eq!(shown(&mut other, "totp_code", &used).await.0, 401, "used to confirm");
    // The clock of the app may be ahead.
    let next = code(&secret, 1);
    assert_eq!(shown(&mut other, "totp_code", &next).await.0, 201);
    let (status, problem) = shown(&mut other, "totp_code", &next).await;
    assert_eq!((status, problem), (401, json!("sign_in_failed")), "no code is taken twice");

    assert_eq!(shown(&mut other, "recovery_code", "aaaa-aaaa-aaaa-aaaa").await.0, 401);
    let typed = codes[0].to_uppercase().replace('-', " ");
    assert_eq!(shown(&mut other, "recovery_code", &typed).await.0, 201);
    assert_eq!(shown(&mut other, "recovery_code", &codes[0]).await.0, 401, "nor twice on paper");
    let path = "/v1/account/totp/recovery-codes";
    let renewed = ann.post(path, json!({"password": PASSWORD})).await;
    assert_eq!(renewed.status, 200, "{}", renewed.body);
    assert_eq!(shown(&mut other, "recovery_code", &codes[1]).await.0, 401, "replaced");
    let fresh = renewed.body["recovery_codes"][0].as_str().unwrap().to_owned();
    assert_eq!(shown(&mut other, "recovery_code", &fresh).await.0, 201);

    let again = |password: &str| Some(json!({"password": password}));
    let refused = ann.send("DELETE", "/v1/account/totp", again("not the password")).await;
    assert_eq!(refused.status, 422);
    assert_eq!(ann.send("DELETE", "/v1/account/totp", again(PASSWORD)).await.status, 204);
    assert_eq!(other.sign_in(EMAIL, PASSWORD).await.status, 201);
}

async fn wrong_codes_are_counted(place: Place) {
    let server = TestServer::start(place).await;
    person(&server, EMAIL, UserRole::Viewer).await;
    let mut ann = Browser::signed_in(&server, EMAIL).await;
    let (secret, ..) = confirmed(&mut ann).await;
    let mut eve = Browser::new(&server);
    for number in 0..5 {
        assert_eq!(shown(&mut eve, "totp_code", &format!("{number:06}")).await.0, 401);
        if number < 4 {
            // A password without a code wins nothing back.
            assert_eq!(eve.sign_in(EMAIL, PASSWORD).await.body["code"], "second_factor_needed");
        }
    }
    assert_eq!(shown(&mut eve, "totp_code", &code(&secret, 0)).await.0, 429);
}
