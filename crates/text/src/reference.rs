//! What the reference libraries say, for unit tests: the lines that `tests/text/reference.py` wrote.

use std::path::PathBuf;

use serde_json::Value;

/// The lines of a kind in the repository's file, and in the full one where `FULLBENCH_TEXT_REFERENCE` names it.
pub(crate) fn lines(kind: &str) -> Vec<Value> {
    let kept =
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/reference.jsonl"));
    let full = std::env::var_os("FULLBENCH_TEXT_REFERENCE").map(PathBuf::from);
    let start = format!("{{\"kind\":\"{kind}\"");
    let mut found = Vec::new();
    for path in [Some(kept), full].into_iter().flatten() {
        let text = std::fs::read_to_string(path).unwrap();
        found.extend(
            text.lines()
                .filter(|line| line.starts_with(&start))
                .map(|line| serde_json::from_str::<Value>(line).unwrap()),
        );
    }
    assert!(!found.is_empty(), "no {kind}");
    found
}
