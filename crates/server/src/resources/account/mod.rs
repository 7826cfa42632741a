//! One's own account: name, password, second factor, and where one is signed in.

mod second_factor;
mod sessions;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Json;
use fullbench_store::UserRecord;
use schemars::JsonSchema;
use serde::Deserialize;

use super::members::Member;
use crate::access::{Caller, Credential, Rule, Visitor, confirm_password};
use crate::api::Endpoint;
use crate::app::App;
use crate::audit::AuditNote;
use crate::extract::Body;
use crate::problem::{CONFLICT, INTERNAL, Problem};

/// What is to be different about one's account.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AccountChange {
    /// Your name.
    #[schemars(length(min = 1, max = 255))]
    name: String,
}

/// A new password.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PasswordChange {
    /// The password there is.
    #[schemars(length(min = 1, max = 1024))]
    old_password: String,
    /// The password to be.
    #[schemars(length(min = 10, max = 1024))]
    password: String,
}

pub(crate) fn endpoints() -> Vec<Endpoint> {
    let mut endpoints = vec![
        Endpoint::patch("/v1/account", "change_account", Rule::Account, change)
            .about("account", "Change your name", "")
            .takes::<AccountChange>()
            .gives::<Member>(200, "Your account"),
        Endpoint::post("/v1/account/password", "change_password", Rule::Account, password)
            .about("account", "Change your password", "All your other sessions end.")
            .takes::<PasswordChange>()
            .gives_nothing(204, "The password was changed")
            .refuses(&[409, 503]),
    ];
    endpoints.extend(sessions::endpoints());
    endpoints.extend(second_factor::endpoints());
    endpoints
}

async fn change(
    State(app): State<App>,
    caller: Caller,
    note: AuditNote,
    Body(change): Body<AccountChange>,
) -> Result<Json<Member>, Problem> {
    let name = person_name(&change.name)?;
    let own = own(&caller).await?;
    let id = own.id;
    note.before(&Member::from(own));
    let changed = Member::from(caller.store.rename_user(id, name).await?);
    note.after(&changed);
    app.sessions().forget(|holder| holder.user.id == id);
    Ok(Json(changed))
}

async fn password(
    State(app): State<App>,
    caller: Caller,
    visitor: Visitor,
    Body(change): Body<PasswordChange>,
) -> Result<StatusCode, Problem> {
    let user = own(&caller).await?;
    confirm_password(&app, &user, &change.old_password, &visitor)
        .await
        .map_err(|problem| problem.renamed("password", "old_password"))?;
    let hash = app.passwords().hash(&change.password, &user.email).await?;
    let Credential::Session(current) = caller.credential else { return Err(no_account()) };
    if !caller.store.change_password(&user, hash, current).await? {
        let problem = Problem::new(CONFLICT, "your password was changed at the same time");
        return Err(problem.hint("sign in with the one that you have now"));
    }
    app.sessions().forget(|holder| holder.user.id == user.id);
    Ok(StatusCode::NO_CONTENT)
}

/// The account of who calls.
async fn own(caller: &Caller) -> Result<UserRecord, Problem> {
    let id = caller.user.ok_or_else(no_account)?;
    Ok(caller.store.user(id).await?)
}

fn no_account() -> Problem {
    Problem::new(INTERNAL, "who calls has no account")
}

/// A name of a person that can be shown.
pub(super) fn person_name(name: &str) -> Result<&str, Problem> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > 255 || name.contains(char::is_control) {
        return Err(Problem::field("name", "a name has 1 to 255 letters in one line"));
    }
    Ok(name)
}
