//! The way to the issuer and back.

use axum::http::HeaderMap;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use fullbench_store::{Purpose, UserRecord};
use jiff::Timestamp;
use openidconnect::core::{
    CoreAuthenticationFlow, CoreErrorResponseType, CoreIdToken, CoreIdTokenClaims,
    CoreUserInfoClaims,
};
use openidconnect::{
    AccessToken, AuthorizationCode, ClaimsVerificationError, CsrfToken, Nonce, OAuth2TokenResponse,
    PkceCodeChallenge, PkceCodeVerifier, RequestTokenError, Scope, SignatureVerificationError,
    StandardErrorResponse, TokenResponse,
};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

use super::http::HttpError;
use super::issuer::{Client, Issuer};
use super::person::{Vouched, person};
use crate::access::session::{add_cookie, cookie};
use crate::app::App;
use crate::problem::{NOT_FOUND, Problem, SIGN_IN, internal};

/// What is sealed in the cookie.
const WAY: &[u8] = b"way to the issuer";
/// Seconds that somebody may take at the issuer.
const HOLDS: i64 = 600;

/// What is kept by the browser until it is back.
#[derive(Serialize, Deserialize)]
struct Way {
    state: String,
    nonce: String,
    verifier: String,
    until: i64,
}

/// What the issuer sends the browser back with.
#[derive(Deserialize, schemars::JsonSchema)]
#[schemars(rename = "OidcCallback")]
pub(crate) struct Back {
    /// What is changed for an ID token.
    #[serde(default)]
    code: Option<String>,
    /// What the browser was sent with.
    #[serde(default)]
    state: Option<String>,
    /// What went wrong at the issuer.
    #[serde(default)]
    error: Option<String>,
}

/// Where the browser goes, and the cookie it takes along.
pub(crate) async fn start(app: &App, headers: &mut HeaderMap) -> Result<String, Problem> {
    let issuer = issuer(app)?;
    let client = issuer.client(false).await?;
    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let mut request = client
        .authorize_url(
            CoreAuthenticationFlow::AuthorizationCode,
            CsrfToken::new_random,
            Nonce::new_random,
        )
        .set_pkce_challenge(challenge);
    for scope in &issuer.config.scopes {
        request = request.add_scope(Scope::new(scope.clone()));
    }
    let (url, state, nonce) = request.url();
    let way = Way {
        state: state.into_secret(),
        nonce: nonce.secret().clone(),
        verifier: verifier.into_secret(),
        until: Timestamp::now().as_second() + HOLDS,
    };
    let way = serde_json::to_vec(&way).map_err(|error| internal(&error))?;
    let sealed = app.store().system_keys().seal(Purpose::SignIn, &way, WAY).await?;
    let sealed = URL_SAFE_NO_PAD.encode(sealed);
    add_cookie(app, headers, cookie_name(app), &sealed, HOLDS.unsigned_abs());
    Ok(url.into())
}

/// Who came back; the cookie of the way is used up, whatever comes of it.
pub(crate) async fn finish(
    app: &App,
    sent: &HeaderMap,
    back: Back,
    headers: &mut HeaderMap,
) -> Result<UserRecord, Problem> {
    let issuer = issuer(app)?;
    let way = match cookie(sent, cookie_name(app)) {
        Some(sealed) => opened(app, sealed).await,
        None => None,
    };
    add_cookie(app, headers, cookie_name(app), "", 0);
    let lost = || failed("the way back is not the one that was begun").hint("sign in again");
    let way = way.filter(|way| Timestamp::now().as_second() < way.until).ok_or_else(lost)?;
    let state = back.state.unwrap_or_default();
    if !bool::from(state.as_bytes().ct_eq(way.state.as_bytes())) {
        return Err(lost());
    }
    let code = match (back.code, back.error) {
        (Some(code), None) => code,
        _ => return Err(failed("the issuer does not vouch for you")),
    };
    let client = issuer.client(false).await?;
    let token = client
        .exchange_code(AuthorizationCode::new(code))
        .map_err(|error| internal(&error))?
        .set_pkce_verifier(PkceCodeVerifier::new(way.verifier))
        .request_async(&issuer.http)
        .await
        .map_err(|error| {
            tracing::warn!(error = reason(&error), "the issuer took the code for none");
            failed("the issuer does not vouch for you")
        })?;
    let id_token = token.id_token().ok_or_else(|| failed("the issuer sent no ID token"))?;
    let nonce = Nonce::new(way.nonce);
    let claims = checked(issuer, &client, id_token, &nonce).await?;
    let vouched = vouched(issuer, &client, &claims, token.access_token()).await?;
    person(app, &issuer.config, vouched).await
}

/// Why there is no token, in no words of the issuer: they could repeat the secret or the code that it was sent.
fn reason(
    error: &RequestTokenError<HttpError, StandardErrorResponse<CoreErrorResponseType>>,
) -> String {
    match error {
        RequestTokenError::ServerResponse(said) => match said.error() {
            CoreErrorResponseType::Extension(_) => "an error of its own".to_owned(),
            known => known.as_ref().to_owned(),
        },
        other => other.to_string(),
    }
}

/// What the ID token says, if it is one of the issuer, for us, of now, and for this way.
async fn checked(
    issuer: &Issuer,
    client: &Client,
    token: &CoreIdToken,
    nonce: &Nonce,
) -> Result<CoreIdTokenClaims, Problem> {
    let mut claims = token.claims(&issuer.verifier(client), nonce).cloned();
    let is_key_unknown = matches!(
        claims,
        Err(ClaimsVerificationError::SignatureVerification(
            SignatureVerificationError::NoMatchingKey
        ))
    );
    if is_key_unknown {
        // The issuer may have changed its keys.
        let client = issuer.client(true).await?;
        claims = token.claims(&issuer.verifier(&client), nonce).cloned();
    }
    claims.map_err(|error| {
        tracing::warn!(%error, "an ID token was refused");
        failed("the ID token of the issuer is not right")
    })
}

/// Whom the issuer vouches for; asked once more where the ID token leaves the mail address out.
async fn vouched(
    issuer: &Issuer,
    client: &Client,
    claims: &CoreIdTokenClaims,
    access: &AccessToken,
) -> Result<Vouched, Problem> {
    let mut vouched = Vouched {
        issuer: claims.issuer().to_string(),
        subject: claims.subject().to_string(),
        email: claims.email().map(|email| email.to_string()),
        is_verified: claims.email_verified().unwrap_or(false),
        name: claims.name().and_then(|names| names.get(None)).map(|name| name.to_string()),
    };
    if vouched.email.is_none()
        && let Ok(request) = client.user_info(access.clone(), Some(claims.subject().clone()))
    {
        let more: CoreUserInfoClaims =
            request.request_async(&issuer.http).await.map_err(|error| {
                tracing::warn!(%error, "the issuer says nothing of the person");
                failed("the issuer does not say who you are")
            })?;
        vouched.email = more.email().map(|email| email.to_string());
        vouched.is_verified = more.email_verified().unwrap_or(false);
        let name = more.name().and_then(|names| names.get(None)).map(|name| name.to_string());
        vouched.name = vouched.name.or(name);
    }
    Ok(vouched)
}

async fn opened(app: &App, sealed: &str) -> Option<Way> {
    let sealed = URL_SAFE_NO_PAD.decode(sealed).ok()?;
    let way = app.store().system_keys().open(Purpose::SignIn, &sealed, WAY).await.ok()?;
    serde_json::from_slice(&way).ok()
}

fn issuer(app: &App) -> Result<&Issuer, Problem> {
    let none = || {
        Problem::new(NOT_FOUND, "nobody else vouches for people here")
            .hint("sign in with POST /v1/session")
    };
    app.issuer().ok_or_else(none)
}

pub(super) fn failed(detail: &str) -> Problem {
    Problem::new(SIGN_IN, detail)
}

fn cookie_name(app: &App) -> &'static str {
    match app.config().secure_cookies {
        true => "__Host-fullbench-oidc",
        false => "fullbench-oidc",
    }
}
