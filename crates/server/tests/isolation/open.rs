//! What anybody may call: this list, and nothing that is not in it.

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
    // Endpoints are made with a rule; these two paths are made without one.
    let routes = include_str!("../../src/routes.rs");
    let paths: Vec<&str> = routes
        .match_indices(".route(")
        .map(|(at, found)| {
            let rest = &routes[at + found.len()..];
            rest.split(',').next().unwrap()
        })
        .collect();
    assert_eq!(paths, ["endpoint.path", "\"/openapi.json\"", "\"/docs\""]);
}
