//! One POST to an address that somebody of an organization chose: to the public internet alone, without redirects, in bounded
//! time, and told without the address, which may hold a token.

use std::time::{Duration, Instant};

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use jiff::SignedDuration;
use reqwest::{Client, redirect};

use super::address::{self, PublicNames};

/// How long a receiver may take.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(15);
/// The longest that a receiver can ask to be left alone for.
const LONGEST_WISH: SignedDuration = SignedDuration::from_hours(1);

/// What sends to addresses of organizations.
#[derive(Debug)]
pub(crate) struct Outgoing {
    client: Client,
    allow_private: bool,
}

/// What came of a POST.
#[derive(Debug)]
pub(crate) struct Posted {
    /// The status of the answer, if there was one.
    pub(crate) status: Option<StatusCode>,
    /// What went wrong.
    pub(crate) problem: Option<String>,
    /// For how long the receiver asks to be left alone.
    pub(crate) wish: Option<SignedDuration>,
    pub(crate) milliseconds: u64,
}

impl Posted {
    /// The receiver wants nothing more.
    pub(crate) fn is_gone(&self) -> bool {
        self.status == Some(StatusCode::GONE)
    }
}

impl Outgoing {
    pub(crate) fn new(allow_private: bool) -> Result<Self, String> {
        // Another part of the program may have been first.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .user_agent(concat!("fullbench/", env!("CARGO_PKG_VERSION")))
            .timeout(TIMEOUT)
            .connect_timeout(Duration::from_secs(5))
            // A proxy or another address would be reached without having been checked.
            .no_proxy()
            .redirect(redirect::Policy::none())
            .dns_resolver(PublicNames { allow_private })
            .build()
            .map_err(|error| error.to_string())?;
        Ok(Self { client, allow_private })
    }

    /// Sends JSON once.
    pub(crate) async fn post(&self, url: &str, mut headers: HeaderMap, body: Vec<u8>) -> Posted {
        let started = Instant::now();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let answer = match address::problem_of(url, self.allow_private) {
            Some(problem) => Err(problem.to_owned()),
            None => {
                let request = self.client.post(url).headers(headers).body(body);
                request.send().await.map_err(|error| said(&error))
            }
        };
        let (status, problem, wish) = match answer {
            Ok(answer) => {
                let (status, wish) = (answer.status(), wish_of(answer.headers()));
                (Some(status), problem_with(status), wish)
            }
            Err(problem) => (None, Some(problem), None),
        };
        Posted { status, problem, wish, milliseconds: started.elapsed().as_millis() as u64 }
    }
}

fn problem_with(status: StatusCode) -> Option<String> {
    if status.is_success() {
        return None;
    }
    Some(match status.is_redirection() {
        true => "the answer is a redirect, which is not followed".to_owned(),
        false => format!("the answer is {status}"),
    })
}

fn wish_of(headers: &HeaderMap) -> Option<SignedDuration> {
    let seconds: u32 = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(SignedDuration::from_secs(seconds.into()).min(LONGEST_WISH))
}

/// What went wrong, without the URL, which may hold a token.
fn said(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return format!("no answer within {} s", TIMEOUT.as_secs());
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    match error.is_connect() {
        true => format!("no connection: {cause}"),
        false => format!("no answer: {cause}"),
    }
}
