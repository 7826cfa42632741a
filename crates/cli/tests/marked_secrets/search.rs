//! Where secrets are found, in whatever way they are written.

use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use sea_orm::sqlx::{self, AssertSqlSafe, Row};

use crate::backend::Place;

/// What something is, and the secret itself.
pub(crate) type Secret = (&'static str, Vec<u8>);

/// A secret that is a text.
pub(crate) fn secret(what: &'static str, text: impl Into<String>) -> Secret {
    (what, text.into().into_bytes())
}

/// What stands behind the first letters of a secret that somebody was given: those may be kept, to tell it from others.
pub(crate) fn given(what: &'static str, text: &str) -> Secret {
    assert!(text.len() >= 32, "{what} is too short to be one");
    secret(what, &text[10..26])
}

/// Looks for secrets, in one pass over each text.
pub(crate) struct Search {
    spelled: Vec<Secret>,
    /// Places in the list of those that begin with two bytes.
    by_beginning: Vec<Vec<usize>>,
}

impl Search {
    pub(crate) fn of(secrets: &[Secret]) -> Self {
        let mut spelled = Vec::new();
        for (what, secret) in secrets {
            assert!(secret.len() >= 8, "{what} could be anywhere");
            spelled.extend(spellings(secret).into_iter().map(|spelling| (*what, spelling)));
        }
        let mut by_beginning = vec![Vec::new(); 1 << 16];
        for (place, (_, spelling)) in spelled.iter().enumerate() {
            by_beginning[beginning(spelling)].push(place);
        }
        Self { spelled, by_beginning }
    }

    /// What is found in something of this name; compressed files are looked into.
    pub(crate) fn found(&self, name: &str, bytes: &[u8]) -> Vec<String> {
        let unfolded = zstd::decode_all(bytes).unwrap_or_default();
        let mut found: Vec<String> = Vec::new();
        for bytes in [bytes, &unfolded] {
            for at in 0..bytes.len().saturating_sub(1) {
                for place in &self.by_beginning[beginning(&bytes[at..])] {
                    let (what, spelling) = &self.spelled[*place];
                    if bytes[at..].starts_with(spelling) {
                        found.push(format!("{what} in {name}"));
                    }
                }
            }
        }
        found.sort();
        found.dedup();
        found
    }
}

fn beginning(bytes: &[u8]) -> usize {
    usize::from(bytes[0]) << 8 | usize::from(bytes[1])
}

/// The ways in which a secret could be written.
fn spellings(secret: &[u8]) -> Vec<Vec<u8>> {
    let hex: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut spellings = vec![
        secret.to_vec(),
        secret.iter().rev().copied().collect(),
        hex.to_uppercase().into(),
        hex.into(),
    ];
    // After so many bytes of something else, without the letters that other bytes have a part in.
    for before in 0..3 {
        let bytes = [&vec![0; before], secret].concat();
        let letters = bytes.len() * 8 / 6;
        for engine in [STANDARD, URL_SAFE] {
            let spelling = &engine.encode(&bytes)[(before * 8).div_ceil(6)..letters];
            spellings.push(spelling.into());
        }
    }
    spellings.sort();
    spellings.dedup();
    spellings
}

/// Every file below a folder.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => all.extend(files(&path)),
            false => all.push(path),
        }
    }
    all
}

/// The rows of every table of a PostgreSQL database, of all organizations, with bytes in hexadecimal digits.
pub(crate) async fn tables(place: &Place) -> Vec<(String, String)> {
    let mut connection = place.connect().await;
    let scope = "SELECT set_config('fullbench.organization', 'system', false)";
    sqlx::raw_sql(scope).execute(&mut connection).await.unwrap();
    let names =
        "SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'public'";
    let mut tables = Vec::new();
    for row in sqlx::query(names).fetch_all(&mut connection).await.unwrap() {
        let name: String = row.get(0);
        let sql = format!("SELECT string_agg(\"{name}\"::text, E'\\n') FROM \"{name}\"");
        let row = sqlx::query(AssertSqlSafe(sql)).fetch_one(&mut connection).await.unwrap();
        if let Some(rows) = row.get::<Option<String>, _>(0) {
            tables.push((name, rows));
        }
    }
    tables
}

#[test]
fn secrets_are_found_however_they_are_written() {
    let search = Search::of(&[secret("it", "Mk7QzSecret>?~1")]);
    let it = "Mk7QzSecret>?~1";
    for before in ["", "a", "ab", "abc"] {
        let text = format!("{before}{it}z");
        for written in [text.clone(), STANDARD.encode(&text), URL_SAFE.encode(&text)] {
            assert_eq!(search.found("a text", written.as_bytes()), ["it in a text"], "{written}");
        }
    }
    let folded = zstd::encode_all(it.as_bytes(), 3).unwrap();
    assert_eq!(search.found("a file", &folded).len(), 1);
    assert!(search.found("a text", b"Mk7QzSecret>?~").is_empty());
}
