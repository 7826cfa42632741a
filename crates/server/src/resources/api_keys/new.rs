//! Keys that are asked for.

use std::time::Duration;

use fullbench_store::{KeptSecret, NewApiKey};
use fullbench_types::{Action, UserRole};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use crate::access::Caller;
use crate::problem::{FORBIDDEN, Problem};

/// For how long the old key goes on at most.
const LONGEST_GRACE: u64 = 30 * 86_400;

/// A key to be made.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewApiKey")]
pub(super) struct Wanted {
    /// What the key is for.
    #[schemars(length(min = 1, max = 255))]
    name: String,
    /// What it may do. Default: `engineer`, or your own role where that allows less.
    #[serde(default)]
    role: Option<UserRole>,
    /// The actions of the role that it is for. Default: all of them.
    #[serde(default)]
    #[schemars(length(min = 1))]
    scopes: Option<Vec<Action>>,
    /// When it opens nothing any more. Default: never.
    #[serde(default)]
    expires_at: Option<Timestamp>,
    /// How often it may be used. Default: as often as the organization may call.
    #[serde(default)]
    #[schemars(range(min = 1))]
    requests_per_minute: Option<u32>,
    /// It belongs to nobody and stays when you leave; needs `members:write`.
    #[serde(default)]
    service: bool,
}

/// How a key is renewed.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ApiKeyRenewal")]
pub(super) struct Renewal {
    /// For how long the old key goes on, at most 30 days. Default: a day.
    #[serde(default = "a_day")]
    #[schemars(range(max = 2_592_000))]
    grace_seconds: u64,
}

fn a_day() -> u64 {
    86_400
}

impl Wanted {
    /// The key, if the caller may make it.
    pub(super) fn checked(
        self,
        caller: &Caller,
        id: Uuid,
        secret: KeptSecret,
    ) -> Result<NewApiKey, Problem> {
        if self.name.trim().is_empty() || self.name.chars().count() > 255 {
            return Err(Problem::field("name", "a name has 1 to 255 letters"));
        }
        if self.name.contains(char::is_control) {
            return Err(Problem::field("name", "a name has letters, in one line"));
        }
        if self.expires_at.is_some_and(|end| end <= Timestamp::now()) {
            return Err(Problem::field("expires_at", "this time has passed"));
        }
        if self.requests_per_minute == Some(0) {
            return Err(Problem::field("requests_per_minute", "a key is used once at least"));
        }
        if self.scopes.as_ref().is_some_and(Vec::is_empty) {
            let problem = Problem::field("scopes", "a key without scopes would open nothing");
            return Err(problem.hint("leave `scopes` out for all actions of the role"));
        }
        let role = self.role.unwrap_or_else(|| default_role(caller));
        for (place, scope) in self.scopes.iter().flatten().enumerate() {
            if !role.allows(*scope) {
                let field = format!("scopes[{place}]");
                return Err(Problem::field(field, format!("`{role}` does not allow `{scope}`")));
            }
        }
        let wanted = |action: &Action| match &self.scopes {
            Some(scopes) => scopes.contains(action),
            None => role.allows(*action),
        };
        if let Some(more) =
            Action::ALL.iter().find(|action| wanted(action) && !caller.may(**action))
        {
            let detail = format!("the key would allow `{more}`, which you may not do yourself");
            let hint = "choose a role that allows less, or fewer scopes";
            return Err(Problem::new(FORBIDDEN, detail).hint(hint));
        }
        let user = caller.user.filter(|_| !self.service);
        if user.is_none() && !caller.may(Action::ChangeMembers) {
            let detail = "a key that belongs to nobody needs `members:write`";
            let hint = "leave `service` out, and make it with a session or with a key of your own";
            return Err(Problem::new(FORBIDDEN, detail).hint(hint));
        }
        refuse_limited(caller)?;
        let expires_at = no_later(self.expires_at, caller.expires_at)?;
        Ok(NewApiKey {
            id,
            name: self.name,
            user,
            role,
            scopes: self.scopes,
            requests_per_minute: self.requests_per_minute,
            expires_at,
            created_by: Some(caller.name.clone()),
            secret,
        })
    }
}

/// Refuses keys by a key with a limit on its requests. Each is counted by itself: with several more would come through.
pub(super) fn refuse_limited(caller: &Caller) -> Result<(), Problem> {
    if caller.requests_per_minute.is_none() {
        return Ok(());
    }
    let detail = "a key with a limit on its requests makes and renews no keys";
    let hint = "do it with a session, or with a key that has no such limit";
    Err(Problem::new(FORBIDDEN, detail).hint(hint))
}

/// The end of a key that is made with another: no later than that one's, and the same where none is said.
fn no_later(said: Option<Timestamp>, own: Option<Timestamp>) -> Result<Option<Timestamp>, Problem> {
    match (said, own) {
        (Some(said), Some(own)) if said > own => {
            let problem = Problem::field("expires_at", "the key that makes it ends before");
            Err(problem.hint("make it with a session, or with a key that has no end"))
        }
        (said, own) => Ok(said.or(own)),
    }
}

/// The role of a key that names none.
fn default_role(caller: &Caller) -> UserRole {
    match caller.role().covers(UserRole::Engineer) {
        true => UserRole::Engineer,
        false => caller.role(),
    }
}

impl Renewal {
    /// For how long the old key goes on.
    pub(super) fn checked(&self) -> Result<Duration, Problem> {
        if self.grace_seconds > LONGEST_GRACE {
            return Err(Problem::field("grace_seconds", "a key goes on for 30 days at most"));
        }
        Ok(Duration::from_secs(self.grace_seconds))
    }
}
