//! What is backed up is what comes back.

use std::path::Path;
use std::sync::Arc;

use fullbench_store::{ObjectsLocation, ResultDetail, Store};
use fullbench_types::{DEFAULT_ORGANIZATION, RunState};
use futures::TryStreamExt;
use sea_orm::sqlx::{self, Row};

use crate::backend::{Place, on_every_backend};
use crate::fixture::{Backup, ODD_TEXT, OTHER, empty_places, fill, literals};

on_every_backend!(
    everything_comes_back_on_every_backend,
    what_one_backend_cannot_keep_is_what_it_would_have_kept,
    objects_move_with_the_rows,
    objects_that_are_gone_are_named,
);

async fn everything_comes_back_on_every_backend(place: Place) {
    let (run, _) = fill(&place).await;
    let first = Backup::of(&place).await;
    assert_eq!(Store::check_backup(&first.file()).await.unwrap(), first.contents);
    for table in &first.contents.tables {
        assert!(table.rows > 0, "{} is not tested: give it a row in the fixture", table.name);
    }
    assert!(first.contents.blobs.count > 1 && first.contents.files.count == 1);
    assert!(first.contents.missing.is_empty(), "{:?}", first.contents.missing);

    for target in empty_places().await {
        first.restore(&target).await.unwrap();
        let second = Backup::of(&target).await;
        assert_eq!(second.contents.tables, first.contents.tables);
        assert_eq!(second.contents.blobs, first.contents.blobs);
        assert_eq!(second.contents.files, first.contents.files);

        let whole = target.open().await;
        let (other, default) = (whole.scoped(OTHER), whole.scoped(DEFAULT_ORGANIZATION));
        let units = other.results_after(run, None, 10, ResultDetail::Full).await.unwrap();
        assert_eq!(units.len(), 2);
        assert_eq!(other.run(run).await.unwrap().state, RunState::Completed);
        assert!(default.run(run).await.is_err(), "one organization sees another");
        let dataset = default.dataset(&other.run(run).await.unwrap().dataset).await.unwrap();
        let mut cases = default.cases(Arc::new(dataset)).await.unwrap();
        assert_eq!(cases.case(1999).unwrap().key, "k1999");
        whole.close().await.unwrap();
        rules_still_hold(&target).await;
    }
}

/// The database refuses what it refused before.
async fn rules_still_hold(place: &Place) {
    let changed = place.execute("UPDATE judges SET name = 'x'").await.unwrap_err();
    assert!(changed.contains("never change"), "{changed}");
    let dangling = "INSERT INTO run_scorers SELECT run_id, 1, organization_id, config, 1 FROM run_scorers; \
         UPDATE runs SET baseline_run_id = <99> WHERE baseline_run_id IS NOT NULL";
    let pragma = if place.is_postgres() { "" } else { "PRAGMA foreign_keys = ON; " };
    let refused = place.execute(&format!("{pragma}{}", literals(place, dangling))).await;
    assert!(refused.unwrap_err().to_lowercase().contains("foreign key"));
    if !place.is_postgres() {
        return;
    }
    let mut connection = place.connect().await;
    let mut number = async |sql: &'static str| -> i64 {
        sqlx::query(sql).fetch_one(&mut connection).await.unwrap().get(0)
    };
    // Without a scope nothing is seen.
    assert_eq!(number("SELECT count(*) FROM generations").await, 0);
    let deferrable = "SELECT count(*) FROM pg_constraint WHERE condeferrable";
    assert_eq!(number(deferrable).await, 0);
    let scope = "SELECT 1::bigint FROM set_config('fullbench.organization', 'system', false)";
    number(scope).await;
    assert_eq!(number("SELECT count(*) FROM generations").await, 3);
    assert_eq!(number("SELECT count(*) FROM generations_default").await, 0, "no partition");
    assert_eq!(number("SELECT count(*) FROM scores_default").await, 0, "no partition");
    let sequences = "SELECT count(*) FROM pg_class WHERE relkind = 'S'";
    assert_eq!(number(sequences).await, 0, "a restore would have to set these");
}

async fn what_one_backend_cannot_keep_is_what_it_would_have_kept(place: Place) {
    fill(&place).await;
    let sql = match place.is_postgres() {
        true => "UPDATE scores SET raw = 'NaN', value = 'Infinity', confidence = '-0'",
        false => "UPDATE evaluation_steps SET steps = 'a' || char(0) || 'b'",
    };
    place.execute(sql).await.unwrap();
    let first = Backup::of(&place).await;
    for target in empty_places().await {
        first.restore(&target).await.unwrap();
        let second = Backup::of(&target).await;
        if target.is_postgres() == place.is_postgres() {
            assert_eq!(second.contents.tables, first.contents.tables);
            continue;
        }
        let (changed, kept) = match place.is_postgres() {
            true => ("scores", "SELECT raw FROM scores WHERE raw IS NOT NULL OR value < 1e308"),
            false => (
                "evaluation_steps",
                "SELECT steps FROM evaluation_steps WHERE steps <> 'a\u{fffd}b'",
            ),
        };
        for (second, first) in second.contents.tables.iter().zip(&first.contents.tables) {
            assert_eq!((&second.name, second.rows), (&first.name, first.rows));
            assert_eq!(second.sha256 == first.sha256, first.name != changed, "{}", first.name);
        }
        // Refused where a row is found: steps are never NULL.
        let found = format!(
            "INSERT INTO evaluation_steps SELECT id, 'found', NULL, 1 FROM organizations WHERE EXISTS ({kept})"
        );
        target.execute(&found).await.unwrap();
    }
}

async fn objects_move_with_the_rows(place: Place) {
    fill(&place).await;
    let first = Backup::of(&place).await;
    let elsewhere = tempfile::tempdir().unwrap();
    let mut places = vec![format!("file://{}", elsewhere.path().display())];
    // The bucket of `scripts/object-store`.
    if let Ok(bucket) = std::env::var("FULLBENCH_S3") {
        places.push(format!("{bucket}/{}", uuid::Uuid::now_v7()));
    }
    for url in places {
        let mut target = Place::sqlite();
        target.location.objects = ObjectsLocation::Url(url.clone());
        first.restore(&target).await.unwrap();
        let whole = target.open().await;
        let scoped = whole.scoped(OTHER);
        let version = scoped.version(uuid::Uuid::from_u128(21)).await.unwrap();
        let key = fullbench_store::ObjectStore::dataset_file_key(OTHER, &version.file_uri).unwrap();
        assert_eq!(version.file_uri, scoped.objects().await.unwrap().dataset_file_uri(&key));
        assert_eq!(version.file_uri.starts_with("s3://"), url.starts_with("s3://"));
        let content: Vec<_> = scoped
            .objects()
            .await
            .unwrap()
            .read_file(&key)
            .await
            .unwrap()
            .try_collect()
            .await
            .unwrap();
        assert_eq!(content.concat(), b"{}\n{}");
        whole.close().await.unwrap();
        assert!(!target.home().join("files").exists(), "the folder was not asked for");

        // From another machine, where there are no copies.
        let mut far = Place::sqlite();
        std::fs::copy(target.home().join("fullbench.db"), far.home().join("fullbench.db")).unwrap();
        far.location = target.location.clone();
        let second = Backup::of(&far).await;
        assert_eq!(second.contents.blobs, first.contents.blobs);
        assert_eq!(second.contents.files, first.contents.files);
        assert!(second.contents.missing.is_empty());
        let copies = |home: &Path| std::fs::read_dir(home).unwrap().count();
        assert_eq!(copies(far.home()), 1, "a backup of a bucket is not kept twice");
    }
}

async fn objects_that_are_gone_are_named(place: Place) {
    fill(&place).await;
    let whole = Backup::of(&place).await;
    std::fs::remove_dir_all(place.home().join("files")).unwrap();
    std::fs::remove_dir_all(place.home().join("objects")).unwrap();
    let backup = Backup::of(&place).await;
    assert_eq!((backup.contents.blobs.count, backup.contents.files.count), (0, 0));
    assert_eq!(backup.contents.missing.len() as u64, whole.contents.blobs.count + 1);
    assert_eq!(backup.contents.tables, whole.contents.tables);
    let target = Place::sqlite();
    assert_eq!(backup.restore(&target).await.unwrap().missing, backup.contents.missing);
}

#[tokio::test]
async fn a_database_of_an_older_version_is_restored_and_brought_up_to_date() {
    for dump in [include_str!("../upgrade/m0002.sql"), include_str!("../upgrade/m0010.sql")] {
        let old = Place::sqlite();
        old.execute(dump).await.unwrap();
        let backup = Backup::of(&old).await;
        let status = Store::status_at(old.home(), &old.location).await.unwrap();
        assert!(!status.pending.is_empty(), "a backup must not migrate");
        assert_eq!(backup.contents.migrations, status.applied);
        assert_eq!((backup.rows("runs"), backup.rows("dataset_contents")), (1, 1));
        for target in empty_places().await {
            backup.restore(&target).await.unwrap();
            let status = Store::status_at(target.home(), &target.location).await.unwrap();
            assert!(status.pending.is_empty(), "{status:?}");
            let store = target.open().await.scoped(DEFAULT_ORGANIZATION);
            let run = store.find_run("latest").await.unwrap();
            let units = store.results_after(run.id, None, 10, ResultDetail::Full).await.unwrap();
            let values: Vec<_> = units.iter().map(|unit| unit.scores[0].score.value).collect();
            assert_eq!(values, [Some(1.0), Some(0.0)]);
            assert_eq!(store.dataset(&run.dataset).await.unwrap().cases, 2);
        }
    }
}

#[tokio::test]
async fn odd_texts_are_kept_letter_by_letter() {
    let place = Place::sqlite();
    fill(&place).await;
    let backup = Backup::of(&place).await;
    for target in empty_places().await {
        backup.restore(&target).await.unwrap();
        let store = target.open().await;
        let organizations = store.organizations().await.unwrap();
        assert!(organizations.iter().any(|organization| organization.name == ODD_TEXT));
    }
}
