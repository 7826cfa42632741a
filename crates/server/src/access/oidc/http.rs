//! Requests to the issuer, with our own client: no redirects are followed, and answers are small.

use std::pin::Pin;
use std::time::Duration;

use axum::http;
use openidconnect::{AsyncHttpClient, HttpRequest, HttpResponse};

/// The largest answer.
const LARGEST: usize = 1 << 20;
/// How long the issuer may take.
const PATIENCE: Duration = Duration::from_secs(15);

/// What asks the issuer.
#[derive(Debug, Clone)]
pub(super) struct Http(reqwest::Client);

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum HttpError {
    #[error("the issuer cannot be reached: {0}")]
    Unreached(#[from] reqwest::Error),
    #[error("the answer of the issuer is too large")]
    TooLarge,
    #[error("the answer of the issuer cannot be read")]
    Unread(#[from] http::Error),
}

impl Http {
    pub(super) fn new() -> Result<Self, reqwest::Error> {
        // Another part of the program may have been first.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(PATIENCE)
            .build()?;
        Ok(Self(client))
    }

    async fn ask(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let mut response = self.0.execute(reqwest::Request::try_from(request)?).await?;
        let mut made = http::Response::builder().status(response.status());
        for (name, value) in response.headers() {
            made = made.header(name, value);
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            if body.len() + chunk.len() > LARGEST {
                return Err(HttpError::TooLarge);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(made.body(body)?)
    }
}

impl<'client> AsyncHttpClient<'client> for Http {
    type Error = HttpError;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'client>>;

    fn call(&'client self, request: HttpRequest) -> Self::Future {
        Box::pin(self.ask(request))
    }
}
