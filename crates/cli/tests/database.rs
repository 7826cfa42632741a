//! `fullbench db`, and every verb on PostgreSQL where `FULLBENCH_POSTGRES` names a server.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../../store/tests/backend/mod.rs"]
mod backend;
mod support;

use backend::Place;
use support::{Folder, said};

/// An evaluation of answers that are there already.
const EVALUATION: &str = "name: recorded\ndataset: cases.jsonl\nmodels:\n  - { name: m, provider: recorded }\nscorers:\n  - exact_match\n";
const CASES: &str = "{\"id\":\"a\",\"input\":\"2+2?\",\"reference\":\"4\",\"output\":\"4\"}\n{\"id\":\"b\",\"input\":\"3+3?\",\"reference\":\"6\",\"output\":\"7\"}\n";

#[test]
fn status_and_migrate_say_where_the_database_stands() {
    let folder = Folder::new();
    let status = folder.run(&["db", "status", "-o", "json"]);
    assert_eq!(status.code, Some(1), "{}", status.stderr);
    assert!(status.stderr.contains("fullbench db migrate"), "{}", status.stderr);
    assert!(!folder.path().join(".fullbench").exists(), "asking made something");

    let migrate = folder.run(&["db", "migrate"]);
    assert_eq!(migrate.code, Some(0), "{}", migrate.stderr);
    assert!(migrate.stderr.contains("applied m0001_runs_and_results"), "{}", migrate.stderr);
    let again = folder.run(&["db", "migrate"]);
    assert_eq!(again.code, Some(0));
    assert!(!again.stderr.contains("applied"), "{}", again.stderr);

    let status = folder.run(&["db", "status", "-o", "json"]);
    assert_eq!(status.code, Some(0), "{}", status.stderr);
    assert_eq!(status.json()["kind"], "sqlite");
    assert_eq!(status.json()["pending"].as_array().unwrap().len(), 0);
    let shown = folder.run(&["db", "status"]);
    assert!(shown.stdout.contains("up to date"), "{}", shown.stdout);
    assert!(shown.stdout.contains("organizations"), "{}", shown.stdout);
}

#[test]
fn what_cannot_be_reached_ends_with_2_and_without_the_password() {
    let folder = Folder::new();
    let url = "postgres://ann:s3cret@127.0.0.1:1/bench";
    let status = folder.run(&["db", "status", "--database", url]);
    assert_eq!(status.code, Some(2), "{}", status.stderr);
    assert!(status.stderr.contains("hint: check that the server runs"), "{}", status.stderr);
    for verb in ["list", "run", "doctor"] {
        let said = folder.run(&["--database", "mysql://ann:s3cret@db/bench", verb]);
        assert_eq!(said.code, Some(2), "{verb}: {}", said.stderr);
        assert!(said.stderr.contains("postgres://USER:PASSWORD"), "{verb}: {}", said.stderr);
        assert!(!said.stderr.contains("s3cret"), "{verb}: {}", said.stderr);
    }
    assert!(!status.stderr.contains("s3cret"), "{}", status.stderr);
    // What needs no store does not look at it.
    assert_eq!(folder.run(&["--database", "nonsense", "schema"]).code, Some(0));
}

#[tokio::test]
async fn every_verb_works_on_postgres() {
    let Some(place) = Place::postgres().await else { return };
    let folder = Folder::new();
    folder.file("cases.jsonl", CASES);
    folder.file("fullbench.yaml", EVALUATION);
    let run = |arguments: &[&str]| {
        said(folder.command(arguments).env("FULLBENCH_DATABASE", place.url()).output().unwrap())
    };
    let list = run(&["list"]);
    assert_eq!(list.code, Some(2));
    assert!(list.stderr.contains("there are no runs in postgres://"), "{}", list.stderr);
    assert_eq!(run(&["db", "status"]).code, Some(1), "reading made something");

    assert_eq!(run(&["run"]).code, Some(0));
    let list = run(&["list", "-o", "json"]);
    assert_eq!(list.json().as_array().unwrap().len(), 1, "{}", list.stderr);
    assert_eq!(run(&["baseline", "set", "main"]).code, Some(0));
    assert_eq!(run(&["show", "main", "-o", "json"]).code, Some(0));
    assert_eq!(run(&["export", "main"]).json_lines().len(), 2);
    assert_eq!(run(&["criterion", "list"]).code, Some(0));
    let doctor = run(&["doctor", "--offline"]);
    assert!(doctor.stdout.contains("runs in postgres://"), "{}", doctor.stdout);
    let status = run(&["db", "status", "-o", "json"]);
    assert_eq!((status.code, &status.json()["kind"]), (Some(0), &"postgresql".into()));
    assert!(!folder.path().join(".fullbench/fullbench.db").exists());
}
