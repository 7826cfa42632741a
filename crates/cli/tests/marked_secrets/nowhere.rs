//! All secrets that there are, and all places where they could be found.

use std::process::Command;

use serde_json::json;

use crate::MARK;
use crate::backend::Place;
use crate::configured::{COLLECTOR, ISSUER, Surroundings};
use crate::logged::{Logged, runtime};
use crate::outgoing::{SLACK, outgoing};
use crate::people::people;
use crate::search::{Search, Secret, files, given, secret, tables};
use crate::support::{self, Said, said};

mod marked_secrets_are_found_nowhere {
    use super::{Place, runtime};

    #[test]
    fn sqlite() {
        super::marked_secrets_are_found_nowhere(Place::sqlite());
    }

    #[test]
    fn postgres() {
        if let Some(place) = runtime().block_on(Place::postgres()) {
            super::marked_secrets_are_found_nowhere(place);
        }
    }
}

fn marked_secrets_are_found_nowhere(place: Place) {
    let runtime = runtime();
    let mut around = Surroundings::start(&runtime, place);
    let mut server = Logged::start(&around.folder, serve(&around), runtime.clone());
    let mut secrets = keys(&mut server, &around);
    secrets.extend(people(&mut server, &mut around));
    secrets.extend(outgoing(&mut server, &around));
    let mut printed = runs(&mut server, &around);
    let log = server.stop();
    assert!(log.contains("answered") && log.contains("TRACE"), "the log is talkative: {log}");
    printed.push_str(&reports(&around));
    assert!(printed.contains("numeric_match"), "reports are printed");

    secrets.append(&mut around.secrets);
    let search = Search::of(&secrets);
    let sent = search.found("what others were sent", &around.echo.got());
    for what in [COLLECTOR, ISSUER, SLACK] {
        assert!(sent.iter().any(|sent| sent.starts_with(what)), "{what} is not in {sent:?}");
    }
    let mut places = search.found("the log", log.as_bytes());
    places.extend(search.found("what was printed", printed.as_bytes()));
    places.extend(search.found("the answers", server.answers.as_bytes()));
    let kept = kept(&around, &search);
    assert_eq!([places, kept].concat(), Vec::<String>::new());
}

/// Where something is found that is kept: files, rows and objects.
fn kept(around: &Surroundings, search: &Search) -> Vec<String> {
    let mut places = Vec::new();
    let all = files(around.folder.path());
    for path in &all {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        places.extend(search.found(&name, &std::fs::read(path).unwrap()));
    }
    let is_there = |name: &&str| around.folder.path().join(name).exists();
    assert!(["organization.tar.zst", "backup.tar.zst", "report.html"].iter().all(is_there));
    assert!(all.len() > 6, "{all:?}");
    let runtime = runtime();
    if around.place.is_postgres() {
        let tables = runtime.block_on(tables(&around.place));
        for (name, rows) in &tables {
            places.extend(search.found(name, rows.as_bytes()));
        }
        assert!(tables.len() > 15, "only {} tables have rows", tables.len());
    }
    if let Some(bucket) = &around.bucket {
        let objects = runtime.block_on(bucket.contents());
        for (name, content) in &objects {
            places.extend(search.found(name, content));
        }
        assert!(objects.len() > 1, "{:?}", objects.keys());
    }
    places
}

fn serve(around: &Surroundings) -> Command {
    let allowed = format!("{}/v1=MODELS_KEY", around.models.url());
    around.command(&[
        "-vv",
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--log-format",
        "json",
        "--allow-model-url",
        &allowed,
        "--allow-private-webhooks",
        "--alert-seconds",
        "1",
    ])
}

/// Keys of the API and of the organization's provider, and what is taken for one.
fn keys(server: &mut Logged, around: &Surroundings) -> Vec<Secret> {
    let made = server.request("POST", "/v1/api-keys", Some(json!({"name": "second"})));
    let made = server.given(made.bearer_auth(&server.key));
    assert_eq!(server.call("GET", "/v1/datasets", &format!("fb_{MARK}"), None).0, 401);
    assert_eq!(server.call("GET", "/metrics", &format!("{MARK}guess"), None).0, 401);
    assert_eq!(server.call("GET", "/metrics", &around.metrics_token, None).0, 200);
    vec![
        given("the first key of the API", &server.key),
        given("a key of the API", made.body["key"].as_str().unwrap()),
        secret("a key that was tried", format!("fb_{MARK}")),
        secret("a token of the operator that was tried", format!("{MARK}guess")),
        secret("the organization's own key", own_key()),
    ]
}

fn own_key() -> String {
    format!("sk-{MARK}-own-0123456789")
}

/// A run that works, from the command line to the provider, and one with a key that the provider refuses.
fn runs(server: &mut Logged, around: &Surroundings) -> String {
    let folder = &around.folder;
    let url = around.models.url();
    folder.file("cases.jsonl", support::arithmetic(5));
    folder.file("eval.yaml", support::evaluation(&url, 2, ""));
    let remote = |server: &Logged| -> Said {
        let mut command = around.command(&["-vv", "run", "eval.yaml", "--server", &server.url]);
        said(command.env("FULLBENCH_API_KEY", &server.key).output().unwrap())
    };
    let fine = remote(server);
    assert_eq!(fine.code, Some(0), "{}", fine.stderr);
    let kept = json!({"key": own_key(), "base_url": format!("{url}/v1")});
    assert_eq!(server.own("PUT", "/v1/provider-keys/openai", Some(kept)).0, 200);
    let bad = json!({"key": own_key(), "base_url": 7, "nonsense": own_key()});
    assert_eq!(server.own("PUT", "/v1/provider-keys/openai", Some(bad)).0, 422);
    folder.file("eval.yaml", support::evaluation(&url, 2, "").replace("Solve", "Answer"));
    let refused = remote(server);
    assert_ne!(refused.code, Some(0), "the provider knows another key: {}", refused.stderr);
    [fine.stdout, fine.stderr, refused.stdout, refused.stderr].concat()
}

/// What whoever runs the server prints and takes along.
fn reports(around: &Surroundings) -> String {
    let mut printed = String::new();
    for arguments in [
        &["show", "latest"][..],
        &["export", "latest", "--raw"],
        &["show", "latest", "--html", "report.html"],
        &["organization", "export", "default", "organization.tar.zst"],
        &["db", "backup", "backup.tar.zst"],
        &["db", "status"],
        &["audit", "export"],
        &["config", "show"],
        &["secrets", "status"],
        &["user", "list"],
    ] {
        let said = around.run(arguments);
        assert_eq!(said.code, Some(0), "{arguments:?}: {}", said.stderr);
        printed.push_str(&said.stdout);
        printed.push_str(&said.stderr);
    }
    printed
}
