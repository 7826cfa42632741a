//! What stands before every endpoint: who calls, whether their role and key allow it, not too often, and what the audit log keeps of it.

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::MethodRouter;

use super::{Caller, Credential, Rule, operator};
use crate::app::App;
use crate::audit::{AuditNote, Audited, Trail};
use crate::problem::{FORBIDDEN, Problem};

/// The endpoint behind its guard.
pub(crate) fn guarded(
    app: &App,
    rule: Rule,
    audited: Audited,
    endpoint: MethodRouter<App>,
) -> MethodRouter<App> {
    match rule {
        Rule::Public => endpoint,
        rule => endpoint.route_layer(from_fn_with_state((app.clone(), rule, audited), guard)),
    }
}

async fn guard(
    State((app, rule, audited)): State<(App, Rule, Audited)>,
    request: Request,
    next: Next,
) -> Response {
    let (mut parts, body) = request.into_parts();
    if rule == Rule::Operator {
        return match operator::check(&app, &parts) {
            Ok(()) => next.run(Request::from_parts(parts, body)).await,
            Err(problem) => problem.into_response(),
        };
    }
    let caller = match Caller::authenticate(&app, &parts).await {
        Ok(caller) => caller,
        Err(problem) => return problem.into_response(),
    };
    let pace = app.limits().count(&caller);
    let refusal = match pace.is_exceeded() {
        true => Some(pace.problem()),
        false => refusal(&caller, rule),
    };
    let mut response = match refusal {
        Some(problem) => {
            let response = problem.into_response();
            if response.status() == StatusCode::FORBIDDEN {
                let mut trail = Trail::of(&app, &caller, audited, &parts);
                trail.end(response.status(), &AuditNote::default()).await;
            }
            response
        }
        None => {
            let trail = audited.always.then(|| Trail::of(&app, &caller, audited, &parts));
            parts.extensions.insert(caller);
            let request = Request::from_parts(parts, body);
            match trail {
                Some(trail) => carry_out(trail, request, next).await,
                None => next.run(request).await,
            }
        }
    };
    pace.tell(response.headers_mut());
    response
}

/// Carries a request out between two entries of the audit log, or not at all.
async fn carry_out(mut trail: Trail, mut request: Request, next: Next) -> Response {
    if let Err(problem) = trail.begin().await {
        return problem.into_response();
    }
    let note = trail.note();
    request.extensions_mut().insert(note.clone());
    let response = next.run(request).await;
    trail.end(response.status(), &note).await;
    response
}

/// Why this caller may not do it.
fn refusal(caller: &Caller, rule: Rule) -> Option<Problem> {
    let action = match (rule, caller.credential) {
        (Rule::Needs(action), _) => action,
        (Rule::Account, Credential::Key(_)) => {
            let problem = Problem::new(FORBIDDEN, "this is about an account, and a key has none");
            return Some(problem.hint("sign in with POST /v1/session"));
        }
        (Rule::Account, Credential::Session(_)) | (Rule::Public | Rule::Operator, _) => {
            return None;
        }
    };
    if caller.may(action) {
        return None;
    }
    let problem = match caller.is_kept_by_scopes(action) {
        true => Problem::new(FORBIDDEN, format!("the key is not for `{action}`"))
            .hint(format!("use a key that has `{action}` among its scopes")),
        false => {
            let role = caller.role();
            Problem::new(FORBIDDEN, format!("the role `{role}` does not allow `{action}`"))
                .hint("ask an owner or admin of your organization")
        }
    };
    Some(problem)
}
