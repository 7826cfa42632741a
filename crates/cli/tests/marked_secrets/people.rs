//! Secrets of people: passwords, sessions, second factors, and tokens that are sent by mail.

use reqwest::RequestBuilder;
use serde_json::{Value, json};

use crate::MARK;
use crate::configured::Surroundings;
use crate::logged::{Answer, Logged};
use crate::mail::token_of;
use crate::search::{Secret, given, secret};
use crate::totp::{bytes_of, code};

const ANN: &str = "ann@example.com";
const BOB: &str = "bob@example.com";

/// What a browser shows of a session.
struct Session {
    cookie: String,
    csrf_token: String,
}

impl Session {
    fn of(signed_in: &Answer) -> Self {
        assert_eq!(signed_in.status, 201, "{}", signed_in.body);
        let cookie = signed_in.headers["set-cookie"].to_str().unwrap();
        let cookie = cookie.split(';').next().unwrap().to_owned();
        Self { cookie, csrf_token: text(&signed_in.body["csrf_token"]) }
    }

    fn shown(&self, request: RequestBuilder) -> RequestBuilder {
        request.header("cookie", &self.cookie).header("x-csrf-token", &self.csrf_token)
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn password(which: &str) -> String {
    format!("{MARK}-{which}-password")
}

/// Lets people in and out in every way there is; gives the secrets in it.
pub(crate) fn people(server: &mut Logged, around: &mut Surroundings) -> Vec<Secret> {
    let add = ["-vv", "user", "add", ANN, "--role", "owner", "--password-stdin"];
    let added = around.run_with_line(&add, &password("first"));
    assert_eq!(added.code, Some(0), "{}", added.stderr);
    server.answers.push_str(&(added.stdout + &added.stderr));
    let mut secrets = Vec::new();
    secrets.extend(session(server));
    secrets.extend(tokens(server, around));
    let whiches = ["first", "second", "third", "fourth", "wrong"];
    secrets.extend(whiches.map(|which| secret("a password", password(which))));
    secrets
}

/// Signs in, begins with a second factor, and changes the password.
fn session(server: &mut Logged) -> Vec<Secret> {
    let sign_in = |password: Value| Some(json!({"email": ANN, "password": password}));
    for (wrong, status) in [(json!(password("wrong")), 401), (json!([password("first")]), 422)] {
        assert_eq!(server.call("POST", "/v1/session", "", sign_in(wrong)).0, status);
    }
    let right = server.request("POST", "/v1/session", sign_in(json!(password("first"))));
    let session = Session::of(&server.given(right));
    let (name, cookie) = session.cookie.split_once('=').unwrap();
    let tried_cookie = format!("fbs_{MARK}-cookie");
    let request = server.request("GET", "/v1/session", None);
    let request = request.header("cookie", format!("{name}={tried_cookie}"));
    assert_eq!(server.answer(request).status, 401);
    let tried_token = format!("{MARK}-csrf-token");
    let rename = Some(json!({"name": "Ann"}));
    let request = server.request("PATCH", "/v1/account", rename.clone());
    let request = request.header("cookie", &session.cookie).header("x-csrf-token", &tried_token);
    assert_eq!(server.answer(request).status, 403);
    let request = server.request("PATCH", "/v1/account", rename);
    assert_eq!(server.answer(session.shown(request)).status, 200);

    let again = Some(json!({"password": password("first")}));
    let offered = server.given(session.shown(server.request("POST", "/v1/account/totp", again)));
    assert_eq!(offered.status, 201, "{}", offered.body);
    let totp = text(&offered.body["secret"]);
    let wrong = Some(json!({"totp_code": "no code"}));
    let request = server.request("POST", "/v1/account/totp/confirm", wrong);
    assert_eq!(server.answer(session.shown(request)).status, 422);
    let mut secrets = on_paper(server, &session, &totp);
    for (old, status) in [("wrong", 422), ("first", 204)] {
        let change = json!({"old_password": password(old), "password": password("second")});
        let request = server.request("POST", "/v1/account/password", Some(change));
        assert_eq!(server.answer(session.shown(request)).status, status);
    }
    secrets.extend([
        given("the cookie of a session", cookie),
        given("the token of a session", &session.csrf_token),
        secret("a cookie that was tried", tried_cookie),
        secret("a token of a session that was tried", tried_token),
        ("the bytes of a second factor", bytes_of(&totp)),
        secret("a second factor", totp),
    ]);
    secrets
}

/// Confirms a second factor, and does with codes on paper what can be done with them; gives the codes.
fn on_paper(server: &mut Logged, session: &Session, totp: &str) -> Vec<Secret> {
    let mut codes = Vec::new();
    let again = json!({"password": password("first")});
    for (path, body) in [
        ("/v1/account/totp/confirm", json!({"totp_code": code(totp, 0)})),
        ("/v1/account/totp/recovery-codes", again),
    ] {
        let request = server.request("POST", path, Some(body));
        let shown = server.given(session.shown(request));
        assert_eq!(shown.status, 200, "{}", shown.body);
        codes.extend(shown.body["recovery_codes"].as_array().unwrap().iter().map(text));
    }
    assert_eq!(codes.len(), 20);
    // One that was replaced, one that holds, and the same again.
    for (code, status) in [(&codes[0], 401), (&codes[19], 201), (&codes[19], 401)] {
        let body = json!({"email": ANN, "password": password("first"), "recovery_code": code});
        let request = server.request("POST", "/v1/session", Some(body));
        match status {
            201 => drop(Session::of(&server.given(request))),
            _ => assert_eq!(server.answer(request).status, status),
        }
    }
    let spellings = codes.iter().flat_map(|code| [code.clone(), code.replace('-', "")]);
    spellings.map(|code| secret("a code on paper", code)).collect()
}

/// Accepts an invitation and sets a password anew, with what was sent by mail.
fn tokens(server: &mut Logged, around: &mut Surroundings) -> Vec<Secret> {
    let runtime = server.runtime.clone();
    let invited = json!({"email": BOB, "role": "viewer"});
    assert_eq!(server.own("POST", "/v1/invitations", Some(invited)).0, 201);
    let letter = runtime.block_on(around.mail.next());
    assert_eq!(letter.to, [BOB]);
    let invitation = token_of(&letter);
    let forgotten = json!({"email": ANN});
    assert_eq!(server.call("POST", "/v1/password-resets", "", Some(forgotten)).0, 202);
    let reset = token_of(&runtime.block_on(around.mail.next()));
    let tried = format!("fbi_{MARK}-token");
    for (token, which, statuses) in [
        (&invitation, "third", [201, 404]),
        (&reset, "fourth", [204, 404]),
        (&tried, "wrong", [404, 404]),
    ] {
        let path = match which {
            "third" => "/v1/invitations/accept",
            _ => "/v1/password-resets/complete",
        };
        // Once, and then in vain.
        for status in statuses {
            let mut body = json!({"token": token, "password": password(which)});
            if which == "third" {
                body["name"] = json!("Bob");
            }
            let (found, answer) = server.call("POST", path, "", Some(body));
            assert_eq!(found, status, "{path}: {answer}");
        }
    }
    vec![
        given("the token of an invitation", &invitation),
        given("the token for a new password", &reset),
        secret("a token that was tried", tried),
    ]
}
