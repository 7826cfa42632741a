//! What stands before every endpoint: who calls, whether their role and key allow it, and not too often.

use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::MethodRouter;

use super::{Caller, Credential, Rule};
use crate::app::App;
use crate::problem::{FORBIDDEN, Problem};

/// The endpoint behind its guard.
pub(crate) fn guarded(app: &App, rule: Rule, endpoint: MethodRouter<App>) -> MethodRouter<App> {
    match rule {
        Rule::Public => endpoint,
        rule => endpoint.route_layer(from_fn_with_state((app.clone(), rule), guard)),
    }
}

async fn guard(
    State((app, rule)): State<(App, Rule)>,
    mut request: Request,
    next: Next,
) -> Response {
    let (mut parts, body) = request.into_parts();
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
        Some(problem) => problem.into_response(),
        None => {
            parts.extensions.insert(caller);
            request = Request::from_parts(parts, body);
            next.run(request).await
        }
    };
    pace.tell(response.headers_mut());
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
        (Rule::Account, Credential::Session(_)) | (Rule::Public, _) => return None,
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
