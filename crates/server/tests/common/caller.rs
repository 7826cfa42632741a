//! Somebody who calls, with a key or in a browser.

use fullbench_server::password_hash;
use fullbench_store::{NewUser, Store, UserRecord};
use fullbench_types::{OrganizationId, UserRole};
use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use super::{TestServer, answer, wait_for, with_json};

/// The password of everybody.
pub(crate) const PASSWORD: &str = "correct horse battery";

/// Somebody who calls.
pub(crate) struct Caller {
    url: String,
    /// What they show with everything.
    shown: HeaderMap,
    /// What they show with what changes something.
    csrf: Option<HeaderValue>,
    client: reqwest::Client,
}

impl Caller {
    /// Somebody who shows nothing.
    pub(crate) fn nobody(server: &TestServer) -> Self {
        let client = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .unwrap();
        Self { url: server.url.clone(), shown: HeaderMap::new(), csrf: None, client }
    }

    /// Somebody with a key.
    pub(crate) fn with_key(server: &TestServer, key: &str) -> Self {
        let mut caller = Self::nobody(server);
        caller.shown.insert("authorization", format!("Bearer {key}").parse().unwrap());
        caller
    }

    /// Somebody who is signed in, with the cookie and the token of the session.
    pub(crate) async fn signed_in(server: &TestServer, email: &str, organization: &str) -> Self {
        let mut caller = Self::nobody(server);
        let shown = json!({"email": email, "password": PASSWORD, "organization": organization});
        let request = with_json(caller.request("POST", "/v1/session"), &shown);
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 201, "{email}");
        let cookie = response.headers()["set-cookie"].to_str().unwrap();
        let cookie = cookie.split(';').next().unwrap().parse().unwrap();
        let session: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
        caller.shown.insert("cookie", cookie);
        caller.csrf = Some(session["csrf_token"].as_str().unwrap().parse().unwrap());
        caller
    }

    /// The same browser as another site uses it, which does not know the token of the session.
    pub(crate) fn without_token(&self) -> Self {
        let (url, shown, client) = (self.url.clone(), self.shown.clone(), self.client.clone());
        Self { url, shown, csrf: None, client }
    }

    pub(crate) fn request(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        let known = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
        let request = self.client.request(known, format!("{}{path}", self.url));
        let request = request.headers(self.shown.clone());
        match &self.csrf {
            Some(csrf) if method != "GET" => request.header("x-csrf-token", csrf),
            _ => request,
        }
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Value) {
        answer(self.request("GET", path)).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        answer(with_json(self.request("POST", path), &body)).await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> (u16, Value) {
        answer(with_json(self.request("PUT", path), &body)).await
    }

    /// Asks again until the answer is as it should be.
    pub(crate) async fn wait(&self, path: &str, is_right: impl Fn(&Value) -> bool) -> Value {
        wait_for(|| self.request("GET", path), is_right).await
    }
}

/// Somebody of an organization who can sign in.
pub(crate) async fn person(
    store: &Store,
    organization: OrganizationId,
    email: &str,
    role: UserRole,
) -> UserRecord {
    let new = NewUser {
        email: email.to_owned(),
        name: "Ann".to_owned(),
        role,
        password: Some(password_hash(PASSWORD, email).unwrap()),
    };
    store.scoped(organization).add_user(new).await.unwrap()
}
