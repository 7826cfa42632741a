//! Files and blocks of data sets of an organization that encrypts: sealed at rest, whole or not at all, and gone with its key.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod backend;

use std::future::pending;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use backend::{Place, on_every_backend};
use bytes::Bytes;
use fullbench_store::{
    DatasetVersion, DatasetWriter, FieldMapping, NewDocument, NewOrganization, ObjectStore,
    ObjectsLocation, OrganizationChange, ScopedStore, Store, StoreError, StoreLocation,
};
use fullbench_types::{ContentHash, Plan};
use futures::{StreamExt, TryStreamExt, stream};
use serde_json::{Map, json};
use uuid::Uuid;

on_every_backend!(
    organizations_with_the_same_cases_keep_them_each_in_its_way,
    no_plain_block_is_kept_that_nobody_reads,
    a_backup_has_sealed_bytes_and_an_export_opened_texts,
);

const MARK: &str = "zanzibarine";
/// Bytes before the first chunk of a sealed file, and of a chunk.
const HEAD: usize = 40;
const CHUNK: usize = 64 * 1024 + 16;

async fn organization(store: &Store, slug: &str, encrypt: bool) -> ScopedStore {
    let new = NewOrganization { name: slug.into(), slug: slug.into(), plan: Plan::Free };
    let scoped = store.scoped(store.create_organization(new).await.unwrap().id);
    let change = OrganizationChange { encrypt_texts: Some(encrypt), ..Default::default() };
    scoped.change_organization(change).await.unwrap();
    scoped
}

async fn read(objects: &ObjectStore, key: &str) -> Result<Vec<u8>, StoreError> {
    let pieces: Vec<Bytes> = objects.read_file(key).await?.try_collect().await?;
    Ok(pieces.concat())
}

async fn put(objects: &ObjectStore, key: &str, content: &[u8]) {
    let pieces: Vec<_> =
        content.chunks(100_000).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
    let kept = objects.put_file(key, stream::iter(pieces)).await.unwrap();
    assert_eq!(kept.size, content.len() as u64);
}

/// Files below a folder that have the mark in them.
fn marked(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    let found = paths.flat_map(|path| match path.is_dir() {
        true => marked(&path),
        false => {
            let content = std::fs::read(&path).unwrap();
            let has = content.windows(MARK.len()).any(|some| some == MARK.as_bytes());
            has.then_some(path).into_iter().collect()
        }
    });
    found.collect()
}

#[tokio::test]
async fn a_sealed_file_is_whole_or_refused() {
    let place = Place::sqlite();
    let store = place.open().await;
    let scoped = organization(&store, "one", true).await;
    let objects = scoped.objects().await.unwrap();
    for size in [0, 1, 15, 16, 65_535, 65_536, 65_537, 131_072, 300_000] {
        let content: Vec<u8> = MARK.bytes().cycle().take(size).collect();
        put(&objects, &format!("sizes/{size}"), &content).await;
        assert!(read(&objects, &format!("sizes/{size}")).await.unwrap() == content, "{size}");
    }
    assert_eq!(marked(&place.home().join("files")), Vec::<PathBuf>::new());
    let path = place.home().join("files/sizes/300000");
    let sealed = std::fs::read(&path).unwrap();
    let chunk = |number: usize| HEAD + number * CHUNK..HEAD + (number + 1) * CHUNK;
    let mut reordered = sealed.clone();
    let (first, second) = (sealed[chunk(0)].to_vec(), sealed[chunk(1)].to_vec());
    reordered[chunk(0)].copy_from_slice(&second);
    reordered[chunk(1)].copy_from_slice(&first);
    let mut changed = sealed.clone();
    changed[HEAD + 70_000] ^= 1;
    let without_one = [&sealed[..HEAD + CHUNK], &sealed[HEAD + 2 * CHUNK..]].concat();
    for (what, wrong) in [
        ("cut off", sealed[..sealed.len() - 1].to_vec()),
        ("cut off after a chunk", sealed[..HEAD + CHUNK].to_vec()),
        ("cut off in its head", sealed[..30].to_vec()),
        ("longer", [sealed.as_slice(), b"x"].concat()),
        ("reordered", reordered),
        ("changed", changed),
        ("without a chunk", without_one),
    ] {
        std::fs::write(&path, wrong).unwrap();
        let refused = read(&objects, "sizes/300000").await;
        assert!(matches!(refused, Err(StoreError::Damaged(_))), "{what}");
    }
    std::fs::write(place.home().join("files/sizes/1"), &sealed).unwrap();
    assert!(read(&objects, "sizes/1").await.is_err(), "moved");
    let other = organization(&store, "other", true).await.objects().await.unwrap();
    assert!(read(&other, "sizes/65536").await.is_err(), "another organization");
    scoped.delete_keys().await.unwrap();
    let gone = scoped.objects().await.unwrap().read_file("sizes/65536").await;
    assert!(matches!(gone, Err(StoreError::TextsDeleted)), "refused before anything is given");
}

#[tokio::test]
async fn a_plain_file_is_never_taken_for_a_sealed_one() {
    let place = Place::sqlite();
    let store = place.open().await;
    let sealed = organization(&store, "one", true).await.objects().await.unwrap();
    put(&sealed, "a", b"hello").await;
    let kept = std::fs::read(place.home().join("files/a")).unwrap();
    let plain = organization(&store, "two", false).await.objects().await.unwrap();
    for length in [kept.len(), 40, 17, 16, 15, 1] {
        put(&plain, "b", &kept[..length]).await;
        assert_eq!(read(&plain, "b").await.unwrap(), kept[..length], "{length}");
        put(&sealed, "c", &kept[..length]).await;
        assert_eq!(read(&sealed, "c").await.unwrap(), kept[..length], "{length}");
    }
    put(&plain, "d", b"as it is").await;
    assert_eq!(std::fs::read(place.home().join("files/d")).unwrap(), b"as it is");
}

#[tokio::test]
async fn a_large_file_goes_through_in_pieces() {
    let place = Place::sqlite();
    let store = place.open().await;
    let objects = organization(&store, "one", true).await.objects().await.unwrap();
    let piece = Bytes::from(MARK.repeat(100_000));
    let pieces = 50_000_000 / piece.len() + 1;
    let content = stream::iter((0..pieces).map(|_| Ok(piece.clone())));
    let kept = objects.put_file("large", content).await.unwrap();
    assert_eq!(kept.size, (pieces * piece.len()) as u64);
    let (mut size, mut largest) = (0, 0);
    let mut read = objects.read_file("large").await.unwrap();
    while let Some(some) = read.next().await {
        let some = some.unwrap();
        size += some.len();
        largest = largest.max(some.len());
    }
    assert_eq!(size as u64, kept.size);
    assert!(largest < 1_000_000, "{largest} bytes at once");
}

async fn frozen(scoped: &ScopedStore) -> DatasetVersion {
    let mut writer = DatasetWriter::new(scoped.objects().await.unwrap());
    for index in 0..2000 {
        let fields = Map::from_iter([("input".to_owned(), json!(format!("{MARK} {index}")))]);
        writer.push(&format!("k{index}"), &fields).unwrap();
    }
    let mapping = FieldMapping { input: Some("input".to_owned()), references: Vec::new() };
    let version = writer.finish("a.csv".to_owned(), vec!["input".to_owned()], mapping).unwrap();
    scoped.save_dataset(&version, &ContentHash::of(b"source")).await.unwrap();
    version
}

async fn case(scoped: &ScopedStore, version: &DatasetVersion) -> Result<String, StoreError> {
    let kept = scoped.dataset(&version.hash).await?;
    Ok(scoped.cases(Arc::new(kept)).await?.case(7)?.input.to_string())
}

async fn organizations_with_the_same_cases_keep_them_each_in_its_way(place: Place) {
    let store = place.open().await;
    let (one, two) =
        (organization(&store, "one", true).await, organization(&store, "two", true).await);
    let plain = organization(&store, "plain", false).await;
    let version = frozen(&one).await;
    assert_eq!(marked(&place.home().join("files")), Vec::<PathBuf>::new());
    assert!(!place.home().join("objects").exists(), "nothing is shared yet");
    for scoped in [&two, &plain] {
        assert_eq!(frozen(scoped).await.hash, version.hash, "the name is that of the content");
    }
    for scoped in [&one, &two, &plain] {
        assert_eq!(case(scoped, &version).await.unwrap(), format!("\"{MARK} 7\""));
    }
    one.delete_keys().await.unwrap();
    assert!(matches!(case(&one, &version).await, Err(StoreError::TextsDeleted)));
    let source = ContentHash::of(b"source");
    assert!(one.dataset_of_source(&source).await.unwrap().is_none(), "it is to be read anew");
    for scoped in [&two, &plain] {
        assert!(case(scoped, &version).await.is_ok(), "others keep theirs");
    }
    frozen(&one).await;
    assert!(case(&one, &version).await.is_ok(), "what is sent again is there again");
}

async fn encrypt(scoped: &ScopedStore, encrypt: bool) {
    let change = OrganizationChange { encrypt_texts: Some(encrypt), ..Default::default() };
    scoped.change_organization(change).await.unwrap();
}

async fn no_plain_block_is_kept_that_nobody_reads(place: Place) {
    let store = place.open().await;
    let first = organization(&store, "first", false).await;
    let second = organization(&store, "second", false).await;
    let version = frozen(&first).await;
    assert_eq!(frozen(&second).await.hash, version.hash);
    let plain = || marked(&place.home().join("objects")).len();
    assert_eq!(plain(), 1, "both have the same");
    encrypt(&first, true).await;
    store.seal_texts(first.organization(), |_, _| {}).await.unwrap();
    assert_eq!(plain(), 1, "the second reads it");
    encrypt(&second, true).await;
    store.seal_texts(second.organization(), |_, _| {}).await.unwrap();
    assert_eq!(plain(), 0, "neither reads it");
    assert!(case(&first, &version).await.is_ok() && case(&second, &version).await.is_ok());

    // What was deleted can be kept again, sealed or not, and then sealed.
    first.delete_keys().await.unwrap();
    assert!(matches!(case(&first, &version).await, Err(StoreError::TextsDeleted)));
    assert!(!first.objects().await.unwrap().contains(&version.blocks[0].hash));
    encrypt(&first, false).await;
    frozen(&first).await;
    assert!(case(&first, &version).await.is_ok());
    assert_eq!(plain(), 1);
    encrypt(&first, true).await;
    store.seal_texts(first.organization(), |_, _| {}).await.unwrap();
    assert!(case(&first, &version).await.is_ok());
    assert_eq!(plain(), 0);
}

#[tokio::test]
async fn sealed_objects_of_a_bucket_are_read_back_and_taken_along() {
    let Ok(bucket) = std::env::var("FULLBENCH_S3") else { return };
    let home = tempfile::tempdir().unwrap();
    let objects = ObjectsLocation::Url(format!("{bucket}/{}", Uuid::now_v7()));
    let location = StoreLocation { objects, ..StoreLocation::default() };
    let store = Store::open_at(home.path(), &location).await.unwrap();
    let (one, plain) =
        (organization(&store, "one", true).await, organization(&store, "plain", false).await);
    let version = frozen(&one).await;
    let objects = one.objects().await.unwrap();
    put(&objects, "large", MARK.repeat(20_000).as_bytes()).await;
    assert_eq!(read(&objects, "large").await.unwrap(), MARK.repeat(20_000).as_bytes());
    let block = &version.blocks[0].hash;
    assert!(!plain.objects().await.unwrap().contains(block), "others do not have it");
    frozen(&plain).await;
    for scoped in [&one, &plain] {
        assert_eq!(case(scoped, &version).await.unwrap(), format!("\"{MARK} 7\""));
    }
    let change = OrganizationChange { encrypt_texts: Some(false), ..Default::default() };
    one.change_organization(change).await.unwrap();
    assert!(case(&one, &version).await.is_ok(), "the setting makes no difference to readers");
    let file = home.path().join("backup");
    let made = Store::back_up_at(home.path(), &location, &file, false).await.unwrap();
    assert_eq!(made.blobs.count as usize, version.blocks.len(), "the plain ones: {made:?}");
    assert_eq!(made.files.count as usize, version.blocks.len(), "the sealed ones: {made:?}");
}

async fn a_backup_has_sealed_bytes_and_an_export_opened_texts(place: Place) {
    let store = place.open().await;
    let scoped = organization(&store, "one", true).await;
    let version = frozen(&scoped).await;
    let id = Uuid::now_v7();
    let document = NewDocument {
        id,
        input: None,
        actual_output: MARK.to_owned(),
        expected_output: None,
        metadata: Map::new(),
        created_by: None,
    };
    scoped.create_document(document).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let unpacked = |name: &str| {
        let archive = std::fs::read(folder.path().join(name)).unwrap();
        let unpacked = zstd::decode_all(archive.as_slice()).unwrap();
        unpacked.windows(MARK.len()).filter(|some| *some == MARK.as_bytes()).count()
    };
    let export = folder.path().join("export");
    let told = store.export_organization(scoped.organization(), &export, false).await.unwrap();
    assert_eq!((told.deleted_texts, told.missing.len()), (0, 0), "{told:?}");
    assert_eq!(unpacked("export"), 2001, "all cases, and the document");

    let file = folder.path().join("backup");
    let made = Store::back_up_at(place.home(), &place.location, &file, false).await.unwrap();
    assert_eq!((made.blobs.count, made.missing.len()), (0, 0), "{made:?}");
    assert_eq!(unpacked("backup"), 0);
    let target = Place::sqlite();
    Store::restore_at(target.home(), &target.location, &file, pending()).await.unwrap();
    let restored = target.open().await.scoped(scoped.organization());
    let refused = restored.document(id).await;
    assert!(matches!(refused, Err(StoreError::MasterKeyUnknown(_))), "{refused:?}");
    assert!(matches!(case(&restored, &version).await, Err(StoreError::MasterKeyUnknown(_))));
    std::fs::copy(place.home().join("secret.key"), target.home().join("secret.key")).unwrap();
    let restored = target.open().await.scoped(scoped.organization());
    assert_eq!(restored.document(id).await.unwrap().actual_output, MARK);
    assert_eq!(case(&restored, &version).await.unwrap(), format!("\"{MARK} 7\""));

    scoped.delete_keys().await.unwrap();
    let export = folder.path().join("after");
    let told = store.export_organization(scoped.organization(), &export, false).await.unwrap();
    assert_eq!(unpacked("after"), 0);
    assert!(told.deleted_texts >= 2, "{told:?}");
    assert_eq!(told.missing.len(), version.blocks.len(), "{told:?}");
}
