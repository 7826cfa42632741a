//! From what an issuer says to a person of the organization.

use fullbench_store::{NewUser, UserRecord};
use fullbench_types::email_address;
use jiff::Timestamp;

use super::OidcConfig;
use super::flow::failed;
use crate::app::App;
use crate::problem::{INTERNAL, Problem};

/// Whom an issuer vouches for.
pub(super) struct Vouched {
    pub(super) issuer: String,
    /// What the issuer calls them, for ever.
    pub(super) subject: String,
    pub(super) email: Option<String>,
    /// Whether the issuer has seen that the address is theirs.
    pub(super) is_verified: bool,
    pub(super) name: Option<String>,
}

/// Who it is: known by issuer and subject; the first time by a mail address that the issuer has verified.
pub(super) async fn person(
    app: &App,
    config: &OidcConfig,
    vouched: Vouched,
) -> Result<UserRecord, Problem> {
    let organization = app.store().organization_of_slug(&config.organization).await?;
    let nowhere = || Problem::new(INTERNAL, "the organization of the issuer is not there");
    let store = app.store().scoped(organization.ok_or_else(nowhere)?.id);
    let stranger =
        || failed("you do not belong to the organization").hint("ask an admin to invite you");
    let Vouched { issuer, subject, email, is_verified, name } = vouched;
    if let Some(known) = store.user_of_subject(&issuer, &subject).await? {
        return if known.disabled_at.is_none() { Ok(known) } else { Err(stranger()) };
    }
    let email = email.as_deref().and_then(email_address).filter(|_| is_verified);
    let unverified = || failed("the issuer has not verified your mail address");
    let email = email.filter(|email| config.admits(email)).ok_or_else(unverified)?;
    let name = name.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| email.clone());
    let name: String = name.chars().filter(|letter| !letter.is_control()).take(255).collect();
    let invited = store.invitations().await?.into_iter();
    let invited = invited
        .filter(|invitation| invitation.email == email)
        .find(|invitation| invitation.is_open(Timestamp::now()));
    let person = match (store.user_of_email(&email).await?, invited, config.default_role) {
        (Some(known), _, _) if known.disabled_at.is_some() => return Err(stranger()),
        (Some(known), _, _) => known,
        (None, Some(invitation), _) => store.accept_invitation(invitation.id, name, None).await?,
        (None, None, Some(role)) => {
            store.add_user(NewUser { email, name, role, password: None }).await?
        }
        (None, None, None) => return Err(stranger()),
    };
    // Somebody whom the issuer calls otherwise keeps their account.
    match store.link_subject(person.id, &issuer, &subject).await? {
        true => Ok(person),
        false => Err(stranger()),
    }
}
