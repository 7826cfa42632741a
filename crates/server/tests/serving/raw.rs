//! A client that says what it likes, when it likes.

use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::common::TestServer;

/// Longer than anything here should take.
const PATIENCE: Duration = Duration::from_secs(20);

/// A connection, byte by byte.
pub(crate) struct Raw(TcpStream);

/// What a server answered.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Raw {
    pub(crate) async fn connect(server: &TestServer) -> Self {
        let (_, address) = server.url.split_once("://").unwrap();
        Self(TcpStream::connect(address).await.unwrap())
    }

    /// Sends; false where nobody takes it any more.
    pub(crate) async fn send(&mut self, text: &str) -> bool {
        self.0.write_all(text.as_bytes()).await.is_ok()
    }

    /// Waits until the server closes the connection: how long it took, and what it sent until then.
    pub(crate) async fn until_closed(&mut self) -> (Duration, Vec<u8>) {
        let (started, mut bytes) = (Instant::now(), Vec::new());
        let read = tokio::time::timeout(PATIENCE, self.0.read_to_end(&mut bytes)).await;
        assert!(read.is_ok(), "the connection is still open");
        (started.elapsed(), bytes)
    }

    /// Whether something is sent within this time.
    pub(crate) async fn hears_within(&self, time: Duration) -> bool {
        tokio::time::timeout(time, self.0.readable()).await.is_ok()
    }

    /// The next answer, with the body that its length says it has.
    pub(crate) async fn answer(&mut self) -> Answered {
        tokio::time::timeout(PATIENCE, self.read_answer()).await.expect("no answer")
    }

    async fn read_answer(&mut self) -> Answered {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(self.0.read_u8().await.expect("the connection was closed"));
        }
        let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
        self.0.read_exact(&mut body).await.unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answered { status, head, body: String::from_utf8(body).unwrap() }
    }
}
