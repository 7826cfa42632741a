//! What anybody may call: this list, and nothing that is not in it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::operations::{Rule, operations};

/// What needs nothing to be shown; whoever adds to it says here that this is meant.
const PUBLIC: [&str; 8] = [
    "GET /healthz",
    "GET /readyz",
    "GET /v1/session/oidc/callback",
    "GET /v1/session/oidc/start",
    "POST /v1/invitations/accept",
    "POST /v1/password-resets",
    "POST /v1/password-resets/complete",
    "POST /v1/session",
];

/// What is for who runs the server.
const OPERATOR: [&str; 1] = ["GET /metrics"];

/// What is about one's own account, whatever one's role.
const ACCOUNT: [&str; 10] = [
    "DELETE /v1/account/sessions/{session_id}",
    "DELETE /v1/account/totp",
    "DELETE /v1/session",
    "GET /v1/account/sessions",
    "GET /v1/session",
    "PATCH /v1/account",
    "POST /v1/account/password",
    "POST /v1/account/totp",
    "POST /v1/account/totp/confirm",
    "POST /v1/account/totp/recovery-codes",
];

#[test]
fn nothing_is_open_to_anybody_that_is_not_meant_to_be() {
    for (rule, expected) in [
        (Rule::Public, PUBLIC.as_slice()),
        (Rule::Operator, OPERATOR.as_slice()),
        (Rule::Account, ACCOUNT.as_slice()),
    ] {
        let found = operations().into_iter().filter(|operation| operation.rule == rule);
        let mut found: Vec<String> =
            found.map(|operation| format!("{} {}", operation.method, operation.template)).collect();
        found.sort_unstable();
        assert_eq!(found, expected, "{rule:?}");
    }
}

/// What makes a router, and what lets a path answer, or everything below one.
const OPENINGS: [&str; 9] = [
    "Router::",
    ".route(",
    ".route_service(",
    ".nest(",
    ".nest_service(",
    ".merge(",
    ".fallback(",
    ".fallback_service(",
    ".method_not_allowed_fallback(",
];

/// Where the server does that: endpoints are made with a rule, two paths without one, and all else is a problem.
const OPENED: [&str; 6] = [
    "routes.rs: let mut router = Router::new();",
    "routes.rs: router = router.route(endpoint.path, guarded(&app, endpoint.rule, audited, handler));",
    "routes.rs: .route(\"/openapi.json\", axum::routing::get(openapi))",
    "routes.rs: .route(\"/docs\", axum::routing::get(docs_page))",
    "routes.rs: .fallback(nothing_there)",
    "routes.rs: .method_not_allowed_fallback(wrong_method)",
];

#[test]
fn nothing_answers_beside_the_endpoints() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    assert_eq!(openings(&sources, &sources), OPENED);
}

/// The lines below a folder that open something.
fn openings(sources: &Path, folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = entries.collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        if path.is_dir() {
            found.extend(openings(sources, &path));
            continue;
        }
        let source = fs::read_to_string(&path).unwrap();
        // Tests come last, and may have servers of their own.
        let lines = source.lines().take_while(|line| !line.ends_with("mod tests {"));
        let name = path.strip_prefix(sources).unwrap().display();
        for line in lines.filter(|line| OPENINGS.iter().any(|opening| line.contains(opening))) {
            found.push(format!("{name}: {}", line.trim()));
        }
    }
    found
}
