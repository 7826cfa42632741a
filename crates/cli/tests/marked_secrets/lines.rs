//! No request writes a line of its own into the log, nor anything that a terminal obeys.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::logged::{Logged, runtime};
use crate::support::Folder;

#[test]
fn no_request_writes_a_line_of_its_own() {
    for format in ["text", "json"] {
        let folder = Folder::new();
        let mut command =
            folder.command(&["-vv", "serve", "--listen", "127.0.0.1:0", "--log-format", format]);
        command.env("FULLBENCH_LOG", "debug");
        let mut server = Logged::start(&folder, command, runtime());
        let address = server.url.strip_prefix("http://").unwrap().to_owned();
        let forged = "2026-01-01T00:00:00Z  INFO forged";
        for head in [
            format!("GET /v1/%0a{}%0d%0a HTTP/1.1\r\nhost: a\r\n", forged.replace(' ', "%20")),
            format!("GET /v1/x HTTP/1.1\r\nhost: a\r\nx-request-id: a\n{forged}\r\n"),
            format!("GET /v1/x HTTP/1.1\r\nhost: a\r\nx-request-id: \u{1b}[31m{forged}\r\n"),
            format!("GET /v1/x HTTP/1.1\r\nhost: a\r\nx-request-id: a b {forged}\r\n"),
            format!("GET /v1/x HTTP/1.1\r\nhost: a\r\nuser-agent: \u{1b}[2J{forged}\r\n"),
            format!("{forged}\r\n{forged}\r\n"),
        ] {
            let mut stream = TcpStream::connect(&address).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
            stream.write_all(format!("{head}connection: close\r\n\r\n").as_bytes()).unwrap();
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer);
            let answer = String::from_utf8_lossy(&answer);
            assert!(!answer.contains(forged), "the name of a request is taken as it is: {answer}");
        }
        let name = format!("a\n{forged}\n\u{1b}[31m");
        server.own("POST", "/v1/datasets", Some(json!({"name": name, "type": "EVALUATION"})));
        server.own("POST", "/v1/api-keys", Some(json!({"name": name})));
        let log = server.stop();
        let lines: Vec<&str> = log.lines().filter(|line| line.contains("answered")).collect();
        assert!(lines.len() >= 4, "{log}");
        for line in log.lines() {
            assert!(!line.trim_start().starts_with(forged), "a line of its own: {line}");
            assert!(!line.contains('\u{1b}'), "an escape sequence: {line:?}");
            if format == "json" {
                assert!(serde_json::from_str::<Value>(line).is_ok(), "{line}");
            }
        }
    }
}
