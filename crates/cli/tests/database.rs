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

fn with_a_run() -> Folder {
    let folder = Folder::new();
    folder.file("cases.jsonl", CASES);
    folder.file("fullbench.yaml", EVALUATION);
    let run = folder.run(&["run", "--quiet"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    folder
}

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

#[test]
fn a_backup_is_restored_elsewhere() {
    let folder = with_a_run();
    let backup = folder.run(&["db", "backup", "all.tar.zst"]);
    assert_eq!(backup.code, Some(0), "{}", backup.stderr);
    assert!(backup.stderr.contains("1 blobs, 0 files"), "{}", backup.stderr);
    let again = folder.run(&["db", "backup", "all.tar.zst"]);
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("hint: choose another name, or replace it with --force"));
    assert_eq!(folder.run(&["db", "backup", "all.tar.zst", "--force"]).code, Some(0));

    let check = folder.run(&["db", "restore", "all.tar.zst", "--check"]);
    assert_eq!(check.code, Some(0), "{}", check.stderr);
    assert!(check.stderr.contains("is whole"), "{}", check.stderr);
    let occupied = folder.run(&["db", "restore", "all.tar.zst"]);
    assert_eq!(occupied.code, Some(2));
    assert!(occupied.stderr.contains("empty database"), "{}", occupied.stderr);

    let restore = folder.run(&["--home", "other", "db", "restore", "all.tar.zst"]);
    assert_eq!(restore.code, Some(0), "{}", restore.stderr);
    let shown = |home: &str| folder.run(&["--home", home, "export"]).stdout;
    assert!(!shown("other").is_empty());
    assert_eq!(shown("other"), shown(".fullbench"));
    // The frozen cases came along.
    assert_eq!(folder.run(&["--home", "other", "resume"]).code, Some(0));
}

#[test]
fn what_is_no_backup_is_refused() {
    let folder = Folder::new();
    folder.file("notes.txt", "no backup");
    for (file, problem) in [("notes.txt", "no backup of fullbench"), ("none", "No such file")] {
        let restore = folder.run(&["db", "restore", file]);
        assert_eq!(restore.code, Some(2), "{}", restore.stderr);
        assert!(restore.stderr.contains(problem), "{}", restore.stderr);
        assert!(restore.stderr.contains(file), "{}", restore.stderr);
    }
    assert!(!folder.path().join(".fullbench").exists(), "something was made");
    let backup = folder.run(&["db", "backup", "all.tar.zst"]);
    assert_eq!(backup.code, Some(2), "{}", backup.stderr);
    assert!(backup.stderr.contains("hint: "), "{}", backup.stderr);
    assert!(!folder.path().join("all.tar.zst").exists());
}

#[test]
fn a_backup_without_all_objects_says_so() {
    let folder = with_a_run();
    std::fs::remove_dir_all(folder.path().join(".fullbench/objects")).unwrap();
    let backup = folder.run(&["db", "backup", "all.tar.zst"]);
    assert_eq!(backup.code, Some(3), "{}", backup.stderr);
    assert!(backup.stderr.contains("warning: 1 of the objects"), "{}", backup.stderr);
    assert!(folder.path().join("all.tar.zst").exists());
}

/// Kills restores at random moments: what they leave is empty, and can be restored into.
#[test]
fn a_killed_restore_leaves_nothing_behind() {
    let folder = with_a_run();
    assert_eq!(folder.run(&["db", "backup", "all.tar.zst"]).code, Some(0));
    let mut kills = 0;
    for milliseconds in (1..).map(|step| step * 7) {
        let mut restore =
            folder.command(&["--home", "other", "db", "restore", "all.tar.zst"]).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        restore.kill().unwrap();
        if restore.wait().unwrap().success() {
            break;
        }
        kills += 1;
        let status = folder.run(&["--home", "other", "db", "status", "-o", "json"]).json();
        let rows: Vec<u64> = status["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|table| table["rows"].as_u64().unwrap())
            .collect();
        if rows.iter().sum::<u64>() > 1 {
            // It was killed when all was done.
            break;
        }
    }
    assert!(kills > 0);
    let shown = |home: &str| folder.run(&["--home", home, "export"]).stdout;
    assert_eq!(shown("other"), shown(".fullbench"));
}

#[tokio::test]
async fn a_backup_moves_from_sqlite_to_postgres_and_back() {
    let Some(place) = Place::postgres().await else { return };
    let folder = with_a_run();
    let on_postgres = |arguments: &[&str]| {
        said(folder.command(arguments).env("FULLBENCH_DATABASE", place.url()).output().unwrap())
    };
    assert_eq!(folder.run(&["db", "backup", "first"]).code, Some(0));
    let restore = on_postgres(&["--home", "other", "db", "restore", "first"]);
    assert_eq!(restore.code, Some(0), "{}", restore.stderr);
    assert!(!restore.stderr.contains("password"), "{}", restore.stderr);
    assert_eq!(on_postgres(&["--home", "other", "export"]).stdout, folder.run(&["export"]).stdout);
    assert_eq!(on_postgres(&["--home", "other", "db", "backup", "second"]).code, Some(0));
    assert_eq!(folder.run(&["--home", "third", "db", "restore", "second"]).code, Some(0));
    assert_eq!(folder.run(&["--home", "third", "export"]).stdout, folder.run(&["export"]).stdout);
}
