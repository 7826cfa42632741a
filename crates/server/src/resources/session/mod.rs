//! Signing in and out, and who is signed in.

mod oidc;
mod view;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Json, Response};
use fullbench_store::{SessionRecord, UserRecord};
use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) use self::view::Session;
use crate::access::session::{self, Begun};
use crate::access::{Rule, Shown, Visitor, csrf_token, refuse_foreign, sign_in};
use crate::api::Endpoint;
use crate::app::App;
use crate::extract::Body;
use crate::problem::{Problem, UNAUTHORIZED};

/// What somebody shows to sign in.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SignIn {
    #[schemars(length(min = 1, max = 254))]
    email: String,
    #[schemars(length(min = 1, max = 1024))]
    password: String,
    /// The slug of the organization; needed if you belong to several.
    #[serde(default)]
    organization: Option<String>,
    /// The code that your authenticator app shows.
    #[serde(default)]
    totp_code: Option<String>,
    /// One of the codes that you wrote down, instead of `totp_code`.
    #[serde(default)]
    recovery_code: Option<String>,
}

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let signing_in = "The answer sets a cookie that no script can read. Requests with the cookie that change something need the \
        header `X-CSRF-Token` with the `csrf_token` of the answer. Whether the mail address, the password or the code was wrong \
        is not said; after five failures there are waits, told by `Retry-After`. A password that is right without the code of a \
        second factor is answered with `second_factor_needed`.";
    let mut endpoints = vec![
        Endpoint::post("/v1/session", "sign_in", Rule::Public, begin)
            .about("session", "Sign in", signing_in)
            .takes::<SignIn>()
            .gives::<Session>(201, "You are signed in")
            .refuses(&[401, 403, 429, 503]),
        Endpoint::get("/v1/session", "get_session", Rule::Account, get)
            .about("session", "Who is signed in", "And what they may do.")
            .gives::<Session>(200, "You are signed in"),
        Endpoint::delete("/v1/session", "sign_out", Rule::Account, end)
            .about("session", "Sign out", "The session ends at once.")
            .gives_nothing(204, "You are signed out"),
    ];
    endpoints.extend(oidc::endpoints());
    endpoints
}

async fn begin(
    State(app): State<App>,
    headers: HeaderMap,
    visitor: Visitor,
    Body(body): Body<SignIn>,
) -> Result<Response, Problem> {
    refuse_foreign(&app, &headers)?;
    let shown = Shown {
        email: &body.email,
        password: &body.password,
        organization: body.organization.as_deref(),
        totp_code: body.totp_code.as_deref(),
        recovery_code: body.recovery_code.as_deref(),
    };
    let user = sign_in(&app, shown, &visitor).await?;
    let begun = change_session(&app, &headers, &user, &visitor).await?;
    let seen = seen(&app, &user, &begun.session, &begun.token).await?;
    let mut response = (StatusCode::CREATED, Json(seen)).into_response();
    session::set_cookie(&app, response.headers_mut(), &begun.token);
    never_kept(response.headers_mut());
    Ok(response)
}

/// Begins a session and ends the one that the browser had: nobody goes on with a cookie that somebody else may know.
async fn change_session(
    app: &App,
    headers: &HeaderMap,
    user: &UserRecord,
    visitor: &Visitor,
) -> Result<Begun, Problem> {
    if let Some(before) = session::signed_in(app, headers).await? {
        session::end(app, &before.session).await?;
    }
    session::begin(app, user, visitor).await
}

async fn get(State(app): State<App>, headers: HeaderMap) -> Result<Response, Problem> {
    let over = || Problem::new(UNAUTHORIZED, "the session is over");
    let holder = session::signed_in(&app, &headers).await?.ok_or_else(over)?;
    let token = session::session_token(&app, &headers).unwrap_or_default();
    let seen = seen(&app, &holder.user, &holder.session, token).await?;
    let mut response = Json(seen).into_response();
    never_kept(response.headers_mut());
    Ok(response)
}

async fn end(State(app): State<App>, headers: HeaderMap) -> Result<Response, Problem> {
    if let Some(holder) = session::signed_in(&app, &headers).await? {
        session::end(&app, &holder.session).await?;
    }
    let mut response = StatusCode::NO_CONTENT.into_response();
    session::clear_cookie(&app, response.headers_mut());
    Ok(response)
}

async fn seen(
    app: &App,
    user: &UserRecord,
    session: &SessionRecord,
    token: &str,
) -> Result<Session, Problem> {
    let organization = app.store().scoped(user.organization).organization_record().await?;
    Ok(Session::new(user, session, organization, csrf_token(token)))
}

/// No cache on the way keeps the answer.
pub(crate) fn never_kept(headers: &mut HeaderMap) {
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
}
