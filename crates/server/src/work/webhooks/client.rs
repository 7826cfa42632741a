//! One POST to an address that somebody of an organization chose: to the public internet alone, without redirects, in bounded
//! time, and told without the address, which may hold a token.

use std::time::{Duration, Instant};

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use jiff::SignedDuration;
use reqwest::{Client, redirect};

use super::address::{self, Names, PublicNames, SystemNames};

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
        Self::with_names(SystemNames, allow_private)
    }

    fn with_names(names: impl Names, allow_private: bool) -> Result<Self, String> {
        // Another part of the program may have been first.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .user_agent(concat!("fullbench/", env!("CARGO_PKG_VERSION")))
            .timeout(TIMEOUT)
            .connect_timeout(Duration::from_secs(5))
            // A proxy or another address would be reached without having been checked.
            .no_proxy()
            .redirect(redirect::Policy::none())
            .dns_resolver(PublicNames { names, allow_private })
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io;
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::net::TcpListener;

    use super::*;

    /// Public, and given to nobody.
    const PUBLIC: IpAddr = IpAddr::V6(Ipv6Addr::new(0x3ffe, 0, 0, 0, 0, 0, 0, 1));
    const PRIVATE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    /// A name whose address is a public one when it is asked for first, and this machine from then on.
    #[derive(Clone, Default)]
    struct Rebound(Arc<AtomicUsize>);

    impl Names for Rebound {
        async fn addresses(&self, _: String) -> io::Result<Vec<SocketAddr>> {
            let address = match self.0.fetch_add(1, Ordering::Relaxed) {
                0 => PUBLIC,
                _ => PRIVATE,
            };
            Ok(vec![SocketAddr::new(address, 0)])
        }
    }

    #[tokio::test]
    async fn a_name_that_changes_its_address_after_it_was_checked_leads_nowhere_else() {
        let inside = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://rebound.test:{}/", inside.local_addr().unwrap().port());
        let names = Rebound::default();
        let outgoing = Outgoing::with_names(names.clone(), false).unwrap();
        let first = outgoing.post(&url, HeaderMap::new(), Vec::new()).await;
        assert!(first.status.is_none() && first.problem.is_some(), "{first:?}");
        assert_eq!(names.0.load(Ordering::Relaxed), 1, "what is reached is what was checked");
        let second = outgoing.post(&url, HeaderMap::new(), Vec::new()).await;
        assert_eq!(second.problem, Some(format!("no connection: {}", address::PRIVATE)));
        let called = tokio::time::timeout(Duration::ZERO, inside.accept()).await;
        assert!(called.is_err(), "somebody inside was called");
    }

    /// Where the test below sends to when it is the process that it starts.
    const RECEIVER: &str = "FULLBENCH_TEST_RECEIVER";

    #[tokio::test]
    async fn no_proxy_of_the_environment_is_in_between() {
        if let Ok(receiver) = std::env::var(RECEIVER) {
            let outgoing = Outgoing::new(true).unwrap();
            let posted = outgoing.post(&receiver, HeaderMap::new(), vec![]).await;
            assert_eq!(posted.status, Some(StatusCode::OK), "{posted:?}");
            return;
        }
        let receiver = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", receiver.local_addr().unwrap());
        tokio::spawn(async move {
            axum::serve(receiver, axum::Router::new().fallback(async || "taken")).await
        });
        let proxy = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", proxy.local_addr().unwrap());
        let mut process = tokio::process::Command::new(std::env::current_exe().unwrap());
        process
            .args([
                "--exact",
                "work::webhooks::client::tests::no_proxy_of_the_environment_is_in_between",
            ])
            .env(RECEIVER, url)
            .env_remove("NO_PROXY")
            .env_remove("no_proxy");
        for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
            process.env(name, &address);
        }
        let ended = process.output().await.unwrap();
        let said = String::from_utf8_lossy(&ended.stdout);
        assert!(ended.status.success() && said.contains("1 passed"), "{said}");
        let called = tokio::time::timeout(Duration::ZERO, proxy.accept()).await;
        assert!(called.is_err(), "the proxy was called");
    }
}
