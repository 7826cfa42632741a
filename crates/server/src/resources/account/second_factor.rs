//! The second factor of one's account.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Json, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::session::never_kept;
use super::own;
use crate::access::{Caller, Rule, Visitor, confirm_password, second_factor};
use crate::api::Endpoint;
use crate::app::App;
use crate::extract::Body;
use crate::problem::{CONFLICT, Problem};

/// Your password, again.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PasswordAgain {
    #[schemars(length(min = 1, max = 1024))]
    password: String,
}

/// A second factor, which counts once it is confirmed: the only time that it is shown.
#[derive(Serialize, JsonSchema)]
struct OfferedSecondFactor {
    /// What is typed into an authenticator app.
    secret: String,
    /// The same as a link, which apps read as a picture.
    otpauth_uri: String,
}

/// A code of the app.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Confirmation {
    /// The code that the app shows now.
    #[schemars(length(min = 6, max = 16))]
    totp_code: String,
}

/// Codes to be written down: the only time that they are shown.
#[derive(Serialize, JsonSchema)]
struct ShownRecoveryCodes {
    /// Each stands in once for a code of the app.
    recovery_codes: Vec<String>,
}

pub(super) fn endpoints() -> Vec<Endpoint> {
    let offered = "Codes that change with the time (RFC 6238). Nothing is asked for until a code of the app confirms it.";
    let confirmed =
        "From now on a code is asked for at every sign-in. The recovery codes are shown this once.";
    vec![
        Endpoint::post("/v1/account/totp", "offer_second_factor", Rule::Account, offer)
            .about("account", "Begin with a second factor", offered)
            .takes::<PasswordAgain>()
            .gives::<OfferedSecondFactor>(201, "What the app has to know")
            .refuses(&[503]),
        Endpoint::post("/v1/account/totp/confirm", "confirm_second_factor", Rule::Account, confirm)
            .about("account", "Confirm the second factor", confirmed)
            .takes::<Confirmation>()
            .gives::<ShownRecoveryCodes>(200, "Codes to be written down"),
        Endpoint::post(
            "/v1/account/totp/recovery-codes",
            "renew_recovery_codes",
            Rule::Account,
            renew_codes,
        )
        .about("account", "New recovery codes", "The old ones hold no more.")
        .takes::<PasswordAgain>()
        .gives::<ShownRecoveryCodes>(200, "Codes to be written down")
        .refuses(&[503]),
        Endpoint::delete("/v1/account/totp", "remove_second_factor", Rule::Account, remove)
            .about("account", "Do without a second factor", "Needs your password.")
            .takes::<PasswordAgain>()
            .gives_nothing(204, "No code is asked for any more")
            .refuses(&[503]),
    ]
}

async fn offer(
    State(app): State<App>,
    caller: Caller,
    visitor: Visitor,
    Body(again): Body<PasswordAgain>,
) -> Result<Response, Problem> {
    let user = own(&caller).await?;
    if user.has_second_factor {
        let problem = Problem::new(CONFLICT, "you have a second factor already");
        return Err(problem.hint("remove it first with DELETE /v1/account/totp"));
    }
    confirm_password(&app, &user, &again.password, &visitor).await?;
    let offered = second_factor::offer(&app, &user).await?;
    caller.store.offer_second_factor(user.id, offered.sealed).await?;
    let shown = OfferedSecondFactor { secret: offered.secret, otpauth_uri: offered.uri };
    let mut response = (StatusCode::CREATED, Json(shown)).into_response();
    never_kept(response.headers_mut());
    Ok(response)
}

async fn confirm(
    State(app): State<App>,
    caller: Caller,
    Body(confirmation): Body<Confirmation>,
) -> Result<Response, Problem> {
    let user = own(&caller).await?;
    let credentials = caller.store.credentials(user.id).await?;
    let Some(sealed) = credentials.totp_secret.filter(|_| !user.has_second_factor) else {
        let problem = Problem::new(CONFLICT, "there is no second factor to be confirmed");
        return Err(problem.hint("begin with POST /v1/account/totp"));
    };
    let wrong = || {
        Problem::field("totp_code", "this is not the code of now")
            .hint("check that the clock of the app is right")
    };
    let step = second_factor::step_of(&app, &user, &sealed, &confirmation.totp_code).await?;
    let step = step.ok_or_else(wrong)?;
    let codes = second_factor::recovery_codes(&user)?;
    if !caller.store.confirm_second_factor(user.id, &sealed, step, &codes.hashes).await? {
        return Err(wrong());
    }
    app.sessions().forget(|holder| holder.user.id == user.id);
    Ok(shown(codes.shown_once))
}

async fn renew_codes(
    State(app): State<App>,
    caller: Caller,
    visitor: Visitor,
    Body(again): Body<PasswordAgain>,
) -> Result<Response, Problem> {
    let user = own(&caller).await?;
    if !user.has_second_factor {
        return Err(Problem::new(CONFLICT, "you have no second factor"));
    }
    confirm_password(&app, &user, &again.password, &visitor).await?;
    let codes = second_factor::recovery_codes(&user)?;
    caller.store.replace_recovery_codes(user.id, &codes.hashes).await?;
    Ok(shown(codes.shown_once))
}

async fn remove(
    State(app): State<App>,
    caller: Caller,
    visitor: Visitor,
    Body(again): Body<PasswordAgain>,
) -> Result<StatusCode, Problem> {
    let user = own(&caller).await?;
    confirm_password(&app, &user, &again.password, &visitor).await?;
    caller.store.remove_second_factor(user.id).await?;
    app.sessions().forget(|holder| holder.user.id == user.id);
    Ok(StatusCode::NO_CONTENT)
}

fn shown(recovery_codes: Vec<String>) -> Response {
    let mut response = Json(ShownRecoveryCodes { recovery_codes }).into_response();
    never_kept(response.headers_mut());
    response
}
