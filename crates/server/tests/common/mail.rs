//! A mail server that keeps what it is sent (RFC 5321, as far as a client needs it).

use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// For how long a letter is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// A mail server.
pub(crate) struct MailServer {
    pub(crate) url: String,
    letters: mpsc::UnboundedReceiver<Letter>,
}

/// Mail that arrived.
#[derive(Debug)]
pub(crate) struct Letter {
    /// Whom the server is to deliver it to.
    pub(crate) to: Vec<String>,
    /// Headers and text, with the lines as they were written.
    pub(crate) text: String,
}

impl MailServer {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("smtp://{}", listener.local_addr().unwrap());
        let (sender, letters) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                let sender = sender.clone();
                tokio::spawn(async move { talk(connection, sender).await });
            }
        });
        Self { url, letters }
    }

    /// The next letter that was not looked at yet.
    pub(crate) async fn next(&mut self) -> Letter {
        let letter = timeout(PATIENCE, self.letters.recv()).await;
        letter.unwrap_or_else(|_| panic!("no letter came within {PATIENCE:?}")).unwrap()
    }
}

/// The token of the link in a letter.
pub(crate) fn token_of(letter: &Letter) -> String {
    let (_, rest) = letter.text.split_once("#token=").unwrap();
    rest.split_whitespace().next().unwrap().to_owned()
}

async fn talk(connection: TcpStream, sender: mpsc::UnboundedSender<Letter>) -> Option<()> {
    let (read, mut write) = connection.into_split();
    let mut lines = BufReader::new(read).lines();
    let mut to = Vec::new();
    write.write_all(b"220 mail.test ready\r\n").await.ok()?;
    while let Some(line) = lines.next_line().await.ok()? {
        let verb = line.split([' ', ':']).next().unwrap_or_default().to_ascii_uppercase();
        let answer = match verb.as_str() {
            "EHLO" => "250-mail.test\r\n250 AUTH PLAIN",
            "HELO" => "250 mail.test",
            // Whoever they are, and whatever they show.
            "AUTH" => "235 come in",
            "RCPT" => {
                let address = line.split(['<', '>']).nth(1)?;
                to.push(address.to_owned());
                "250 OK"
            }
            "DATA" => {
                write.write_all(b"354 go on\r\n").await.ok()?;
                let mut text = String::new();
                loop {
                    let line = lines.next_line().await.ok()??;
                    if line == "." {
                        break;
                    }
                    text.push_str(line.strip_prefix('.').unwrap_or(&line));
                    text.push('\n');
                }
                // Quoted-printable (RFC 2045), as far as our letters need it.
                let text = text.replace("=\n", "").replace("=3D", "=");
                sender.send(Letter { to: std::mem::take(&mut to), text }).ok()?;
                "250 OK"
            }
            "QUIT" => "221 bye",
            _ => "250 OK",
        };
        write.write_all(format!("{answer}\r\n").as_bytes()).await.ok()?;
    }
    Some(())
}
