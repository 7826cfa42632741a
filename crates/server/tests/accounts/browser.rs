//! Somebody with a browser.

use fullbench_server::password_hash;
use fullbench_store::{NewUser, UserRecord};
use fullbench_types::{DEFAULT_ORGANIZATION, UserRole};
use reqwest::header::HeaderMap;
use serde_json::{Value, json};

use crate::common::{TestServer, with_json};

/// The password of everybody.
pub(crate) const PASSWORD: &str = "correct horse battery";

/// A browser: it keeps the cookie, and sends the token of its session along.
pub(crate) struct Browser {
    pub(crate) url: String,
    pub(crate) cookie: Option<String>,
    pub(crate) csrf: Option<String>,
    client: reqwest::Client,
}

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
    pub(crate) headers: HeaderMap,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The problem without what differs with every request.
    pub(crate) fn problem(&self) -> Value {
        let mut body = self.body.clone();
        body.as_object_mut().unwrap().remove("request_id");
        body
    }
}

impl Browser {
    pub(crate) fn new(server: &TestServer) -> Self {
        let client = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .unwrap();
        Self { url: server.url.clone(), cookie: None, csrf: None, client }
    }

    /// A browser in which somebody is signed in.
    pub(crate) async fn signed_in(server: &TestServer, email: &str) -> Self {
        let mut browser = Self::new(server);
        let answer = browser.sign_in(email, PASSWORD).await;
        assert_eq!(answer.status, 201, "{}", answer.body);
        browser
    }

    pub(crate) async fn sign_in(&mut self, email: &str, password: &str) -> Answer {
        self.sign_in_with(json!({"email": email, "password": password})).await
    }

    pub(crate) async fn sign_in_with(&mut self, shown: Value) -> Answer {
        let answer = self.send("POST", "/v1/session", Some(shown)).await;
        if answer.status == 201 {
            self.csrf = answer.body["csrf_token"].as_str().map(str::to_owned);
        }
        answer
    }

    /// A request with the cookie, and with the token where it changes something.
    pub(crate) fn request(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        let known = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
        let mut request = self.client.request(known, format!("{}{path}", self.url));
        if let Some(cookie) = &self.cookie {
            request = request.header("cookie", cookie);
        }
        match &self.csrf {
            Some(csrf) if method != "GET" => request.header("x-csrf-token", csrf),
            _ => request,
        }
    }

    pub(crate) async fn send(&mut self, method: &str, path: &str, body: Option<Value>) -> Answer {
        let request = self.request(method, path);
        let request = match body {
            Some(body) => with_json(request, &body),
            None => request,
        };
        self.answer(request).await
    }

    pub(crate) async fn answer(&mut self, request: reqwest::RequestBuilder) -> Answer {
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await.unwrap();
        for line in headers.get_all("set-cookie") {
            let pair = line.to_str().unwrap().split(';').next().unwrap();
            self.cookie = (!pair.ends_with('=')).then(|| pair.to_owned());
        }
        Answer { status, body: serde_json::from_str(&text).unwrap_or(Value::Null), headers }
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        self.send("GET", path, None).await
    }

    pub(crate) async fn post(&mut self, path: &str, body: Value) -> Answer {
        self.send("POST", path, Some(body)).await
    }
}

/// Somebody of the organization who can sign in.
pub(crate) async fn person(server: &TestServer, email: &str, role: UserRole) -> UserRecord {
    let new = NewUser {
        email: email.to_owned(),
        name: "Ann".to_owned(),
        role,
        password: Some(password_hash(PASSWORD, email).unwrap()),
    };
    server.store.scoped(DEFAULT_ORGANIZATION).add_user(new).await.unwrap()
}
