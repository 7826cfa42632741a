//! Keys of organizations and the master keys that they are wrapped with, on every backend.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod backend;

use backend::{Place, on_every_backend};
use fullbench_store::{
    MasterKey, MasterKeySource, MasterKeys, NewOrganization, Purpose, ScopedStore, Store,
    StoreError, StoreLocation,
};
use fullbench_types::Plan;

on_every_backend!(
    sealed_values_open_after_a_restart_and_for_their_organization_only,
    processes_that_need_a_first_key_at_once_agree_on_it,
    a_strange_master_key_is_refused_and_makes_nothing,
    the_master_key_is_rotated_under_what_another_process_does,
    old_keys_are_forgotten_once_nothing_needs_them,
    keys_of_the_environment_are_rotated_by_who_sets_them,
    what_deleted_keys_sealed_is_gone_for_every_process,
    what_a_server_seals_meanwhile_is_not_lost_unnoticed,
);

const TEXT: Purpose = Purpose::Text;

async fn organization(store: &Store, slug: &str) -> ScopedStore {
    let new = NewOrganization { name: slug.into(), slug: slug.into(), plan: Plan::Free };
    store.scoped(store.create_organization(new).await.unwrap().id)
}

fn given(current: &str, older: &[&str]) -> MasterKeySource {
    let key = |letter: &str| MasterKey::new(&letter.repeat(32)).unwrap();
    let older = older.iter().map(|letter| key(letter)).collect();
    MasterKeySource::Given(MasterKeys::new(key(current), older))
}

async fn sealed_values_open_after_a_restart_and_for_their_organization_only(place: Place) {
    let store = place.open().await;
    let (one, other) = (organization(&store, "one").await, organization(&store, "other").await);
    let sealed = one.seal(TEXT, b"hello", b"here").await.unwrap();
    let derived = one.derived(Purpose::Webhook, &[b"hook"]).await.unwrap();
    assert_ne!(derived, other.derived(Purpose::Webhook, &[b"hook"]).await.unwrap());
    assert!(other.open(TEXT, &sealed, b"here").await.is_err());
    store.close().await.unwrap();

    let store = place.open().await;
    let one = store.scoped(one.organization());
    assert_eq!(&**one.open(TEXT, &sealed, b"here").await.unwrap(), b"hello");
    assert_eq!(derived, one.derived(Purpose::Webhook, &[b"hook"]).await.unwrap());
    assert!(one.open(TEXT, &sealed, b"there").await.is_err());
}

async fn processes_that_need_a_first_key_at_once_agree_on_it(place: Place) {
    let mut stores = Vec::new();
    for _ in 0..4 {
        stores.push(place.open().await);
    }
    let id = organization(&stores[0], "one").await.organization();
    let derive = |store: &Store| {
        let scoped = store.scoped(id);
        tokio::spawn(async move { scoped.derived(TEXT, &[]).await.unwrap() })
    };
    let tasks: Vec<_> = stores.iter().chain(&stores).map(derive).collect();
    let mut values = Vec::new();
    for task in tasks {
        values.push(task.await.unwrap());
    }
    values.dedup();
    assert_eq!(values.len(), 1);
    let status = stores[0].master_key_status().await.unwrap();
    assert_eq!(status.len(), 1);
    assert_eq!((status[0].is_current, status[0].data_keys), (true, 1));
}

async fn a_strange_master_key_is_refused_and_makes_nothing(place: Place) {
    let store = place.open().await;
    let sealed = store.system_keys().seal(TEXT, b"hello", b"").await.unwrap();
    store.check_keys().await.unwrap();
    store.close().await.unwrap();

    std::fs::rename(place.home().join("secret.key"), place.home().join("kept")).unwrap();
    let store = place.open().await;
    let unknown = |error: StoreError| matches!(error, StoreError::MasterKeyUnknown(_));
    assert!(unknown(store.check_keys().await.unwrap_err()));
    let system = store.system_keys();
    assert!(unknown(system.open(TEXT, &sealed, b"").await.unwrap_err()));
    let other = organization(&store, "other").await;
    assert!(unknown(other.seal(TEXT, b"x", b"").await.unwrap_err()));
    assert!(unknown(store.rotate_master_key().await.unwrap_err()));
    assert!(!place.home().join("secret.key").exists(), "no key is made that would hide the loss");
    let status = store.master_key_status().await.unwrap();
    assert_eq!((status[0].is_here, status[0].data_keys), (false, 1));

    std::fs::rename(place.home().join("kept"), place.home().join("secret.key")).unwrap();
    let system = place.open().await.system_keys();
    assert_eq!(&**system.open(TEXT, &sealed, b"").await.unwrap(), b"hello");
}

async fn the_master_key_is_rotated_under_what_another_process_does(place: Place) {
    let (server, operator) = (place.open().await, place.open().await);
    let first = organization(&server, "first").await;
    let sealed = first.seal(TEXT, b"hello", b"").await.unwrap();
    for round in 1..=3 {
        let rotation = operator.rotate_master_key().await.unwrap();
        assert!(rotation.is_new);
        assert_eq!(rotation.rewrapped, round, "one more organization each time");
        assert_eq!(&**first.open(TEXT, &sealed, b"").await.unwrap(), b"hello");
        // Nothing of it was in memory before.
        let fresh = place.open().await;
        let opened = fresh.scoped(first.organization()).open(TEXT, &sealed, b"").await.unwrap();
        assert_eq!(&**opened, b"hello");
        let next = organization(&server, &format!("next-{round}")).await;
        next.seal(TEXT, b"x", b"").await.unwrap();
        let status = operator.master_key_status().await.unwrap();
        assert_eq!(status.len() as u64, round + 1, "old keys are kept");
        assert_eq!(status[0].id, rotation.current);
        assert_eq!(status[0].data_keys, round + 1, "what is new has the new key");
    }
}

async fn old_keys_are_forgotten_once_nothing_needs_them(place: Place) {
    let (server, operator) = (place.open().await, place.open().await);
    let one = organization(&server, "one").await;
    let sealed = one.seal(TEXT, b"hello", b"").await.unwrap();
    let old = operator.master_key_status().await.unwrap()[0].id.clone();
    operator.rotate_master_key().await.unwrap();
    let forgotten = operator.forget_old_master_keys().await.unwrap();
    assert_eq!((forgotten.rewrapped, forgotten.are_removed), (0, true));
    assert_eq!(forgotten.unused, [old]);
    assert_eq!(operator.master_key_status().await.unwrap().len(), 1);
    // The server still has the old one in memory, and must not use it.
    let two = organization(&server, "two").await;
    let sealed_later = two.seal(TEXT, b"later", b"").await.unwrap();
    let fresh = place.open().await;
    let opened = fresh.scoped(two.organization()).open(TEXT, &sealed_later, b"").await.unwrap();
    assert_eq!(&**opened, b"later");
    let opened = fresh.scoped(one.organization()).open(TEXT, &sealed, b"").await.unwrap();
    assert_eq!(&**opened, b"hello");
    assert!(operator.forget_old_master_keys().await.unwrap().unused.is_empty());
}

async fn keys_of_the_environment_are_rotated_by_who_sets_them(place: Place) {
    let with = async |master_keys| {
        let location = StoreLocation { master_keys, ..place.location.clone() };
        Store::open_at(place.home(), &location).await.unwrap()
    };
    let before = with(given("a", &[])).await;
    let sealed = before.system_keys().seal(TEXT, b"hello", b"").await.unwrap();
    assert!(!place.home().join("secret.key").exists());
    let alone = with(given("b", &[])).await;
    let error = alone.rotate_master_key().await.unwrap_err();
    assert!(matches!(error, StoreError::MasterKeyUnknown(_)), "{error}");

    let both = with(given("b", &["a"])).await;
    let rotation = both.rotate_master_key().await.unwrap();
    assert_eq!((rotation.is_new, rotation.rewrapped), (false, 1));
    let forgotten = both.forget_old_master_keys().await.unwrap();
    assert_eq!((forgotten.unused.len(), forgotten.are_removed), (1, false));
    let after = with(given("b", &[])).await;
    assert_eq!(&**after.system_keys().open(TEXT, &sealed, b"").await.unwrap(), b"hello");
}

async fn what_deleted_keys_sealed_is_gone_for_every_process(place: Place) {
    let store = place.open().await;
    let (one, other) = (organization(&store, "one").await, organization(&store, "other").await);
    let sealed = one.seal(TEXT, b"hello", b"").await.unwrap();
    let sealed_by_other = other.seal(TEXT, b"hello", b"").await.unwrap();
    assert_eq!(one.delete_keys().await.unwrap(), 1);
    let fresh = place.open().await;
    for store in [&store, &fresh] {
        let one = store.scoped(one.organization());
        let error = one.open(TEXT, &sealed, b"").await.unwrap_err();
        assert!(matches!(error, StoreError::KeysDeleted), "{error}");
        let again = one.seal(TEXT, b"new", b"").await.unwrap();
        assert_eq!(&**one.open(TEXT, &again, b"").await.unwrap(), b"new");
        let other = store.scoped(other.organization());
        assert_eq!(&**other.open(TEXT, &sealed_by_other, b"").await.unwrap(), b"hello");
    }
}

async fn what_a_server_seals_meanwhile_is_not_lost_unnoticed(place: Place) {
    let (server, operator) = (place.open().await, place.open().await);
    let working = organization(&server, "one").await;
    working.seal(TEXT, b"before", b"").await.unwrap();
    let deleting = operator.scoped(working.organization());
    let deletion = tokio::spawn(async move { deleting.delete_keys().await.unwrap() });
    let mut latest = Vec::new();
    while !deletion.is_finished() {
        latest = working.seal(TEXT, b"meanwhile", b"").await.unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(deletion.await.unwrap(), 1);
    let after = working.seal(TEXT, b"after", b"").await.unwrap();
    assert_eq!(&**working.open(TEXT, &latest, b"").await.unwrap(), b"meanwhile");
    assert_eq!(&**working.open(TEXT, &after, b"").await.unwrap(), b"after");
}
