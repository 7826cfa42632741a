//! Where one is signed in.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Json;
use fullbench_store::SessionRecord;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::own;
use crate::access::{Caller, Credential, Rule};
use crate::api::Endpoint;
use crate::app::App;
use crate::extract::PathParts;
use crate::problem::Problem;

/// Somewhere you are signed in.
#[derive(Serialize, JsonSchema)]
struct OwnSession {
    session_id: Uuid,
    /// Whether it is the one of this request.
    is_current: bool,
    /// Where you came from.
    from_address: Option<String>,
    /// What you came with.
    user_agent: Option<String>,
    created_at: Timestamp,
    /// When it was last used, to the minute.
    last_seen_at: Timestamp,
    expires_at: Timestamp,
}

/// Where you are signed in.
#[derive(Serialize, JsonSchema)]
struct OwnSessions {
    sessions: Vec<OwnSession>,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    vec![
        Endpoint::get("/v1/account/sessions", "list_sessions", Rule::Account, list)
            .about("account", "Where you are signed in", "The last used first.")
            .gives::<OwnSessions>(200, "Your sessions"),
        Endpoint::delete("/v1/account/sessions/{session_id}", "end_session", Rule::Account, end)
            .about("account", "Sign out somewhere else", "The session ends at once.")
            .gives_nothing(204, "The session is over"),
    ]
}

async fn list(State(app): State<App>, caller: Caller) -> Result<Json<OwnSessions>, Problem> {
    let now = Timestamp::now();
    let idle = app.config().session_idle_end;
    let is_open = |session: &SessionRecord| {
        let unused = now.duration_since(session.last_seen_at).unsigned_abs();
        now < session.expires_at && unused < idle
    };
    let sessions = caller.store.sessions_of(own(&caller).await?.id).await?.into_iter();
    let sessions = sessions.filter(is_open).map(|session| OwnSession {
        is_current: caller.credential == Credential::Session(session.id),
        session_id: session.id,
        from_address: session.from_address,
        user_agent: session.user_agent,
        created_at: session.created_at,
        last_seen_at: session.last_seen_at,
        expires_at: session.expires_at,
    });
    Ok(Json(OwnSessions { sessions: sessions.collect() }))
}

async fn end(
    State(app): State<App>,
    caller: Caller,
    PathParts(id): PathParts<Uuid>,
) -> Result<StatusCode, Problem> {
    caller.store.end_session(own(&caller).await?.id, id).await?;
    app.sessions().forget(|holder| holder.session.id == id);
    Ok(StatusCode::NO_CONTENT)
}
