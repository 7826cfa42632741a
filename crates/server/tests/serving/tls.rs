//! Certificates: used, checked, and read again.

use std::path::Path;
use std::time::Duration;

use fullbench_server::{Server, ServerConfig, ServingConfig, StartError, TlsFiles};
use rcgen::{CertifiedKey, generate_simple_self_signed};

use crate::common::TestServer;
use crate::common::backend::Place;
use crate::raw::Raw;
use crate::serving;

/// A certificate of this machine with its key, as PEM.
fn made() -> (String, String) {
    let names = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).unwrap();
    (cert.pem(), signing_key.serialize_pem())
}

fn written(folder: &Path, (certificate, key): &(String, String)) -> TlsFiles {
    let files =
        TlsFiles { certificate: folder.join("certificate.pem"), key: folder.join("key.pem") };
    std::fs::write(&files.certificate, certificate).unwrap();
    std::fs::write(&files.key, key).unwrap();
    files
}

fn with_tls(files: TlsFiles) -> ServingConfig {
    let reload_every = Duration::from_millis(50);
    ServingConfig { tls: Some(files), reload_every, ..ServingConfig::default() }
}

/// Whether somebody who trusts this certificate alone is answered.
async fn answers(server: &TestServer, (certificate, _): &(String, String)) -> bool {
    let root = reqwest::Certificate::from_pem(certificate.as_bytes()).unwrap();
    let client = reqwest::Client::builder().no_proxy().tls_certs_only([root]).build().unwrap();
    let url = format!("{}/healthz", server.url.replace("http://", "https://"));
    let Ok(answer) = client.get(url).send().await else { return false };
    assert!(
        answer.headers().contains_key("strict-transport-security"),
        "browsers are to come back with TLS"
    );
    answer.status() == 200
}

async fn comes_to_answer(server: &TestServer, pair: &(String, String)) {
    for _ in 0..400 {
        if answers(server, pair).await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("the new certificate was never used");
}

#[tokio::test]
async fn a_changed_certificate_is_used_and_a_broken_one_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second, third) = (made(), made(), made());
    let files = written(folder.path(), &first);
    let server = serving(with_tls(files.clone())).await;
    assert!(answers(&server, &first).await);
    assert!(!answers(&server, &second).await);

    written(folder.path(), &second);
    comes_to_answer(&server, &second).await;
    assert!(!answers(&server, &first).await);

    for broken in [
        ("nonsense".to_owned(), second.1.clone()),
        (third.0.clone(), second.1.clone()),
        (String::new(), String::new()),
    ] {
        written(folder.path(), &broken);
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert!(answers(&server, &second).await, "the one before stays");
    }
    std::fs::remove_file(&files.key).unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(answers(&server, &second).await, "the one before stays");
    written(folder.path(), &third);
    comes_to_answer(&server, &third).await;
}

#[tokio::test]
async fn a_certificate_that_cannot_be_used_is_told_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (made(), made());
    let nowhere =
        TlsFiles { certificate: folder.path().join("none.pem"), key: folder.path().join("k") };
    let mut told = vec![problem(nowhere).await];
    for pair in [
        ("text".to_owned(), one.1.clone()),
        (one.0.clone(), one.0.clone()),
        (one.0.clone(), other.1.clone()),
    ] {
        told.push(problem(written(folder.path(), &pair)).await);
    }
    assert!(told[0].contains("none.pem cannot be read"), "{told:?}");
    assert!(told[1].contains("certificate.pem holds no certificate"), "{told:?}");
    assert!(told[2].contains("key.pem holds no private key"), "{told:?}");
    assert!(told[3].contains("cannot be used with the key of"), "{told:?}");
}

async fn problem(files: TlsFiles) -> String {
    let config = ServerConfig { serving: with_tls(files), ..ServerConfig::default() };
    let place = Place::sqlite();
    match Server::start(place.open().await, config).await {
        Err(error @ StartError::Tls(_)) => error.to_string(),
        _ => panic!("it started"),
    }
}

#[tokio::test]
async fn a_handshake_that_never_ends_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let files = written(folder.path(), &made());
    let handshake_timeout = Duration::from_millis(300);
    let server = serving(ServingConfig { handshake_timeout, ..with_tls(files) }).await;
    let mut silent = Raw::connect(&server).await;
    assert!(silent.until_closed().await.1.is_empty());
    let mut plain = Raw::connect(&server).await;
    assert!(plain.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").await);
    let (_, told) = plain.until_closed().await;
    assert!(!told.starts_with(b"HTTP"), "plain requests are not answered");
}
