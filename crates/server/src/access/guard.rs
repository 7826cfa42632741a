//! What stands before every endpoint: who calls, whether their role and key allow it, and not too often.

use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::MethodRouter;

use super::{Caller, Rule, operator};
use crate::app::App;
use crate::problem::{FORBIDDEN, Problem};

/// The endpoint behind its guard.
pub(crate) fn guarded(app: &App, rule: Rule, endpoint: MethodRouter<App>) -> MethodRouter<App> {
    match rule {
        Rule::Public => endpoint,
        rule => endpoint.route_layer(from_fn_with_state((app.clone(), rule), guard)),
    }
}

async fn guard(State((app, rule)): State<(App, Rule)>, request: Request, next: Next) -> Response {
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
        Some(problem) => problem.into_response(),
        None => {
            parts.extensions.insert(caller);
            next.run(Request::from_parts(parts, body)).await
        }
    };
    pace.tell(response.headers_mut());
    response
}

/// Why this caller may not do it.
fn refusal(caller: &Caller, rule: Rule) -> Option<Problem> {
    let Rule::Needs(action) = rule else { return None };
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
