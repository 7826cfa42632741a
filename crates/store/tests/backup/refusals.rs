//! What cannot be restored is refused, and nothing is written; nor is a backup where there is nothing, or something.

use std::future::pending;
use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

use fullbench_store::{Store, StoreError};
use fullbench_types::ErrorCode;

use crate::backend::{Place, on_every_backend};
use crate::fixture::{Backup, empty_places, fill, rows_at};

on_every_backend!(
    a_database_with_something_in_it_is_left_alone,
    an_empty_database_with_tables_is_filled,
    a_restore_that_is_given_up_leaves_all_or_nothing,
    a_restore_that_is_stopped_says_how_it_ended,
    where_nothing_is_there_is_nothing_to_back_up,
);

async fn a_database_with_something_in_it_is_left_alone(place: Place) {
    fill(&place).await;
    let backup = Backup::of(&place).await;
    let refused = backup.restore(&place).await.unwrap_err();
    assert!(matches!(refused, StoreError::NotEmpty(_)), "{refused}");
    assert_eq!((refused.code(), refused.hint().is_some()), (ErrorCode::Conflict, true));
    assert!(!refused.to_string().contains("password"), "{refused}");
    assert_eq!(Backup::of(&place).await.contents.tables, backup.contents.tables);
}

async fn an_empty_database_with_tables_is_filled(place: Place) {
    let source = Place::sqlite();
    fill(&source).await;
    let backup = Backup::of(&source).await;
    place.open().await.close().await.unwrap();
    backup.restore(&place).await.unwrap();
    assert_eq!(Backup::of(&place).await.contents.tables, backup.contents.tables);

    let old = Place::sqlite();
    old.execute(include_str!("../upgrade/m0010.sql")).await.unwrap();
    let older = Backup::of(&old).await;
    for target in empty_places().await {
        target.open().await.close().await.unwrap();
        let refused = older.restore(&target).await.unwrap_err();
        assert!(matches!(refused, StoreError::NewerTables(_)), "{refused}");
    }
}

/// As when the process is killed, which is a connection that is gone.
async fn a_restore_that_is_given_up_leaves_all_or_nothing(place: Place) {
    let source = Place::sqlite();
    fill(&source).await;
    let backup = Backup::of(&source).await;
    let all = rows_at(&source).await;
    let mut given_up = 0;
    for milliseconds in (0..).map(|step| 1 << step) {
        let patience = Duration::from_millis(milliseconds);
        match tokio::time::timeout(patience, backup.restore(&place)).await {
            Err(_) => given_up += 1,
            // It was given up while it was committed, and that came through.
            Ok(Err(StoreError::NotEmpty(_))) if given_up > 0 => break,
            Ok(restored) => {
                restored.unwrap();
                break;
            }
        }
        let rows = rows_at(&place).await;
        assert!(rows == 0 || rows == all, "{rows} of {all} rows after {milliseconds} ms");
    }
    assert!(given_up > 1);
    assert_eq!(Backup::of(&place).await.contents.tables, backup.contents.tables);
}

async fn a_restore_that_is_stopped_says_how_it_ended(place: Place) {
    let source = Place::sqlite();
    fill(&source).await;
    let backup = Backup::of(&source).await;
    let all = rows_at(&source).await;
    assert!(backup.restore_until(&place, std::future::ready(())).await.unwrap().is_none());
    assert_eq!(rows_at(&place).await, 0);
    // What was seen of the logs before is forgotten right before the last step.
    let seen = place.home().join("audit-witness");
    std::fs::create_dir_all(&seen).unwrap();
    let last_step_begins = async {
        while seen.exists() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let restored = backup.restore_until(&place, last_step_begins).await.unwrap();
    assert!(restored.is_some(), "nothing undoes the last step");
    assert_eq!(rows_at(&place).await, all);
}

async fn where_nothing_is_there_is_nothing_to_back_up(place: Place) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("backup.tar.zst");
    let nothing = Store::back_up_at(place.home(), &place.location, &file, false).await;
    assert!(matches!(nothing.unwrap_err(), StoreError::NothingStored(_)));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    assert_eq!(std::fs::read_dir(place.home()).unwrap().count(), 0);

    place.open().await.close().await.unwrap();
    std::fs::write(&file, b"precious").unwrap();
    let exists = Store::back_up_at(place.home(), &place.location, &file, false).await;
    assert!(matches!(exists.unwrap_err(), StoreError::FileExists(_)));
    assert_eq!(std::fs::read(&file).unwrap(), b"precious");
    Store::back_up_at(place.home(), &place.location, &file, true).await.unwrap();
    Store::check_backup(&file).await.unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left behind");
    let nowhere = folder.path().join("none").join("backup");
    let unwritten = Store::back_up_at(place.home(), &place.location, &nowhere, false).await;
    assert_eq!(unwritten.unwrap_err().code(), ErrorCode::InvalidInput);
}

/// The members of an archive as they are, after a change.
fn rewrite(backup: &Backup, change: impl Fn(&str, Vec<u8>) -> Option<Vec<u8>>) -> Vec<u8> {
    let file = std::fs::File::open(backup.file()).unwrap();
    let mut archive = tar::Archive::new(zstd::Decoder::new(file).unwrap());
    let mut changed = tar::Builder::new(zstd::Encoder::new(Vec::new(), 1).unwrap());
    for member in archive.entries().unwrap() {
        let mut member = member.unwrap();
        let name = String::from_utf8(member.path_bytes().into_owned()).unwrap();
        let mut content = Vec::new();
        member.read_to_end(&mut content).unwrap();
        if let Some(content) = change(&name, content) {
            let mut header = tar::Header::new_gnu();
            header.set_size(content.len() as u64);
            header.set_mode(0o600);
            changed.append_data(&mut header, name, content.as_slice()).unwrap();
        }
    }
    changed.into_inner().unwrap().finish().unwrap()
}

/// What a restore of these bytes says; nothing may have been written.
async fn refused(folder: &Path, bytes: &[u8]) -> String {
    let file = folder.join("damaged.tar.zst");
    std::fs::File::create(&file).unwrap().write_all(bytes).unwrap();
    let checked = Store::check_backup(&file).await.unwrap_err();
    let home = folder.join("home");
    let location = fullbench_store::StoreLocation::default();
    let error = Store::restore_at(&home, &location, &file, pending()).await.unwrap_err();
    assert_eq!(error.to_string(), checked.to_string());
    assert!(matches!(error, StoreError::Backup { .. }), "{error}");
    assert_eq!(error.code(), ErrorCode::InvalidInput);
    assert!(!home.exists(), "something was written: {error}");
    error.to_string()
}

#[tokio::test]
async fn a_damaged_backup_is_refused_and_nothing_is_written() {
    let place = Place::sqlite();
    fill(&place).await;
    let backup = Backup::of(&place).await;
    let whole = std::fs::read(backup.file()).unwrap();
    let unpacked = zstd::decode_all(whole.as_slice()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut noticed = 0;
    for position in (0..whole.len()).step_by(whole.len() / 24) {
        let mut flipped = whole.clone();
        flipped[position] ^= 0x10;
        // Zstandard writes some contents in more than one way: what says the same is not damaged.
        if zstd::decode_all(flipped.as_slice()).is_ok_and(|content| content == unpacked) {
            continue;
        }
        refused(folder.path(), &flipped).await;
        noticed += 1;
    }
    assert!(noticed > 16, "{noticed}");
    for length in [0, 3, 100, whole.len() / 2, whole.len() - 5, whole.len() - 1] {
        refused(folder.path(), &whole[..length]).await;
    }
    refused(folder.path(), &[whole.as_slice(), b"more"].concat()).await;
    refused(folder.path(), b"name,value\n1,2\n").await;
}

#[tokio::test]
async fn a_backup_that_was_tampered_with_is_refused() {
    let place = Place::sqlite();
    fill(&place).await;
    let backup = Backup::of(&place).await;
    let folder = tempfile::tempdir().unwrap();
    let replaced = |from: &'static str, to: &'static str| {
        move |content: Vec<u8>| {
            let text = String::from_utf8(content).unwrap();
            assert!(text.contains(from), "{text}");
            Some(text.replace(from, to).into_bytes())
        }
    };
    type Change = Box<dyn Fn(Vec<u8>) -> Option<Vec<u8>>>;
    let changes: Vec<(&str, Change, &str)> = vec![
        ("backup.json", Box::new(|_| None), "no backup of fullbench"),
        ("backup.json", Box::new(replaced("fullbench-backup", "other")), "no backup of fullbench"),
        (
            "backup.json",
            Box::new(replaced("\"format_version\": 1", "\"format_version\": 2")),
            "update fullbench",
        ),
        ("backup.json", Box::new(replaced("m0012_", "m9999_")), "newer version of fullbench"),
        ("backup.json", Box::new(replaced("\"m0003_baselines\",", "")), "a migration is missing"),
        ("backup.json", Box::new(replaced("dataset_contents", "sqlite_schema")), "its tables"),
        ("manifest.json", Box::new(|_| None), "breaks off"),
        ("manifest.json", Box::new(replaced("\"rows\": 2", "\"rows\": 1")), "manifest"),
        ("tables/runs/00000000.jsonl", Box::new(|_| None), "manifest"),
        ("tables/runs/00000000.jsonl", Box::new(replaced("first", "other")), "manifest"),
        ("tables/runs/00000000.jsonl", Box::new(replaced("\n", "")), "breaks off"),
        ("tables/runs/00000000.jsonl", Box::new(replaced("[\"", "[1,\"")), "a row of runs"),
    ];
    for (member, change, problem) in changes {
        let bytes = rewrite(&backup, |name, content| match name == member {
            true => change(content),
            false => Some(content),
        });
        let said = refused(folder.path(), &bytes).await;
        assert!(said.contains(problem), "{member}: {said}");
    }
    let blob = rewrite(&backup, |name, content| match name.starts_with("blobs/") {
        true => Some(b"other".to_vec()),
        false => Some(content),
    });
    assert!(refused(folder.path(), &blob).await.contains("a blob"));
    let untouched = rewrite(&backup, |_, content| Some(content));
    std::fs::write(folder.path().join("same"), untouched).unwrap();
    Store::check_backup(&folder.path().join("same")).await.unwrap();
}
