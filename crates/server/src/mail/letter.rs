//! What is written to people.

use crate::app::App;

/// A letter to somebody. It holds secrets, so that nothing prints it.
pub(crate) struct Letter {
    pub(super) to: String,
    pub(super) subject: String,
    pub(super) text: String,
}

impl Letter {
    /// Asks somebody to join.
    pub(crate) fn invitation(to: &str, organization: &str, link: &str) -> Self {
        let organization = one_line(organization);
        Self {
            to: to.to_owned(),
            subject: format!("You are asked to join {organization} on Fullbench"),
            text: format!(
                "You are asked to join {organization} on Fullbench.\n\n\
                 Accept within seven days:\n\n{link}\n\n\
                 If you do not know what this is about, you need not do anything.\n"
            ),
        }
    }

    /// Tells somebody something that is known by now.
    pub(crate) fn news(to: &str, subject: &str, text: String) -> Self {
        Self { to: to.to_owned(), subject: one_line(subject), text }
    }

    /// Lets somebody set a new password.
    pub(crate) fn password(to: &str, organization: &str, link: &str) -> Self {
        let organization = one_line(organization);
        Self {
            to: to.to_owned(),
            subject: "A new password for Fullbench".to_owned(),
            text: format!(
                "Somebody, perhaps you, forgot the password of this address at {organization} on Fullbench.\n\n\
                 Set a new one within an hour:\n\n{link}\n\n\
                 If it was not you, you need not do anything: your password stays as it is.\n"
            ),
        }
    }
}

/// The address of a page with a secret. What follows `#` is sent to no server, and so into no log.
pub(crate) fn link(app: &App, page: &str, token: &str) -> Option<String> {
    let base = app.config().public_url.as_ref()?.as_str().trim_end_matches('/');
    Some(format!("{base}/{page}#token={token}"))
}

fn one_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}
