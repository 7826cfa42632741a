//! The threat model names tests and places in the code that there are: a defence that was renamed or removed is noticed.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::path::{Path, PathBuf};

/// Words that the name of a test has at least.
const WORDS: usize = 4;

#[test]
fn what_the_threat_model_names_is_there() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(repository.join("docs/threat-model.md")).unwrap();
    let mut sources = String::new();
    read_sources(&repository.join("crates"), &mut sources);
    let mut tests = 0;
    // Every other piece stands between two of the marks.
    for name in page.split('`').skip(1).step_by(2) {
        if name.starts_with("crates/") || name.starts_with("deploy/") {
            assert!(repository.join(name).exists(), "there is no {name}");
        } else if is_test(name) {
            assert!(sources.contains(&format!("fn {name}(")), "there is no test `{name}`");
            tests += 1;
        }
    }
    assert!(tests > 60, "only {tests} tests were found");
}

/// Whether it is written as the names of tests are.
fn is_test(name: &str) -> bool {
    let is_plain =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    name.chars().all(is_plain) && name.split('_').count() >= WORDS
}

fn read_sources(folder: &Path, text: &mut String) {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            read_sources(&path, text);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            text.push_str(&fs::read_to_string(path).unwrap());
        }
    }
}
