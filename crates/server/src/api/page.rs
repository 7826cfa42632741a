//! A page to browse the API with; it reads the OpenAPI document that the server serves, and nothing from elsewhere.

/// The page.
pub(crate) fn docs_page() -> &'static str {
    include_str!("page.html")
}
