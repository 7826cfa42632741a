//! Sessions of people: a random cookie, new at every sign-in, of which only the hash is kept.

use axum::http::{HeaderMap, HeaderValue, header};
use fullbench_store::{NewAuditEntry, NewSession, SessionHolder, SessionRecord, UserRecord};
use fullbench_types::AuditPhase;
use jiff::Timestamp;
use uuid::Uuid;

use super::NewSecret;
use super::secret::hash_of;
use super::sign_in::failed;
use super::visitor::Visitor;
use crate::app::App;
use crate::problem::{Problem, internal};

/// What every cookie begins with.
const PREFIX: &str = "fbs_";

/// A session that just began.
pub(crate) struct Begun {
    pub(crate) session: SessionRecord,
    /// The cookie itself.
    pub(crate) token: String,
}

/// Begins a session for somebody who has shown who they are.
pub(crate) async fn begin(
    app: &App,
    user: &UserRecord,
    visitor: &Visitor,
) -> Result<Begun, Problem> {
    let secret = NewSecret::new(PREFIX)?;
    let expires_at =
        Timestamp::now().checked_add(app.config().session_end).map_err(|error| internal(&error))?;
    let new = NewSession {
        id: Uuid::now_v7(),
        user: user.id,
        password_set_at: user.password_set_at,
        token_hash: secret.kept.hash,
        from_address: visitor.address.map(|address| address.to_string()),
        user_agent: visitor.user_agent.clone(),
        expires_at,
    };
    let store = app.store().scoped(user.organization);
    app.audit().note(&store, signed_in_entry(user, visitor, AuditPhase::Done)).await?;
    let session = store.start_session(new).await?.ok_or_else(failed)?;
    Ok(Begun { session, token: secret.shown_once })
}

/// What the audit log keeps of somebody who signs in, or tries to.
pub(super) fn signed_in_entry(
    user: &UserRecord,
    visitor: &Visitor,
    phase: AuditPhase,
) -> NewAuditEntry {
    let actor = format!("user:{}", user.email);
    NewAuditEntry { target: Some(user.id.to_string()), ..visitor.entry("sign_in", &actor, phase) }
}

/// Who is signed in with these headers.
pub(crate) async fn signed_in(
    app: &App,
    headers: &HeaderMap,
) -> Result<Option<SessionHolder>, Problem> {
    match session_token(app, headers) {
        Some(token) => app.sessions().find(app, hash_of(token)).await,
        None => Ok(None),
    }
}

/// Ends a session, here and at once.
pub(crate) async fn end(app: &App, session: &SessionRecord) -> Result<(), Problem> {
    app.store().scoped(session.organization).end_session(session.user, session.id).await?;
    app.sessions().forget(|holder| holder.session.id == session.id);
    Ok(())
}

/// The cookie of a request.
pub(crate) fn session_token<'headers>(
    app: &App,
    headers: &'headers HeaderMap,
) -> Option<&'headers str> {
    cookie(headers, cookie_name(app)).filter(|token| token.starts_with(PREFIX))
}

/// A cookie of a request, by its name.
pub(crate) fn cookie<'headers>(headers: &'headers HeaderMap, name: &str) -> Option<&'headers str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.split_once('='));
    pairs.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim())
}

/// Has the browser keep the session.
pub(crate) fn set_cookie(app: &App, headers: &mut HeaderMap, token: &str) {
    add_cookie(app, headers, cookie_name(app), token, app.config().session_end.as_secs());
}

/// Has the browser forget the session.
pub(crate) fn clear_cookie(app: &App, headers: &mut HeaderMap) {
    add_cookie(app, headers, cookie_name(app), "", 0);
}

/// Has the browser keep a cookie that no script reads and no other site has sent along with what changes something.
pub(crate) fn add_cookie(
    app: &App,
    headers: &mut HeaderMap,
    name: &str,
    value: &str,
    seconds: u64,
) {
    let secure = if app.config().secure_cookies { "; Secure" } else { "" };
    let line = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}");
    if let Ok(line) = HeaderValue::from_str(&line) {
        headers.append(header::SET_COOKIE, line);
    }
}

/// Browsers take a name with this prefix from the host itself alone, and only by TLS.
fn cookie_name(app: &App) -> &'static str {
    match app.config().secure_cookies {
        true => "__Host-fullbench",
        false => "fullbench",
    }
}
