//! People and organizations, added by who runs the server.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::io::Write;
use std::process::{Command, Stdio};

use support::Folder;

/// Runs the binary with a line on stdin: its code, and all it said.
fn with_stdin(folder: &Folder, arguments: &[&str], line: &str) -> (Option<i32>, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fullbench"))
        .args(arguments)
        .current_dir(folder.path())
        .env("FULLBENCH_HOME", folder.path().join("home"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    writeln!(child.stdin.take().unwrap(), "{line}").unwrap();
    let output = child.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(said).unwrap())
}

#[test]
fn people_are_added_listed_and_disabled_without_showing_a_password() {
    let folder = Folder::new();
    let run = |arguments: &[&str], line: &str| with_stdin(&folder, arguments, line);
    let add = ["user", "add", "Ann@Example.com", "--role", "owner", "--password-stdin"];
    let (code, said) = run(&add, "short");
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("10 to 1024"), "{said}");
    let (code, said) = run(&add[..5], "correct horse battery");
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("--password-stdin"), "{said}");
    let (code, said) = run(&add, "correct horse battery");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("ann@example.com is owner") && !said.contains("horse"), "{said}");
    assert_eq!(run(&add, "correct horse battery").0, Some(2), "once");
    let (code, said) = run(&["user", "list", "-o", "json"], "");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("ann@example.com") && !said.contains("argon2"), "{said}");
    let set = ["user", "set-password", "ann@example.com", "--password-stdin"];
    assert_eq!(run(&set, "another long password").0, Some(0));
    assert_eq!(
        run(&["user", "set-password", "eve@example.com", "--password-stdin"], "x").0,
        Some(2)
    );
    let (code, said) = run(&["user", "disable", "ann@example.com"], "");
    assert_ne!(code, Some(0), "{said}");
    assert!(said.contains("last owner"), "{said}");
}

#[test]
fn organizations_are_made_and_named() {
    let folder = Folder::new();
    let run = |arguments: &[&str], line: &str| with_stdin(&folder, arguments, line);
    let (code, said) = run(&["organization", "add", "Acme", "--slug", "Acme!"], "");
    assert_eq!(code, Some(2), "{said}");
    assert_eq!(run(&["organization", "add", "Acme", "--slug", "acme"], "").0, Some(0));
    let (_, said) = run(&["organization", "list"], "");
    assert!(said.contains("acme") && said.contains("default"), "{said}");
    let (code, said) = run(&["organization", "set-plan", "acme", "gold"], "");
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("ENTERPRISE"), "{said}");
    assert_eq!(run(&["organization", "set-plan", "nobody", "STARTER"], "").0, Some(2));
    let (code, said) = run(&["organization", "set-plan", "acme", "starter"], "");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("STARTER") && said.contains("FREE"), "{said}");
    let (_, said) = run(&["organization", "list", "-o", "json"], "");
    assert!(said.contains("STARTER"), "{said}");
    let add = ["user", "add", "bob@example.com", "--password-stdin"];
    let (code, said) = run(&add, "correct horse battery");
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("--organization"), "{said}");
    let add = [&add[..], &["--organization", "acme"]].concat();
    let (code, said) = run(&add, "correct horse battery");
    assert_eq!(code, Some(0), "{said}");
}
