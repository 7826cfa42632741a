//! What `fullbench serve` refuses before it opens anything, and TLS from the command line.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::Duration;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustix::process::{Pid, Signal, kill_process};
use support::Folder;

/// A server as a process of its own; gone with the test.
struct Process {
    child: Child,
    url: String,
}

impl Process {
    fn start(folder: &Folder, arguments: &[&str]) -> Self {
        let all = [&["serve", "--listen", "127.0.0.1:0"], arguments].concat();
        let mut command = folder.command(&all);
        let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let url = lines.find_map(|line| {
            let line = line.unwrap();
            Some(line.strip_prefix("serving ")?.split(' ').next()?.to_owned())
        });
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, url: url.expect("the server ended") }
    }

    fn hang_up(&self) {
        let process = Pid::from_raw(self.child.id().try_into().unwrap()).unwrap();
        kill_process(process, Signal::HUP).unwrap();
    }

    /// Whether it answers somebody who trusts this certificate alone.
    async fn answers(&self, certificate: Option<&str>) -> bool {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut client = reqwest::Client::builder().no_proxy();
        if let Some(certificate) = certificate {
            let root = reqwest::Certificate::from_pem(certificate.as_bytes()).unwrap();
            client = client.tls_certs_only([root]);
        }
        let answer = client.build().unwrap().get(format!("{}/healthz", self.url)).send().await;
        answer.is_ok_and(|answer| answer.status() == 200)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Puts a new certificate and its key into the folder: the certificate.
fn new_certificate(folder: &Folder) -> String {
    let made = generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let CertifiedKey { cert, signing_key } = made;
    folder.file("key.pem", signing_key.serialize_pem());
    folder.file("certificate.pem", cert.pem());
    cert.pem()
}

#[tokio::test]
async fn a_hangup_reads_the_certificate_again_and_ends_nothing() {
    let folder = Folder::new();
    let first = new_certificate(&folder);
    let tls = ["--tls-cert", "certificate.pem", "--tls-key", "key.pem"];
    let server = Process::start(&folder, &tls);
    assert!(server.url.starts_with("https://"), "{}", server.url);
    assert!(server.answers(Some(&first)).await);
    let second = new_certificate(&folder);
    server.hang_up();
    // Sooner than the files are looked at by themselves.
    let mut is_new = false;
    for _ in 0..30 {
        is_new = is_new || server.answers(Some(&second)).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(is_new, "the new certificate is not used");

    let plain = Process::start(&Folder::new(), &[]);
    plain.hang_up();
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(plain.answers(None).await, "a server without TLS was ended");
}

#[test]
fn an_address_that_others_reach_needs_tls() {
    let folder = Folder::new();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:8787", "[::ffff:192.0.2.1]:8787"] {
        let said = folder.run(&["serve", "--listen", address]);
        assert_eq!(said.code, Some(2), "{address}: {}", said.stderr);
        for way in ["can be reached by other machines", "--tls-cert", "127.0.0.1", "--insecure"] {
            assert!(said.stderr.contains(way), "{address}: {}", said.stderr);
        }
    }
    let mut allowed = folder.command(&["serve", "--listen", "192.0.2.1:1"]);
    let said = support::said(allowed.env("FULLBENCH_INSECURE", "true").output().unwrap());
    assert!(said.stderr.contains("192.0.2.1:1 cannot be listened on"), "{}", said.stderr);
    assert!(!folder.path().join(".fullbench").exists(), "something was opened");
}

#[test]
fn files_that_cannot_be_used_are_told_before_anything_is_opened() {
    let folder = Folder::new();
    folder.file("text.pem", "text");
    let run = |arguments: &[&str]| {
        let said = folder.run(&[&["serve", "--listen", "127.0.0.1:0"], arguments].concat());
        assert_eq!(said.code, Some(2), "{}", said.stderr);
        said.stderr
    };
    assert!(run(&["--tls-cert", "text.pem"]).contains("a certificate for TLS, but no key"));
    assert!(run(&["--tls-key", "text.pem"]).contains("a key for TLS, but no certificate"));
    let none = run(&["--tls-cert", "none.pem", "--tls-key", "text.pem"]);
    assert!(none.contains("none.pem cannot be read"), "{none}");
    let text = run(&["--tls-cert", "text.pem", "--tls-key", "text.pem"]);
    assert!(text.contains("text.pem holds no certificate in PEM"), "{text}");
    assert!(run(&["--trusted-proxy", "proxy.example"]).contains("10.0.0.0/8"));
    assert!(run(&["--header-timeout", "0s"]).contains("30s or 2m"));
    assert!(run(&["--max-header-size", "4KiB"]).contains("8KiB to 1MiB"));
    assert!(!folder.path().join(".fullbench").exists(), "something was opened");
}
