//! Settings by file, environment and flags: which one counts, what is refused, and what `fullbench config` says of it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use serde_json::Value;
use support::{Folder, Said, said};

/// What `config show` says of a setting: its value and where it comes from.
fn shown(said: &Said, setting: &str) -> (Value, String) {
    let all = said.json();
    let found = all.as_array().unwrap().iter().find(|one| one["setting"] == setting);
    let found = found.unwrap_or_else(|| panic!("{setting}: {}", said.stdout));
    (found["value"].clone(), found["from"].as_str().unwrap().to_owned())
}

#[test]
fn flags_go_before_the_environment_and_that_before_the_file() {
    let folder = Folder::new();
    let file = "[server]\nlisten = \"127.0.0.1:1111\"\nconcurrent_runs = 7\n\n[proxies]\ntrusted = [\"10.0.0.0/8\", \"::1\"]\n\n\
                [requests]\nbody_timeout = \"3m\"\n\n[webhooks]\nallow_private = true\n";
    folder.file(".fullbench/fullbench.toml", file);
    let show = |arguments: &[&str], variable: Option<&str>| {
        let mut command = folder.command(&[&["config", "show", "-o", "json"], arguments].concat());
        if let Some(address) = variable {
            command.env("FULLBENCH_LISTEN", address);
        }
        let said = said(command.output().unwrap());
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        said
    };
    let by_file = show(&[], None);
    let (value, from) = shown(&by_file, "server.listen");
    assert_eq!(value, "127.0.0.1:1111");
    assert!(from.ends_with("fullbench.toml:2"), "{from}");
    assert_eq!(shown(&by_file, "server.concurrent_runs").0, "7");
    assert_eq!(shown(&by_file, "proxies.trusted").0, "10.0.0.0/8, ::1");
    assert!(shown(&by_file, "webhooks.allow_private").1.ends_with("fullbench.toml:12"));
    assert_eq!(shown(&by_file, "connections.idle_timeout"), ("90s".into(), "default".to_owned()));
    let by_variable = show(&[], Some("127.0.0.1:2222"));
    let expected = ("127.0.0.1:2222".into(), "FULLBENCH_LISTEN".to_owned());
    assert_eq!(shown(&by_variable, "server.listen"), expected);
    let by_flag = show(
        &["--listen", "127.0.0.1:3333", "--allow-private-webhooks=false", "--trusted-proxy", "::2"],
        Some("127.0.0.1:2222"),
    );
    let expected = ("127.0.0.1:3333".into(), "--listen".to_owned());
    assert_eq!(shown(&by_flag, "server.listen"), expected);
    assert_eq!(shown(&by_flag, "webhooks.allow_private").0, "false");
    assert_eq!(shown(&by_flag, "proxies.trusted").0, "::2", "a list is replaced, not added to");
}

#[test]
fn what_is_wrong_in_the_file_is_told_by_its_line() {
    let folder = Folder::new();
    let file = "listen = \"127.0.0.1:1\"\n[server]\nlistn = \"127.0.0.1:1\"\nconcurrent_runs = 0\ninsecure = \"maybe\"\n[conections]\nmax = 1\n\
                [proxies]\nheader = [\"forwarded\", \"x\"]\ntrusted = [\"10.0.0.0/99\"]\n[browsers]\nallow_origins = \"*\"\n[requests]\nbody_timeout = 1979-05-27\n";
    folder.file("wrong.toml", file);
    for verb in ["serve", "list", "db"] {
        let mut arguments = vec!["--config", "wrong.toml", verb];
        arguments.extend((verb == "db").then_some("status"));
        let said = folder.run(&arguments);
        assert_eq!(said.code, Some(2), "{verb}: {}", said.stderr);
        for problem in [
            "wrong.toml:1: `listen` is in no section\n  hint: write `listen` below `[server]`",
            "wrong.toml:3: there is no setting `server.listn`\n  hint: did you mean `listen`?",
            "wrong.toml:4: `server.concurrent_runs`: `0` cannot be used: 0 is not in 1..=65535",
            "wrong.toml:5: `server.insecure`: `maybe` cannot be used: [possible values: true, false]",
            "wrong.toml:6: there is no section `conections`\n  hint: did you mean `connections`?",
            "wrong.toml:9: `proxies.header`: expected one value",
            "wrong.toml:10: `proxies.trusted`: `10.0.0.0/99` cannot be used: give an address or a network",
            "wrong.toml:12: `browsers.allow_origins`: `*` cannot be used: give an origin",
            "wrong.toml:14: `requests.body_timeout`: expected a text, a number, or a list",
        ] {
            assert!(said.stderr.contains(problem), "{problem}\n\n{}", said.stderr);
        }
    }
    folder.file("broken.toml", "[server]\nlisten = \n");
    let said = folder.run(&["--config", "broken.toml", "serve"]);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("broken.toml:2: "), "{}", said.stderr);
    let said = folder.run(&["--config", "none.toml", "serve"]);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("none.toml cannot be read"), "{}", said.stderr);
    assert!(!folder.path().join(".fullbench").exists(), "something was opened");
    // What needs no store does not look at it.
    assert_eq!(folder.run(&["--config", "none.toml", "schema"]).code, Some(0));
}

#[test]
fn secrets_are_read_from_files_and_shown_nowhere() {
    let folder = Folder::new();
    let key = "k3y-of-thirty-two-letters-and-more";
    folder.file("etc/database", "postgres://ann:s3cret@127.0.0.1:1/bench\n");
    folder.file("etc/key", format!("{key}\n"));
    let file = "[store]\ndatabase_file = \"database\"\n[secrets]\nkey_file = \"key\"\n[tls]\ncertificate = \"none.pem\"\nkey = \"none.key\"\n";
    folder.file("etc/server.toml", file);
    let show = folder.run(&["--config", "etc/server.toml", "config", "show", "-o", "json"]);
    assert_eq!(show.code, Some(0), "{}", show.stderr);
    assert_eq!(shown(&show, "store.database").0, "postgres://ann@127.0.0.1:1/bench");
    assert_eq!(shown(&show, "secrets.key").0, "(hidden)");
    assert_eq!(shown(&show, "tls.certificate").0, "etc/none.pem", "seen from the file's folder");
    let check = folder.run(&["--config", "etc/server.toml", "config", "check"]);
    assert_eq!(check.code, Some(2), "{}", check.stderr);
    assert!(check.stderr.contains("etc/none.pem cannot be read"), "{}", check.stderr);
    assert!(check.stderr.contains("check that the server runs"), "{}", check.stderr);
    assert!(check.stdout.contains("kept under the key that is given"), "{}", check.stdout);
    // The store of the file is that of every command.
    let list = folder.run(&["--config", "etc/server.toml", "list"]);
    assert_ne!(list.code, Some(0), "{}", list.stdout);
    for said in [&show, &check, &list] {
        for secret in ["s3cret", key] {
            assert!(!said.stdout.contains(secret) && !said.stderr.contains(secret));
        }
    }
    folder.file("etc/twice.toml", "[secrets]\nkey = \"a\"\nkey_file = \"key\"\n");
    let twice = folder.run(&["--config", "etc/twice.toml", "config", "show"]);
    assert_eq!(twice.code, Some(2));
    assert!(twice.stderr.contains("`secrets.key` is given twice"), "{}", twice.stderr);
    folder.file("etc/gone.toml", "[secrets]\nkey_file = \"gone\"\n");
    let gone = folder.run(&["--config", "etc/gone.toml", "config", "show"]);
    assert!(gone.stderr.contains("etc/gone cannot be read"), "{}", gone.stderr);
}

#[test]
fn a_configuration_that_is_right_is_said_to_be() {
    let folder = Folder::new();
    folder.file("server.toml", "[server]\nlisten = \"127.0.0.1:0\"\n[store]\nhome = \"data\"\n");
    let mut command = folder.command(&["--config", "server.toml", "config", "check"]);
    let check = said(command.env_remove("FULLBENCH_HOME").output().unwrap());
    assert_eq!(check.code, Some(0), "{}", check.stderr);
    assert!(
        check.stdout.contains("ok  configuration: server.toml, 2 settings"),
        "{}",
        check.stdout
    );
    assert!(check.stdout.contains("data/"), "the home folder of the file: {}", check.stdout);
    assert!(!folder.path().join("data").exists(), "a check made something");
    let unsafe_address = folder.run(&["config", "check", "--listen", "0.0.0.0:0"]);
    assert_eq!(unsafe_address.code, Some(2));
    assert!(unsafe_address.stderr.contains("--insecure"), "{}", unsafe_address.stderr);
    folder.file(".fullbench/fullbench.toml", "[store]\nhome = \"elsewhere\"\n");
    let said = folder.run(&["config", "show"]);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("cannot say where that is"), "{}", said.stderr);
}

#[test]
fn what_serve_would_refuse_is_not_said_to_be_right() {
    for (arguments, variable, problem) in [
        (vec!["--mail-from", "a@example.com"], None, "FULLBENCH_SMTP_URL is not"),
        (vec!["--oidc-issuer", "https://issuer.example.com"], None, "--oidc-client-id is not"),
        (
            vec!["--mail-from", "a@example.com", "--public-url", "https://a.example.com"],
            Some("http://mail.example.com"),
            "mail cannot be sent",
        ),
        (
            vec!["--mail-from", "nobody", "--public-url", "https://a.example.com"],
            Some("smtp://mail.example.com"),
            "mail cannot be sent",
        ),
    ] {
        let folder = Folder::new();
        let run = |verb: &[&str]| {
            let address = ["--listen", "127.0.0.1:0"];
            let mut command = folder.command(&[verb, &address, &arguments].concat());
            if let Some(url) = variable {
                command.env("FULLBENCH_SMTP_URL", url);
            }
            said(command.output().unwrap())
        };
        for verb in [&["serve"][..], &["config", "check"]] {
            let said = run(verb);
            assert_eq!(said.code, Some(2), "{verb:?} {arguments:?}: {}", said.stdout);
            assert!(said.stderr.contains(problem), "{verb:?}: {}", said.stderr);
        }
    }
}
