//! What goes is gone, and nothing else.
#![allow(clippy::unwrap_used, clippy::panic)]

mod erasure;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fullbench_types::{ContentHash, DEFAULT_ORGANIZATION, OrganizationId};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use uuid::Uuid;

use crate::backend::{Place, on_every_backend};
use crate::backup_fixture::{Backup, OTHER, empty_places, fill};
use crate::{AuditKey, DatasetWriter, EntityKind, FieldMapping, NewAuditEntry, Store, StoreError};

on_every_backend!(
    a_data_set_goes_with_its_results,
    a_data_set_in_use_stays,
    what_is_too_old_goes_and_is_told,
    what_is_too_old_goes_while_others_write,
    what_only_tells_what_happened_goes_without_being_asked,
    frozen_cases_that_nobody_names_go_after_a_day,
    cases_with_agreed_answers_go_with_their_data_set,
    blobs_that_nobody_names_go_where_one_installation_keeps_them,
    blobs_that_were_not_there_are_not_counted,
    exports_of_the_same_contents_are_the_same_bytes,
);

/// A word that stands in everything the second organization has.
const MARK: &str = "zanzibarine";

fn key() -> AuditKey {
    AuditKey::new([3; 32])
}

/// The rows of every table, by name.
async fn counts(place: &Place) -> Vec<(String, u64)> {
    let status = Store::status_at(place.home(), &place.location).await.unwrap();
    status.rows.into_iter().map(|rows| (rows.table, rows.rows)).collect()
}

fn count(counts: &[(String, u64)], table: &str) -> u64 {
    counts.iter().find(|(name, _)| name == table).unwrap().1
}

async fn a_data_set_goes_with_its_results(place: Place) {
    fill(&place).await;
    place.execute("UPDATE dataset_versions SET status = 'DEPRECATED'").await.unwrap();
    let before = counts(&place).await;
    let store = place.open().await;
    let scoped = store.scoped(OTHER);
    let dataset = Uuid::from_u128(20);
    let stale = store.remove_dataset(&scoped, dataset, Some(1)).await;
    assert!(matches!(stale, Err(StoreError::ChangedMeanwhile { .. })), "{stale:?}");
    let removed = store.remove_dataset(&scoped, dataset, None).await.unwrap();
    assert_eq!((removed.files, removed.blobs), (1, 0), "the other organization has the blobs");
    let after = counts(&place).await;
    for (table, gone) in [
        ("datasets", 1),
        ("dataset_versions", 1),
        ("test_cases", 1),
        ("ground_truths", 1),
        ("runs", 1),
        ("generations", 2),
        ("scores", 2),
        ("run_progress", 1),
        ("run_scorers", 1),
        ("provider_batches", 1),
        ("baselines", 1),
        ("events", 1),
        ("documents", 0),
        ("judges", 0),
        ("dataset_contents", 0),
    ] {
        let (before, after) = (count(&before, table), count(&after, table));
        assert_eq!(before - after, gone, "{table}");
    }
    let folder = place.home().join("files").join(OTHER.0.to_string()).join(dataset.to_string());
    assert!(!folder.join(Uuid::from_u128(21).to_string()).join("data.jsonl").exists());
    assert!(matches!(
        scoped.dataset_record(dataset).await,
        Err(StoreError::NameNotFound { kind: EntityKind::Dataset, .. })
    ));
}

async fn a_data_set_in_use_stays(place: Place) {
    fill(&place).await;
    let before = counts(&place).await;
    let store = place.open().await;
    let scoped = store.scoped(OTHER);
    let published = store.remove_dataset(&scoped, Uuid::from_u128(20), None).await;
    assert!(matches!(published, Err(StoreError::Immutable { .. })), "{published:?}");
    let open =
        "UPDATE dataset_versions SET status = 'DEPRECATED'; UPDATE runs SET state = 'running'";
    place.execute(open).await.unwrap();
    let used = store.remove_dataset(&scoped, Uuid::from_u128(20), None).await;
    assert!(matches!(used, Err(StoreError::InUse { .. })), "{used:?}");
    assert_eq!(counts(&place).await, before);
}

/// Frozen cases with the mark, of the second organization alone.
async fn marked_content(store: &Store, place: &Place) -> ContentHash {
    let scoped = store.scoped(OTHER);
    let mut writer = DatasetWriter::new(scoped.objects().await.unwrap());
    writer.push("k", json!({"input": MARK}).as_object().unwrap()).unwrap();
    let version = writer.finish(MARK.to_owned(), vec![], FieldMapping::default()).unwrap();
    scoped.save_dataset(&version, &ContentHash::of(b"marked")).await.unwrap();
    let sql = format!(
        "UPDATE runs SET dataset_hash = '{}', name = '{MARK}' WHERE name = 'first'",
        version.hash
    );
    place.execute(&sql).await.unwrap();
    version.blocks[0].hash
}

fn of_other(reports: Vec<crate::RetentionReport>) -> crate::RetentionReport {
    reports.into_iter().find(|report| report.organization == "other").unwrap()
}

fn rows(report: &crate::RetentionReport, table: &str) -> u64 {
    report.rows.iter().find(|rows| rows.table == table).map_or(0, |rows| rows.rows)
}

async fn what_only_tells_what_happened_goes_without_being_asked(place: Place) {
    fill(&place).await;
    let store = place.open().await;
    let now = Timestamp::now();
    let hours_ago = |hours: i64| now.as_millisecond() - hours * 3_600_000;
    let young = format!(
        "UPDATE events SET created_at = {}; UPDATE idempotency_keys SET created_at = {}",
        hours_ago(89 * 24),
        hours_ago(23)
    );
    place.execute(&young).await.unwrap();
    let before = counts(&place).await;
    let would = of_other(store.old_data(now).await.unwrap());
    let done = of_other(store.remove_old_data(&key(), now).await.unwrap());
    assert!(done.older_than.is_none(), "nobody has said");
    for (table, gone) in [
        ("judged_outputs", 2),
        ("invitations", 1),
        ("password_resets", 1),
        ("webhook_deliveries", 1),
        ("alert_notifications", 1),
        ("events", 0),
        ("idempotency_keys", 0),
        ("runs", 0),
        ("documents", 0),
    ] {
        assert_eq!((rows(&done, table), rows(&would, table)), (gone, gone), "{table}");
    }
    let later = now.checked_add(SignedDuration::from_hours(25)).unwrap();
    let later = of_other(store.remove_old_data(&key(), later).await.unwrap());
    assert!(rows(&later, "events") > 0 && rows(&later, "idempotency_keys") > 0, "{later:?}");
    let after = counts(&place).await;
    assert_eq!(count(&before, "runs"), count(&after, "runs"));
    assert_eq!(count(&before, "audit_entries"), count(&after, "audit_entries"), "it is no news");
}

async fn frozen_cases_that_nobody_names_go_after_a_day(place: Place) {
    fill(&place).await;
    let store = place.open().await;
    let scoped = store.scoped(OTHER);
    let block = marked_content(&store, &place).await;
    let renamed = format!("UPDATE runs SET dataset_hash = 'another' WHERE name = '{MARK}'");
    place.execute(&renamed).await.unwrap();
    let now = Timestamp::now();
    store.remove_old_data(&key(), now).await.unwrap();
    let objects = scoped.objects().await.unwrap();
    assert!(objects.contains(&block), "who made it may be about to name it");
    let source = ContentHash::of(b"marked");
    place.execute("UPDATE dataset_contents SET created_at = 1").await.unwrap();
    assert!(scoped.dataset_of_source(&source).await.unwrap().is_some());
    store.remove_old_data(&key(), now).await.unwrap();
    assert!(objects.contains(&block), "who asked for it may be about to name it");
    let tomorrow = now.checked_add(SignedDuration::from_hours(25)).unwrap();
    let done = of_other(store.remove_old_data(&key(), tomorrow).await.unwrap());
    assert_eq!((rows(&done, "dataset_contents"), done.blobs), (1, 1), "{done:?}");
    assert!(!objects.contains(&block));
    assert!(scoped.dataset_of_source(&source).await.unwrap().is_none());
}

async fn cases_with_agreed_answers_go_with_their_data_set(place: Place) {
    fill(&place).await;
    let store = place.open().await;
    let scoped = store.scoped(OTHER);
    let uploaded = ContentHash::of(b"uploaded");
    let change = format!(
        "UPDATE dataset_versions SET status = 'DEPRECATED', ground_truth_revision = 2, \
         content_hash = '{uploaded}'"
    );
    place.execute(&change).await.unwrap();
    let mut blocks = Vec::new();
    for revision in [1, 2, 3] {
        let mut writer = DatasetWriter::new(scoped.objects().await.unwrap());
        writer.push("k", json!({"input": MARK, "n": revision}).as_object().unwrap()).unwrap();
        let version = writer.finish(MARK.to_owned(), vec![], FieldMapping::default()).unwrap();
        let source = crate::ground_truth_source(&uploaded, revision);
        scoped.save_dataset(&version, &source).await.unwrap();
        blocks.push(version.blocks[0].hash);
    }
    let removed = store.remove_dataset(&scoped, Uuid::from_u128(20), None).await.unwrap();
    assert_eq!(removed.blobs, 2, "{removed:?}");
    let objects = scoped.objects().await.unwrap();
    let left: Vec<bool> = blocks.iter().map(|block| objects.contains(block)).collect();
    assert_eq!(left, [false, false, true], "the third is not of this version");
}

/// Changes when all files below a folder were last changed.
fn make_old(folder: &Path, at: std::time::SystemTime) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => make_old(&path, at),
            false => std::fs::File::open(&path).unwrap().set_modified(at).unwrap(),
        }
    }
}

async fn blobs_that_nobody_names_go_where_one_installation_keeps_them(place: Place) {
    fill(&place).await;
    let store = place.open().await;
    let named = marked_content(&store, &place).await;
    let objects = store.scoped(OTHER).objects().await.unwrap();
    let (lost, young) = (objects.put(b"lost").unwrap(), ContentHash::of(b"young"));
    let now = Timestamp::now();
    let (folder, owners) = (place.home().join("objects"), place.home().join("object-owners"));
    let days_ago = |days: u64| std::time::SystemTime::now() - Duration::from_secs(days * 86_400);
    std::fs::write(folder.join("half.tmp"), MARK).unwrap();
    make_old(&folder, days_ago(2));
    objects.put(b"young").unwrap();
    store.remove_old_data(&key(), now).await.unwrap();
    assert!(objects.contains(&lost), "it is older than what this installation keeps here");
    assert!(!folder.join("half.tmp").exists());

    make_old(&owners, days_ago(3));
    std::fs::write(owners.join("another"), "").unwrap();
    store.remove_old_data(&key(), now).await.unwrap();
    assert!(objects.contains(&lost), "another installation may have it");

    std::fs::remove_file(owners.join("another")).unwrap();
    objects.put(b"lost").unwrap();
    store.remove_old_data(&key(), now).await.unwrap();
    assert!(objects.contains(&lost), "it was put again");
    make_old(&folder, days_ago(2));
    objects.put(b"young").unwrap();
    store.remove_old_data(&key(), now).await.unwrap();
    let left = [named, lost, young].map(|blob| objects.contains(&blob));
    assert_eq!(left, [true, false, true]);
}

async fn blobs_that_were_not_there_are_not_counted(place: Place) {
    let store = place.open().await;
    let scoped = store.scoped(DEFAULT_ORGANIZATION);
    let there = scoped.objects().await.unwrap().put(b"there").unwrap();
    let removed = scoped.remove_unused_blocks([there, ContentHash::of(b"gone")]).await;
    assert_eq!(removed.unwrap(), 1);
}

async fn what_is_too_old_goes_and_is_told(place: Place) {
    fill(&place).await;
    let store = place.open().await;
    let block = marked_content(&store, &place).await;
    let now = Timestamp::now();
    let settings =
        "UPDATE organizations SET settings = '{\"data_retention_days\": 30}' WHERE slug = 'other'";
    place.execute(settings).await.unwrap();
    let before = counts(&place).await;
    // What nobody names is looked at a day after it was kept.
    place.execute("UPDATE dataset_contents SET created_at = 1").await.unwrap();
    let would = of_other(store.old_data(now).await.unwrap());
    assert_eq!(counts(&place).await, before, "a look changes nothing");
    let done = of_other(store.remove_old_data(&key(), now).await.unwrap());
    for (table, gone) in [
        ("runs", 1),
        ("generations", 2),
        ("scores", 2),
        ("events", 2),
        ("documents", 1),
        ("judged_outputs", 2),
        ("idempotency_keys", 2),
        ("sessions", 1),
        ("invitations", 1),
        ("password_resets", 1),
        ("webhook_deliveries", 1),
        ("alert_notifications", 1),
        ("alert_rules", 0),
        ("datasets", 0),
        ("users", 0),
        ("audit_entries", 0),
    ] {
        assert_eq!(rows(&done, table), gone, "{table}");
        assert_eq!(rows(&would, table), gone, "{table} as it was foretold");
    }
    assert_eq!(
        (done.blobs, store.scoped(OTHER).objects().await.unwrap().contains(&block)),
        (1, false)
    );
    assert_eq!(count(&counts(&place).await, "runs"), 1, "the other organization keeps its run");
    let told = store.scoped(OTHER).audit_entries(&crate::AuditFilter::default(), 1).await.unwrap();
    assert_eq!(told[0].action, "retention");
    let again = of_other(store.remove_old_data(&key(), now).await.unwrap());
    assert!(again.rows.is_empty(), "{again:?}");
    let young = now.checked_sub(SignedDuration::from_hours(24 * 365 * 60)).unwrap();
    assert!(of_other(store.old_data(young).await.unwrap()).rows.is_empty());
    let held = store.lock_retention().await.unwrap();
    assert!(held.is_some() && place.open().await.lock_retention().await.unwrap().is_none());
}

async fn what_is_too_old_goes_while_others_write(place: Place) {
    fill(&place).await;
    let store = place.open().await;
    let settings = "UPDATE organizations SET settings = '{\"data_retention_days\": 30}'";
    place.execute(settings).await.unwrap();
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let writing = tokio::spawn({
        let (busy, stop) = (place.open().await.scoped(DEFAULT_ORGANIZATION), stop.clone());
        async move {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                let entry = NewAuditEntry::new("busy", "test", fullbench_types::AuditPhase::Done);
                busy.append_audit(&key(), &[entry]).await.unwrap();
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    });
    let removed = store.remove_old_data(&key(), Timestamp::now()).await;
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    writing.await.unwrap();
    let removed = removed.unwrap();
    assert_eq!(removed.len(), 2, "each organization");
    assert_eq!(rows(&of_other(removed), "runs"), 1);
}

async fn export(store: &Store, organization: OrganizationId) -> (crate::ExportContents, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("export.tar.zst");
    let contents = store.export_organization(organization, &path, false).await.unwrap();
    (contents, std::fs::read(&path).unwrap())
}

async fn exports_of_the_same_contents_are_the_same_bytes(place: Place) {
    fill(&place).await;
    let backup = Backup::of(&place).await;
    let store = place.open().await;
    let (receipt, first) = export(&store, OTHER).await;
    assert_eq!(receipt.bytes, first.len() as u64);
    assert!(receipt.missing.is_empty() && receipt.files.count == 1, "{receipt:?}");
    tokio::time::sleep(Duration::from_millis(1100)).await;
    assert!(export(&store, OTHER).await.1 == first, "a second later it is another file");
    let unpacked = zstd::decode_all(first.as_slice()).unwrap();
    let has = |word: &[u8]| unpacked.windows(word.len()).any(|window| window == word);
    assert!(has(b"clarity"));
    for secret in
        [b"\"abc\"".as_slice(), b"\"abf\"", b"password_hash", b"totp_secret", b"token_hash"]
    {
        assert!(!has(secret), "hashes and secrets stay here");
    }
    for target in empty_places().await {
        backup.restore(&target).await.unwrap();
        let restored = target.open().await;
        assert!(export(&restored, OTHER).await.1 == first, "what was restored is not what was");
    }
    assert!(
        store
            .export_organization(OrganizationId(Uuid::now_v7()), Path::new("x"), false)
            .await
            .is_err()
    );
}

/// Whether any file below a folder has the mark, as it is or compressed as blobs are.
fn marked_files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(marked_files(&path));
            continue;
        }
        let stored = std::fs::read(&path).unwrap();
        let content = lz4_flex::decompress_size_prepended(&stored).unwrap_or_default();
        let has = |bytes: &[u8]| bytes.windows(MARK.len()).any(|some| some == MARK.as_bytes());
        if has(&stored) || has(&content) {
            found.push(path);
        }
    }
    found
}
