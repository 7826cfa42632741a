//! Mail to people: sent in the background, tried again a few times, and never written into a log.

mod letter;
mod mailer;

pub(crate) use letter::{Letter, link};
pub use mailer::MailConfig;
pub(crate) use mailer::{Mailer, WHOLE_TRY};
