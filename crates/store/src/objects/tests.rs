//! Blobs and files in a folder, in another folder by URL, and in a bucket where `FULLBENCH_S3` names one
//! (`scripts/object-store`).
#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::sync::Once;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use fullbench_types::{ContentHash, ErrorCode};
use futures::TryStreamExt;
use sha2::{Digest, Sha256};

use super::{ObjectStore, write_whole};
use crate::{ObjectsLocation, StoreError, StoredFile};

/// Objects at a place of their own, and the folder of the store that uses them.
struct Place {
    home: tempfile::TempDir,
    location: ObjectsLocation,
    objects: ObjectStore,
}

impl Place {
    async fn new(home: tempfile::TempDir, location: ObjectsLocation) -> Self {
        let objects = ObjectStore::open(home.path(), &location).await.unwrap();
        Self { home, location, objects }
    }

    async fn all() -> Vec<Self> {
        static TOLD: Once = Once::new();
        let home = || tempfile::tempdir().unwrap();
        let other = ObjectsLocation::Url(format!("file://{}", home().keep().display()));
        let mut places =
            vec![Self::new(home(), ObjectsLocation::Folder).await, Self::new(home(), other).await];
        match std::env::var("FULLBENCH_S3") {
            Ok(bucket) => {
                let url = format!("{bucket}/{}", uuid::Uuid::now_v7());
                places.push(Self::new(home(), ObjectsLocation::Url(url)).await);
            }
            Err(_) => {
                let message = b"SKIPPED: the tests with an object store: FULLBENCH_S3 is not set\n";
                TOLD.call_once(|| std::io::stderr().write_all(message).unwrap());
            }
        }
        places
    }

    fn is_bucket(&self) -> bool {
        matches!(&self.location, ObjectsLocation::Url(url) if url.starts_with("s3://"))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let ObjectsLocation::Url(url) = &self.location
            && let Some(folder) = url.strip_prefix("file://")
        {
            std::fs::remove_dir_all(folder).unwrap();
        }
    }
}

/// Bytes that do not repeat, in chunks as a network would bring them.
fn chunks(size: usize) -> Vec<Bytes> {
    let mut state = 1_u32;
    let mut content = Vec::with_capacity(size);
    content.resize_with(size, || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    });
    content.chunks(60_001).map(Bytes::copy_from_slice).collect()
}

fn stream(chunks: &[Bytes]) -> impl futures::Stream<Item = std::io::Result<Bytes>> + Send {
    futures::stream::iter(chunks.iter().cloned().map(Ok))
}

async fn read(objects: &ObjectStore, key: &str) -> Result<Vec<u8>, StoreError> {
    let chunks: Vec<Bytes> = objects.read_file(key).await?.try_collect().await?;
    Ok(chunks.concat())
}

#[tokio::test]
async fn a_blob_is_there_for_everyone_who_has_the_place() {
    for place in Place::all().await {
        let hash = place.objects.put(b"a block of cases").unwrap();
        assert_eq!(place.objects.put(b"a block of cases").unwrap(), hash);
        assert_eq!(place.objects.get(&hash).unwrap(), b"a block of cases");
        let missing = ContentHash::of(b"another");
        assert!(place.objects.contains(&hash) && !place.objects.contains(&missing));
        assert!(place.objects.get(&missing).is_err());
        if place.location == ObjectsLocation::Folder {
            continue;
        }
        let elsewhere = tempfile::tempdir().unwrap();
        let objects = ObjectStore::open(elsewhere.path(), &place.location).await.unwrap();
        assert!(objects.contains(&hash));
        assert_eq!(objects.get(&hash).unwrap(), b"a block of cases");
        let other = ObjectStore::open(elsewhere.path(), &ObjectsLocation::Folder).await.unwrap();
        assert!(!other.contains(&hash), "what is at one place is not at another");
    }
}

#[tokio::test]
async fn a_copy_hides_no_missing_blob() {
    for place in Place::all().await.into_iter().filter(Place::is_bucket) {
        let other_home = tempfile::tempdir().unwrap();
        let other = ObjectStore::open(other_home.path(), &place.location).await.unwrap();
        let hash = place.objects.put(b"blob").unwrap();
        assert!(other.remove(&hash).unwrap() && !other.remove(&hash).unwrap());
        assert!(!place.objects.contains(&hash), "its copy is not the blob");
        place.objects.put(b"blob").unwrap();
        assert_eq!(other.get(&hash).unwrap(), b"blob");
        // The copy of the other goes when nobody has read it for long.
        let later = |days: u64| SystemTime::now() + Duration::from_secs(days * 86_400);
        let copies = || other.copy(&hash).is_some();
        other.remove_unfinished(later(13)).unwrap();
        assert!(copies());
        other.remove_unfinished(later(15)).unwrap();
        assert!(!copies() && other.contains(&hash));
    }
}

#[test]
fn two_writers_of_one_blob_do_not_collide() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("blob");
    std::thread::scope(|threads| {
        for _ in 0..8 {
            threads.spawn(|| {
                for _ in 0..50 {
                    write_whole(&path, b"content").unwrap();
                }
            });
        }
    });
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left half done");
}

#[tokio::test]
async fn a_damaged_copy_of_a_blob_is_fetched_again() {
    for place in Place::all().await {
        let hash = place.objects.put(b"content").unwrap();
        std::fs::write(place.objects.path(&hash), b"\x05\x00\x00\x00\x50hello").unwrap();
        match place.is_bucket() {
            true => {
                assert_eq!(place.objects.get(&hash).unwrap(), b"content");
                std::fs::remove_file(place.objects.path(&hash)).unwrap();
                assert_eq!(place.objects.get(&hash).unwrap(), b"content");
                assert!(place.objects.path(&hash).starts_with(place.home.path()));
                assert!(place.objects.path(&hash).exists(), "it is kept for the next time");
            }
            false => assert!(matches!(place.objects.get(&hash), Err(StoreError::Damaged(_)))),
        }
    }
}

#[tokio::test]
async fn a_file_is_read_back_as_it_was_written() {
    for place in Place::all().await {
        let objects = &place.objects;
        for size in [0, 1, 60_001, 20_000_000] {
            let (key, chunks) = (format!("datasets/{size}.csv"), chunks(size));
            let stored = objects.put_file(&key, stream(&chunks)).await.unwrap();
            let content = chunks.concat();
            let sha256 =
                Sha256::digest(&content).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(stored, StoredFile { size: size as u64, sha256 });
            assert!(read(objects, &key).await.unwrap() == content, "{size}");
        }
        let replaced = [Bytes::from_static(b"other")];
        objects.put_file("datasets/1.csv", stream(&replaced)).await.unwrap();
        assert_eq!(read(objects, "datasets/1.csv").await.unwrap(), b"other");
        objects.delete_file("datasets/1.csv").await.unwrap();
        objects.delete_file("datasets/1.csv").await.unwrap();
        let gone = read(objects, "datasets/1.csv").await.unwrap_err();
        assert!(matches!(gone, StoreError::FileNotFound(_)), "{gone}");
        assert_eq!(gone.code(), ErrorCode::NotFound);
        let uri = objects.file_uri("datasets/0.csv");
        match uri.strip_prefix("file://") {
            Some(path) => assert!(std::path::Path::new(path).is_file(), "{uri}"),
            None => assert!(place.is_bucket() && uri.ends_with("/files/datasets/0.csv"), "{uri}"),
        }
    }
}

#[tokio::test]
async fn a_file_that_breaks_off_is_never_seen() {
    for place in Place::all().await {
        let objects = &place.objects;
        let before = [Bytes::from_static(b"before")];
        objects.put_file("kept", stream(&before)).await.unwrap();
        for key in ["new", "kept"] {
            let chunks = chunks(20_000_000);
            let broken =
                futures::stream::iter(vec![Err(std::io::Error::other("the line went dead"))]);
            let content = futures::StreamExt::chain(stream(&chunks), broken);
            let error = objects.put_file(key, content).await.unwrap_err();
            assert!(matches!(error, StoreError::FileBrokeOff { .. }), "{error}");
            assert!(error.to_string().contains("the line went dead"), "{error}");
            // As when the request that brings it is given up.
            let endless = futures::StreamExt::chain(stream(&chunks), futures::stream::pending());
            let waited = std::time::Duration::from_millis(300);
            assert!(tokio::time::timeout(waited, objects.put_file(key, endless)).await.is_err());
        }
        assert!(matches!(read(objects, "new").await, Err(StoreError::FileNotFound(_))));
        assert_eq!(read(objects, "kept").await.unwrap(), b"before");
        if let Some(path) = objects.file_uri("kept").strip_prefix("file://") {
            let folder = std::path::Path::new(path).parent().unwrap();
            assert_eq!(std::fs::read_dir(folder).unwrap().count(), 1, "nothing is left behind");
        }
    }
}

#[tokio::test]
async fn names_that_lead_elsewhere_and_wrong_urls_are_refused() {
    for place in Place::all().await {
        for key in ["", "/a", "a/", "a//b", "../a", "a/../../b", ".", "a#1", "a\0b"] {
            let error = place.objects.put_file(key, stream(&[])).await.unwrap_err();
            assert!(matches!(error, StoreError::FileName(_)), "{key:?}: {error}");
            assert!(place.objects.read_file(key).await.is_err(), "{key:?}");
        }
    }
    let home = tempfile::tempdir().unwrap();
    for url in ["", "bucket", "file://folder", "s3://", "s3:///prefix", "http://host/bucket"] {
        let location = ObjectsLocation::Url(url.to_owned());
        let error = ObjectStore::open(home.path(), &location).await.unwrap_err();
        assert!(matches!(error, StoreError::ObjectsUrl { .. }), "{url}: {error}");
        assert_eq!((error.code(), error.hint().is_some()), (ErrorCode::InvalidInput, true));
    }
    if std::env::var("FULLBENCH_S3").is_ok() {
        let location = ObjectsLocation::Url("s3://no-such-bucket/prefix".to_owned());
        let error = ObjectStore::open(home.path(), &location).await.unwrap_err();
        assert!(matches!(error, StoreError::Objects { .. }), "{error}");
    }
}
