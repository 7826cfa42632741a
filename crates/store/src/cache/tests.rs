//! What one organization keeps in the cache is not removed by another one, and goes when its own time has come.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fullbench_types::{ContentHash, DEFAULT_ORGANIZATION, Generation, OrganizationId, Plan};
use jiff::Timestamp;
use sea_orm::ConnectionTrait;
use sea_orm::sqlx::sqlite::SqliteSynchronous;

use super::{CacheLimits, DiskCache, FILE};
use crate::sqlite::connect;
use crate::{NewOrganization, OrganizationChange, Store};

async fn put(home: &Path, organization: OrganizationId, question: &str) {
    let disk = Arc::new(DiskCache::open(home, CacheLimits::default()).await.unwrap());
    let key = ContentHash::of(question.as_bytes());
    disk.clone().of(organization).put(&key, &Generation::recorded(question.to_owned())).await;
    disk.flush().await;
}

async fn has(home: &Path, organization: OrganizationId, question: &str) -> bool {
    let disk = Arc::new(DiskCache::open(home, CacheLimits::default()).await.unwrap());
    disk.of(organization).get(&ContentHash::of(question.as_bytes())).await.is_some()
}

async fn with_two_organizations(home: &Path) -> (Store, OrganizationId) {
    let store = Store::open(home).await.unwrap();
    let new = NewOrganization { name: "o".into(), slug: "o".into(), plan: Plan::Free };
    let other = store.create_organization(new).await.unwrap().id;
    put(home, DEFAULT_ORGANIZATION, "ours").await;
    put(home, other, "theirs").await;
    (store, other)
}

#[tokio::test]
async fn nobody_removes_the_replies_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let (_store, other) = with_two_organizations(folder.path()).await;
    for limits in [
        CacheLimits { max_age: Duration::ZERO, ..CacheLimits::default() },
        CacheLimits { max_bytes: 0, ..CacheLimits::default() },
    ] {
        put(folder.path(), other, "theirs").await;
        tokio::time::sleep(Duration::from_millis(5)).await;
        let cache = DiskCache::open(folder.path(), limits).await.unwrap();
        assert_eq!(cache.prune(other).await.unwrap(), 1);
        assert!(!has(folder.path(), other, "theirs").await);
        assert!(has(folder.path(), DEFAULT_ORGANIZATION, "ours").await, "{limits:?}");
    }
}

#[tokio::test]
async fn replies_go_with_the_data_of_their_organization_and_with_time() {
    let folder = tempfile::tempdir().unwrap();
    let (store, other) = with_two_organizations(folder.path()).await;
    let change =
        OrganizationChange { data_retention_days: Some(Some(3)), ..OrganizationChange::default() };
    store.scoped(other).change_organization(change).await.unwrap();
    let now = Timestamp::now();
    assert_eq!(store.tidy_cache(CacheLimits::default(), now).await.unwrap(), 0);
    let database = connect(&folder.path().join(FILE), SqliteSynchronous::Normal).await.unwrap();
    let older = format!("UPDATE responses SET created_at = created_at - {}", 4 * 86_400_000);
    database.execute_unprepared(&older).await.unwrap();
    assert_eq!(store.tidy_cache(CacheLimits::default(), now).await.unwrap(), 1);
    assert!(has(folder.path(), DEFAULT_ORGANIZATION, "ours").await);
    assert!(!has(folder.path(), other, "theirs").await);
    let older = format!("UPDATE responses SET created_at = created_at - {}", 11 * 86_400_000);
    database.execute_unprepared(&older).await.unwrap();
    assert_eq!(store.tidy_cache(CacheLimits::default(), now).await.unwrap(), 1, "after 14 days");
    put(folder.path(), other, "theirs").await;
    let none = CacheLimits { max_bytes: 0, ..CacheLimits::default() };
    assert_eq!(store.tidy_cache(none, now).await.unwrap(), 1, "what is too much goes for all");
}
