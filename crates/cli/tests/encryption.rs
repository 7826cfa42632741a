//! Texts that are sealed with the key of the organization, and what is left of runs once the key is deleted.
#![allow(clippy::unwrap_used)]

mod support;

use fullbench_store::{OrganizationChange, Store};
use fullbench_types::DEFAULT_ORGANIZATION;
use support::Folder;

const MARK: &str = "zanzibarine";
const EVALUATION: &str = "\
description: about zanzibarine
prompt: 'zanzibarine: {{ input }}'
cases:
  - { id: a, input: zanzibarine?, reference: zanzibarine, output: zanzibarine, kind: x }
  - { id: b, input: 2 + 2, reference: zanzibarine, output: 'four', kind: y }
  - { id: c, input: 2 + 3, reference: five, output: 'five', kind: y }
models: [recorded]
scorers: [exact_match]
sample: { size: 2, seed: 1 }
";

fn encrypts(folder: &Folder, on: bool) {
    let home = folder.path().join(".fullbench");
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let store = Store::open(&home).await.unwrap();
        let change = OrganizationChange { encrypt_texts: Some(on), ..Default::default() };
        store.scoped(DEFAULT_ORGANIZATION).change_organization(change).await.unwrap();
        store.close().await.unwrap();
    });
}

/// Files of the store that have the mark in them.
fn marked(folder: &std::path::Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut found = Vec::new();
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            found.extend(marked(&path));
        } else if std::fs::read(&path)
            .unwrap()
            .windows(MARK.len())
            .any(|some| some == MARK.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
    found
}

#[test]
fn a_run_is_sealed_and_its_numbers_outlive_its_texts() {
    let folder = Folder::new();
    folder.file("fullbench.yaml", EVALUATION);
    let run = |arguments: &[&str], code: i32| {
        let said = folder.run(arguments);
        assert_eq!(said.code, Some(code), "{arguments:?}: {}", said.stderr);
        said
    };
    let home = folder.path().join(".fullbench");
    run(&["run", "--quiet"], 0);
    assert!(!marked(&home).is_empty(), "what is not sealed is plain");
    let refused = run(&["secrets", "encrypt-texts", "default"], 2);
    assert!(refused.stderr.contains("does not encrypt its texts"), "{}", refused.stderr);
    run(&["secrets", "encrypt-texts", "nobody"], 2);
    let plain = run(&["show", "-o", "json"], 0).json();
    let exported = run(&["export"], 0).json_lines();
    encrypts(&folder, true);
    let told = run(&["secrets", "encrypt-texts", "default"], 0).stderr;
    assert!(told.contains("generations: 2 rows sealed"), "{told}");
    assert_eq!(marked(&home), Vec::<String>::new());
    assert_eq!(run(&["export"], 0).json_lines(), exported);
    run(&["run", "--quiet"], 0);
    assert_eq!(marked(&home), Vec::<String>::new());
    assert_eq!(run(&["show", "-o", "json"], 0).json()["models"], plain["models"]);
    let first = plain["id"].as_str().unwrap();
    let compared = run(&["diff", first, "latest", "-o", "json"], 0).json();

    run(&["secrets", "delete-keys", "default", "--yes"], 0);
    let shown = run(&["show", "-o", "json"], 0).json();
    assert_eq!((&shown["models"], &shown["cases"]), (&plain["models"], &plain["cases"]));
    let again = run(&["diff", first, "latest", "-o", "json"], 0).json();
    assert_eq!(again, compared);
    run(&["list"], 0);
    let html = folder.path().join("report.html");
    run(&["show", "latest", "--html", html.to_str().unwrap()], 0);
    let html = std::fs::read_to_string(html).unwrap();
    assert!(html.contains("only numbers are shown") && !html.contains(MARK));
    for refused in [
        vec!["export"],
        vec!["show", "--case", "a"],
        vec!["resume"],
        vec!["resume", first],
        vec!["rescore", "--quiet", "--scorers", "token_f1"],
        vec!["show", "--by", "kind"],
    ] {
        let said = run(&refused, 2);
        assert!(said.stderr.contains("they are gone"), "{refused:?}: {}", said.stderr);
    }
    run(&["run", "--quiet"], 0);
    assert!(run(&["export"], 0).stdout.contains(MARK));
    assert_eq!(marked(&home), Vec::<String>::new());
}
