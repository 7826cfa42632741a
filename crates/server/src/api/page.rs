//! A page to browse the API with; it reads the OpenAPI document that the server serves, and nothing from elsewhere.

use std::sync::LazyLock;

use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// The page.
const PAGE: &str = include_str!("page.html");

/// What the page may do: run its own script, use its own style, and ask this server.
static POLICY: LazyLock<Option<HeaderValue>> = LazyLock::new(|| {
    let policy = format!(
        "default-src 'none'; script-src '{}'; style-src '{}'; connect-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
        hash_of("script"),
        hash_of("style")
    );
    HeaderValue::from_str(&policy).ok()
});

/// The page, and what it may do.
pub(crate) async fn docs_page() -> Response {
    let mut response = Html(PAGE).into_response();
    if let Some(policy) = &*POLICY {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy.clone());
    }
    response
}

/// The hash of what the page has in this element, as policies name it.
fn hash_of(element: &str) -> String {
    let (open, close) = (format!("<{element}>"), format!("</{element}>"));
    let content = PAGE.split_once(&open).and_then(|(_, rest)| rest.split_once(&close));
    let content = content.map(|(content, _)| content).unwrap_or_default();
    format!("sha256-{}", STANDARD.encode(Sha256::digest(content)))
}
