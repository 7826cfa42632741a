//! Somebody who is sent requests by HTTP/1.1, as far as a test of what is sent needs it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

/// What came.
#[derive(Clone)]
pub(crate) struct Received {
    /// The first line and the headers.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Received {
    pub(crate) fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap()
    }
}

/// Answers every request with a status and a text, until the test is over; gives the address.
pub(crate) fn receive(
    answer: impl Fn(Received) -> (u16, String) + Send + Sync + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let answer = answer.clone();
            std::thread::spawn(move || serve(&stream.unwrap(), &*answer));
        }
    });
    url
}

/// Answers every request of a connection.
fn serve(mut stream: &TcpStream, answer: &impl Fn(Received) -> (u16, String)) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).unwrap_or_default() == 0 {
                return;
            }
        }
        let mut lines = head.lines().filter_map(|line| line.split_once(": "));
        let length = lines.find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().unwrap())];
        reader.read_exact(&mut body).unwrap();
        let (status, text) = answer(Received { head, body });
        let length = text.len();
        let said = format!(
            "HTTP/1.1 {status} Said\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{text}"
        );
        if stream.write_all(said.as_bytes()).is_err() {
            return;
        }
    }
}
