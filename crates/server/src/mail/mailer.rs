//! Sending mail by SMTP.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use lettre::message::header::ContentType;
use lettre::message::{Mailbox, Message};
use lettre::transport::smtp::AsyncSmtpTransport;
use lettre::{AsyncTransport, Tokio1Executor};
use tokio::sync::Semaphore;

use super::Letter;
use crate::app::App;

/// How long to wait before each try.
const WAITS: [u64; 4] = [0, 5, 30, 120];
/// Letters that may wait to be sent: more are not sent at all.
const WAITING: usize = 1024;
/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long sending a letter may take in all.
pub(crate) const WHOLE_TRY: Duration = Duration::from_secs(60);

/// How mail is sent.
#[derive(Clone)]
pub struct MailConfig {
    /// The server: `smtp://USER:PASSWORD@HOST:PORT?tls=required`, or `smtps://…`.
    pub url: String,
    /// Who mail comes from: `Fullbench <fullbench@example.com>`.
    pub from: String,
}

/// The address holds a password.
impl fmt::Debug for MailConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("MailConfig").field("from", &self.from).finish_non_exhaustive()
    }
}

/// Why a letter was not taken.
pub(crate) struct Undelivered {
    /// What went wrong.
    pub(crate) problem: String,
    /// It would go wrong again.
    pub(crate) is_permanent: bool,
}

/// What sends mail.
pub(crate) struct Mailer {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
    places: Arc<Semaphore>,
}

impl Mailer {
    /// What sends mail as it is set up; else what is wrong, without the password.
    pub(crate) fn new(config: &MailConfig) -> Result<Self, String> {
        let from = config
            .from
            .parse()
            .map_err(|_| format!("`{}` is no address that mail can come from", config.from))?;
        let transport = AsyncSmtpTransport::<Tokio1Executor>::from_url(&config.url)
            .map_err(|_| {
                "the address of the mail server is not right; write smtp://USER:PASSWORD@HOST:PORT?tls=required, or \
                 smtps://…"
                    .to_owned()
            })?
            .timeout(Some(PATIENCE))
            .build();
        Ok(Self { transport, from, places: Arc::new(Semaphore::new(WAITING)) })
    }

    /// Sends a letter afterwards.
    pub(crate) fn send(&self, app: &App, letter: Letter) {
        let Some(message) = self.message(letter) else {
            tracing::warn!("mail was not sent: it has no address that mail can go to");
            return;
        };
        let Ok(place) = self.places.clone().try_acquire_owned() else {
            tracing::error!("mail was not sent: {WAITING} letters wait already");
            return;
        };
        let (transport, stop) = (self.transport.clone(), app.stop().clone());
        app.tasks().spawn(async move {
            let _place = place;
            for (number, wait) in (1..).zip(WAITS) {
                tokio::select! {
                    () = tokio::time::sleep(Duration::from_secs(wait)) => {}
                    () = stop.cancelled() => {
                        tracing::warn!("mail was not sent: the server ends");
                        return;
                    }
                }
                match transport.send(message.clone()).await {
                    Ok(_) => return,
                    Err(error) => {
                        tracing::warn!(number, %error, "mail could not be sent");
                        if error.is_permanent() {
                            return;
                        }
                    }
                }
            }
            tracing::error!("mail was given up");
        });
    }

    /// Sends a letter once, and says how it went.
    pub(crate) async fn deliver(&self, letter: Letter) -> Result<(), Undelivered> {
        let Some(message) = self.message(letter) else {
            let problem = "there is no address that mail can go to".to_owned();
            return Err(Undelivered { problem, is_permanent: true });
        };
        let sending = tokio::time::timeout(WHOLE_TRY, self.transport.send(message));
        match sending.await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => {
                Err(Undelivered { problem: error.to_string(), is_permanent: error.is_permanent() })
            }
            Err(_) => {
                let problem = format!("not sent within {} s", WHOLE_TRY.as_secs());
                Err(Undelivered { problem, is_permanent: false })
            }
        }
    }

    fn message(&self, letter: Letter) -> Option<Message> {
        let to = Mailbox::new(None, letter.to.parse().ok()?);
        Message::builder()
            .from(self.from.clone())
            .to(to)
            .subject(letter.subject)
            .header(ContentType::TEXT_PLAIN)
            .body(letter.text)
            .ok()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn mailer() -> Mailer {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let url = "smtp://ann:s3cret@localhost:2525".to_owned();
        let config = MailConfig { url, from: "Fullbench <fullbench@example.com>".to_owned() };
        assert!(!format!("{config:?}").contains("s3cret"));
        Mailer::new(&config).unwrap()
    }

    #[tokio::test]
    async fn nothing_that_is_said_becomes_a_header() {
        let name = "Acme\r\nBcc: eve@example.com";
        let letter = Letter::invitation("bob@example.com", name, "https://x/#token=t");
        let sent = String::from_utf8(mailer().message(letter).unwrap().formatted()).unwrap();
        let headers = sent.split("\r\n\r\n").next().unwrap();
        assert!(!headers.contains("\nBcc:"), "{headers}");
        assert!(headers.contains("To: bob@example.com"), "{headers}");
        let odd = "bob@example.com>\r\nBcc: <eve@example.com";
        assert!(mailer().message(Letter::invitation(odd, "Acme", "link")).is_none());
    }

    #[test]
    fn a_wrong_address_is_told_without_the_password() {
        let config = MailConfig {
            url: "smpt://ann:s3cret@host".to_owned(),
            from: "fullbench@example.com".to_owned(),
        };
        let problem = Mailer::new(&config).err().unwrap();
        assert!(problem.contains("smtp://") && !problem.contains("s3cret"), "{problem}");
        let config = MailConfig { url: "smtp://host".to_owned(), from: "nobody".to_owned() };
        assert!(Mailer::new(&config).err().unwrap().contains("nobody"));
    }
}
