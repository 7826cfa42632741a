//! The page of the roles: who may do what, and which endpoints that is.

use fullbench_types::{Action, UserRole};
use serde_json::Value;

/// The page.
pub(super) fn page(api: &Value) -> String {
    let mut text = String::from(
        "# Roles\n\nGenerated from the code by `make reference`. Every person and every key has one role. A key may be made for some \
         actions of its role only, as its `scopes`, and never allows more than whoever made it. The same table is what the server \
         checks before every endpoint.\n\n",
    );
    for role in UserRole::ALL {
        text.push_str(&format!("- `{role}`: {}\n", role.about()));
    }
    text.push_str("\n| action | what it is |");
    for role in UserRole::ALL {
        text.push_str(&format!(" {role} |"));
    }
    text.push_str("\n|---|---|");
    text.push_str(&":-:|".repeat(UserRole::ALL.len()));
    for action in Action::ALL {
        text.push_str(&format!("\n| `{action}` | {} |", action.about()));
        for role in UserRole::ALL {
            text.push_str(if role.allows(*action) { " ✓ |" } else { "  |" });
        }
    }
    text.push_str("\n\n## Endpoints\n");
    for action in Action::ALL {
        let endpoints = endpoints_of(api, |operation| operation["x-action"] == action.as_str());
        if !endpoints.is_empty() {
            text.push_str(&format!("\n### {action}\n\n{endpoints}"));
        }
    }
    let account = endpoints_of(api, |operation| {
        operation["security"] == serde_json::json!([{ "session": [] }])
    });
    text.push_str("\n### Everybody's own account\n\nFor who is signed in, in any role; a key has no account.\n\n");
    text.push_str(&account);
    let operator = endpoints_of(api, |operation| operation["x-rule"] == "operator");
    text.push_str(&format!("\n### For who runs the server\n\n{operator}"));
    let public = endpoints_of(api, |operation| operation["security"] == serde_json::json!([]));
    text.push_str(&format!("\n### Without a key\n\n{public}"));
    text
}

fn endpoints_of(api: &Value, is_meant: impl Fn(&Value) -> bool) -> String {
    let mut lines = String::new();
    for (path, methods) in api["paths"].as_object().into_iter().flatten() {
        for (method, operation) in methods.as_object().into_iter().flatten() {
            if is_meant(operation) {
                let summary = operation["summary"].as_str().unwrap_or_default();
                lines.push_str(&format!("- `{} {path}`: {summary}\n", method.to_uppercase()));
            }
        }
    }
    lines
}
