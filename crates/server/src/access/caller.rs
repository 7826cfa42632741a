//! Who calls: the organization that a credential opens, and what it allows there.

use axum::extract::FromRequestParts;
use axum::http::header;
use axum::http::request::Parts;
use fullbench_store::{KeyHolder, OrganizationSettings, ScopedStore, SessionHolder};
use fullbench_types::{Action, UserRole};
use jiff::Timestamp;
use uuid::Uuid;

use super::forgery::refuse_forged;
use super::ring::Hash;
use super::secret::hash_of;
use super::session::session_token;
use crate::app::App;
use crate::problem::{INTERNAL, Problem, UNAUTHORIZED};
use crate::quotas::Quotas;

/// Who calls, and the store as their organization sees it.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) store: ScopedStore,
    /// Who it is, as records say it.
    pub(crate) name: String,
    /// What opened the organization to them.
    pub(crate) credential: Credential,
    /// The hash of the secret that they showed.
    shown: Hash,
    /// The person it is, or whose key it is.
    pub(crate) user: Option<Uuid>,
    /// What they may do.
    role: UserRole,
    /// What the key's owner may do, where that is less.
    role_of_user: UserRole,
    /// The actions that the key is for.
    scopes: Option<Vec<Action>>,
    /// What the organization has decided.
    pub(crate) settings: OrganizationSettings,
    /// How much the organization may do and have.
    pub(crate) quotas: Quotas,
    /// How often the key may be used.
    pub(crate) requests_per_minute: Option<u32>,
    /// When the key ends.
    pub(crate) expires_at: Option<Timestamp>,
}

/// What opens an organization.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Credential {
    /// A bearer key.
    Key(Uuid),
    /// A cookie of somebody who is signed in.
    Session(Uuid),
}

impl Credential {
    /// What kind it is, in a word.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::Key(_) => "key",
            Self::Session(_) => "session",
        }
    }

    /// Its id.
    pub(crate) fn id(self) -> Uuid {
        match self {
            Self::Key(id) | Self::Session(id) => id,
        }
    }
}

impl Caller {
    /// Who calls with these headers: the key counts, and the session where there is none.
    pub(super) async fn authenticate(app: &App, parts: &Parts) -> Result<Self, Problem> {
        let refused = |detail: &str| {
            let hint = "send `Authorization: Bearer fb_…` with a key of your organization";
            Problem::new(UNAUTHORIZED, detail).hint(hint)
        };
        let Some(value) = parts.headers.get(header::AUTHORIZATION) else {
            let Some(token) = session_token(app, &parts.headers) else {
                return Err(refused("there is neither an API key nor a session"));
            };
            let shown = hash_of(token);
            let holder = app.sessions().find(app, shown).await?;
            let over = || refused("the session is over").hint("sign in with POST /v1/session");
            let holder = holder.ok_or_else(over)?;
            refuse_forged(app, parts, token)?;
            return Ok(Self::of_session(app, shown, holder));
        };
        let secret = value.to_str().ok().and_then(|value| {
            let (scheme, secret) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
        });
        let Some(secret) = secret else {
            return Err(refused("the header `Authorization` holds no bearer key"));
        };
        let shown = hash_of(secret);
        let holder = app.keys().find(app, shown).await?;
        let holder = holder
            .ok_or_else(|| refused("the API key is not known, was revoked, or is past its end"))?;
        Ok(Self::of_key(app, shown, holder))
    }

    fn of_key(app: &App, shown: Hash, holder: KeyHolder) -> Self {
        let KeyHolder { key, user, plan, settings } = holder;
        Self {
            store: app.store().scoped(key.organization),
            name: format!("key:{}", key.prefix),
            credential: Credential::Key(key.id),
            shown,
            user: key.user,
            role: key.role,
            role_of_user: user.map_or(key.role, |user| user.role),
            scopes: key.scopes,
            quotas: app.config().quotas_of(plan),
            settings,
            requests_per_minute: key.requests_per_minute,
            expires_at: key.expires_at,
        }
    }

    fn of_session(app: &App, shown: Hash, holder: SessionHolder) -> Self {
        let SessionHolder { session, user, plan, settings } = holder;
        Self {
            store: app.store().scoped(session.organization),
            name: format!("user:{}", user.email),
            credential: Credential::Session(session.id),
            shown,
            user: Some(user.id),
            role: user.role,
            role_of_user: user.role,
            scopes: None,
            quotas: app.config().quotas_of(plan),
            settings,
            requests_per_minute: None,
            expires_at: None,
        }
    }

    /// Whether they may still do it, some time after they were let in.
    pub(crate) async fn may_still(&self, app: &App, action: Action) -> Result<bool, Problem> {
        let now = match self.credential {
            Credential::Key(_) => {
                let holder = app.keys().find_again(app, self.shown).await?;
                holder.map(|holder| Self::of_key(app, self.shown, holder))
            }
            Credential::Session(_) => {
                let holder = app.sessions().find_again(app, self.shown).await?;
                holder.map(|holder| Self::of_session(app, self.shown, holder))
            }
        };
        Ok(now.is_some_and(|now| now.may(action)))
    }

    /// Whether they may do it.
    pub(crate) fn may(&self, action: Action) -> bool {
        self.role.allows(action)
            && self.role_of_user.allows(action)
            && self.scopes.as_ref().is_none_or(|scopes| scopes.contains(&action))
    }

    /// Whether they may do all that this role may: only then they may give it to somebody.
    pub(crate) fn covers(&self, role: UserRole) -> bool {
        Action::ALL.iter().all(|action| self.may(*action) || !role.allows(*action))
    }

    /// Their role, as it is told to them.
    pub(crate) fn role(&self) -> UserRole {
        if self.role.covers(self.role_of_user) { self.role_of_user } else { self.role }
    }

    /// Whether the role would allow it, so that only the key does not.
    pub(super) fn is_kept_by_scopes(&self, action: Action) -> bool {
        self.role.allows(action) && self.role_of_user.allows(action)
    }
}

impl FromRequestParts<App> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        // The guard put it there; an endpoint for anybody has no caller.
        let unguarded = || Problem::new(INTERNAL, "the endpoint does not ask who calls");
        parts.extensions.get::<Self>().cloned().ok_or_else(unguarded)
    }
}
