//! What `fullbench serve` refuses before it opens anything, and TLS from the command line.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use support::Folder;

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
