//! Signing in with a password. What is wrong is never said, nor told by how long it takes.

use fullbench_store::{Credentials, UserRecord};
use fullbench_types::{AuditPhase, email_address};

use super::passwords::Verdict;
use super::second_factor;
use super::session::signed_in_entry;
use super::tries::{Account, Tried, Try};
use super::visitor::Visitor;
use crate::app::App;
use crate::problem::{Problem, SECOND_FACTOR, SIGN_IN};

/// What somebody shows to sign in.
pub(crate) struct Shown<'request> {
    pub(crate) email: &'request str,
    pub(crate) password: &'request str,
    /// The slug of their organization.
    pub(crate) organization: Option<&'request str>,
    /// A code of their app.
    pub(crate) totp_code: Option<&'request str>,
    /// A code on paper instead.
    pub(crate) recovery_code: Option<&'request str>,
}

/// Who it is.
pub(crate) async fn sign_in(
    app: &App,
    shown: Shown<'_>,
    visitor: &Visitor,
) -> Result<UserRecord, Problem> {
    let email = email_address(shown.email).unwrap_or_default();
    let slug = slug_of(app, shown.organization).await?;
    let account = Account { organization: slug.as_deref().unwrap_or_default(), email: &email };
    let tried = Try::begin(app, Tried::SignIn, &account, visitor).await?;
    let mut people = app.store().credentials_of_email(&email, slug.as_deref()).await?;
    // Of several with the same address nobody is meant until the organization is named.
    let found = if people.len() == 1 { people.pop() } else { None };
    let kept = found.as_ref().and_then(|credentials| credentials.password.as_ref());
    let verdict = app.passwords().verify(kept, shown.password).await?;
    // Afterwards, so that it takes no time that would tell whether there is an account.
    let note = |user: &UserRecord, phase| {
        let entry = signed_in_entry(user, visitor, phase);
        app.audit().note_later(app.store().scoped(user.organization), entry);
    };
    if let Some(credentials) = found.as_ref().filter(|_| verdict == Verdict::Wrong) {
        note(&credentials.user, AuditPhase::Refused);
    }
    let Some(credentials) = found.filter(|_| verdict != Verdict::Wrong) else {
        return Err(failed());
    };
    if credentials.user.has_second_factor {
        let is_shown = match (shown.totp_code, shown.recovery_code) {
            (Some(code), _) => second_factor::is_code(app, &credentials, code).await?,
            (None, Some(code)) => {
                second_factor::is_recovery_code(app, &credentials.user, code).await?
            }
            (None, None) => {
                tried.undecided(app).await?;
                // Somebody knows the password, whoever they are.
                note(&credentials.user, AuditPhase::Asked);
                let problem = Problem::new(SECOND_FACTOR, "a code of your second factor is needed");
                return Err(problem.hint("send it as `totp_code`, or a `recovery_code`"));
            }
        };
        if !is_shown {
            note(&credentials.user, AuditPhase::Refused);
            return Err(failed());
        }
    }
    tried.succeeded(app).await?;
    if verdict == Verdict::Outdated {
        rehash(app, &credentials, shown.password).await?;
    }
    Ok(credentials.user)
}

/// Has somebody who is signed in show their password again.
pub(crate) async fn confirm_password(
    app: &App,
    user: &UserRecord,
    password: &str,
    visitor: &Visitor,
) -> Result<(), Problem> {
    let store = app.store().scoped(user.organization);
    let slug = store.organization_record().await?.slug;
    let account = Account { organization: &slug, email: &user.email };
    let tried = Try::begin(app, Tried::SignIn, &account, visitor).await?;
    let kept = store.credentials(user.id).await?.password;
    match app.passwords().verify(kept.as_ref(), password).await? {
        Verdict::Wrong => Err(Problem::field("password", "this is not your password")),
        Verdict::Right | Verdict::Outdated => tried.succeeded(app).await,
    }
}

/// The organization that is meant where none is said: the only one there is.
pub(crate) async fn slug_of(app: &App, said: Option<&str>) -> Result<Option<String>, Problem> {
    match said {
        Some(slug) => Ok(Some(slug.to_owned())),
        None => Ok(app.store().only_organization().await?.map(|only| only.slug)),
    }
}

async fn rehash(app: &App, credentials: &Credentials, password: &str) -> Result<(), Problem> {
    let Credentials { user, password: Some(old), .. } = credentials else { return Ok(()) };
    // What would be too short today goes on as it is.
    if let Ok(new) = app.passwords().hash(password, &user.email).await {
        let store = app.store().scoped(user.organization);
        store.rehash_password(user.id, old.clone(), new).await?;
    }
    Ok(())
}

/// Somebody who could not be let in, whatever the reason.
pub(super) fn failed() -> Problem {
    Problem::new(SIGN_IN, "mail address, password or code are not right")
        .hint("name the `organization` too if you belong to several")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use fullbench_store::{NewOrganization, NewUser};
    use fullbench_types::{DEFAULT_ORGANIZATION, OrganizationId, Plan, UserRole};

    use super::super::passwords::tests::Cost;
    use super::super::tests::app;
    use super::*;
    use crate::access::password_hash;

    const PASSWORD: &str = "correct horse battery";

    async fn person(app: &App, organization: OrganizationId, email: &str, has_password: bool) {
        let password = has_password.then(|| password_hash(PASSWORD, email).unwrap());
        let new = NewUser {
            email: email.to_owned(),
            name: "Ann".to_owned(),
            role: UserRole::Viewer,
            password,
        };
        app.store().scoped(organization).add_user(new).await.unwrap();
    }

    /// One comparison of the same cost for every address: whoever measures the time learns of no account.
    #[tokio::test]
    async fn nobody_costs_as_much_as_somebody() {
        let (app, _folder) = app().await;
        let new = NewOrganization {
            name: "Other".to_owned(),
            slug: "other".to_owned(),
            plan: Plan::Free,
        };
        let other = app.store().create_organization(new).await.unwrap().id;
        person(&app, DEFAULT_ORGANIZATION, "ann@example.com", true).await;
        person(&app, DEFAULT_ORGANIZATION, "both@example.com", true).await;
        person(&app, other, "both@example.com", true).await;
        person(&app, DEFAULT_ORGANIZATION, "issuer@example.com", false).await;
        for (who, email, organization, password) in [
            ("somebody", "ann@example.com", Some("default"), "wrong password"),
            ("nobody", "nobody@example.com", Some("default"), PASSWORD),
            ("nobody anywhere", "nobody@example.com", None, PASSWORD),
            ("somebody elsewhere", "ann@example.com", Some("other"), PASSWORD),
            ("an organization that is not there", "ann@example.com", Some("none"), PASSWORD),
            ("one of several", "both@example.com", None, PASSWORD),
            ("who has no password", "issuer@example.com", Some("default"), PASSWORD),
            ("what is no address", "not an address", Some("default"), PASSWORD),
            ("an empty password", "nobody@example.com", Some("default"), ""),
        ] {
            let (totp_code, recovery_code) = (None, None);
            let shown = Shown { email, password, organization, totp_code, recovery_code };
            let refused = sign_in(&app, shown, &Visitor::default()).await.unwrap_err();
            assert_eq!(refused.kind, SIGN_IN, "{who}: {refused:?}");
            assert_eq!(app.passwords().took(), [Cost::TODAY], "{who}");
        }
    }
}
