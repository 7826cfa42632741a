//! Signing in through an issuer, with a browser.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::{change_session, never_kept};
use crate::access::oidc::{self, Back};
use crate::access::session::set_cookie;
use crate::access::{Rule, Visitor};
use crate::api::Endpoint;
use crate::app::App;
use crate::extract::Query;
use crate::problem::Problem;

pub(super) fn endpoints() -> Vec<Endpoint> {
    let started = "Sends the browser to the issuer that the server is set up with (OpenID Connect, code flow with PKCE).";
    let back =
        "The issuer sends the browser here. It is signed in and sent to the server's first page.";
    vec![
        Endpoint::get("/v1/session/oidc/start", "start_oidc", Rule::Public, start)
            .about("session", "Sign in through an issuer", started)
            .gives_nothing(303, "To the issuer")
            .refuses(&[404, 503]),
        Endpoint::get("/v1/session/oidc/callback", "finish_oidc", Rule::Public, finish)
            .about("session", "Come back from the issuer", back)
            .query::<Back>()
            .gives_nothing(303, "You are signed in")
            .refuses(&[401, 404, 409, 503]),
    ]
}

async fn start(State(app): State<App>) -> Result<Response, Problem> {
    let mut headers = HeaderMap::new();
    let url = oidc::start(&app, &mut headers).await?;
    Ok(redirect(&url, headers))
}

async fn finish(
    State(app): State<App>,
    sent: HeaderMap,
    visitor: Visitor,
    Query(back): Query<Back>,
) -> Response {
    let mut headers = HeaderMap::new();
    match sign_in(&app, &sent, &visitor, back, &mut headers).await {
        Ok(()) => {
            let url = app.config().public_url.as_ref().map_or("/", |url| url.as_str());
            redirect(url, headers)
        }
        Err(problem) => {
            let mut response = problem.into_response();
            response.headers_mut().extend(headers);
            response
        }
    }
}

async fn sign_in(
    app: &App,
    sent: &HeaderMap,
    visitor: &Visitor,
    back: Back,
    headers: &mut HeaderMap,
) -> Result<(), Problem> {
    let user = oidc::finish(app, sent, back, headers).await?;
    let begun = change_session(app, sent, &user, visitor).await?;
    set_cookie(app, headers, &begun.token);
    Ok(())
}

fn redirect(url: &str, mut headers: HeaderMap) -> Response {
    if let Ok(url) = HeaderValue::from_str(url) {
        headers.insert(header::LOCATION, url);
    }
    never_kept(&mut headers);
    (StatusCode::SEE_OTHER, headers).into_response()
}
