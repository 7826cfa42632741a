//! What is told of a database, and that asking changes nothing.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod backend;

use backend::{Place, on_every_backend};
use fullbench_store::{NewOrganization, Store, StoreError};
use fullbench_types::Plan;

on_every_backend!(
    a_database_is_described_without_being_made,
    rows_of_all_organizations_are_counted,
    a_newer_database_is_described_and_refused,
);

async fn a_database_is_described_without_being_made(place: Place) {
    let status = async || Store::status_at(place.home(), &place.location).await.unwrap();
    let before = status().await;
    assert!(before.applied.is_empty() && before.rows.is_empty(), "{before:?}");
    assert_eq!(before.pending.last(), Some(&before.newest_known));
    assert!(Store::open_existing_at(place.home(), &place.location).await.unwrap().is_none());
    assert!(status().await.applied.is_empty(), "it was made");
    assert_eq!(std::fs::read_dir(place.home()).unwrap().count(), 0);

    let applied = Store::migrate_at(place.home(), &place.location).await.unwrap();
    assert_eq!(applied, before.pending);
    let after = status().await;
    assert_eq!(after.applied, before.pending);
    assert!(after.pending.is_empty() && after.newer.is_empty() && after.bytes > 0, "{after:?}");
    assert!(Store::migrate_at(place.home(), &place.location).await.unwrap().is_empty());
    assert!(Store::open_existing_at(place.home(), &place.location).await.unwrap().is_some());
}

async fn rows_of_all_organizations_are_counted(place: Place) {
    let store = place.open().await;
    for slug in ["one", "two"] {
        let new =
            NewOrganization { name: slug.to_owned(), slug: slug.to_owned(), plan: Plan::Free };
        store.create_organization(new).await.unwrap();
    }
    let status = Store::status_at(place.home(), &place.location).await.unwrap();
    let rows = |table: &str| status.rows.iter().find(|rows| rows.table == table).unwrap().rows;
    assert_eq!((rows("organizations"), rows("runs")), (3, 0));
    let names: Vec<_> = status.rows.iter().map(|rows| rows.table.as_str()).collect();
    for table in ["api_keys", "dataset_contents", "events", "generations", "scores"] {
        assert!(names.contains(&table), "{names:?}");
    }
    assert!(!status.database.contains("password"), "{}", status.database);
}

async fn a_newer_database_is_described_and_refused(place: Place) {
    place.open().await.close().await.unwrap();
    let newer = "INSERT INTO seaql_migrations VALUES ('m9999_future', 0)";
    place.execute(newer).await.unwrap();
    let status = Store::status_at(place.home(), &place.location).await.unwrap();
    assert_eq!(status.newer, ["m9999_future"]);
    assert!(status.pending.is_empty());
    for error in [
        Store::migrate_at(place.home(), &place.location).await.unwrap_err(),
        Store::open_existing_at(place.home(), &place.location).await.unwrap_err(),
    ] {
        assert!(matches!(error, StoreError::NewerDatabase { .. }), "{error}");
    }
}
