//! What is gone by intention is no finding: logs that were erased, or that a backup was restored in the place of. Who only says
//! so is not believed.

use fullbench_types::{AuditPhase, DEFAULT_ORGANIZATION, SYSTEM_ORGANIZATION, UserRole};
use uuid::Uuid;

use super::removed::{add_organization, cut_off_after, findings, put_back, remove_logs};
use super::{appended, key, new};
use crate::audit::{
    AuditEntry, AuditFinding, AuditHash, AuditHead, BACKUP_RESTORED, NewAuditEntry,
    ORGANIZATION_ERASED,
};
use crate::backend::{Place, on_every_backend};
use crate::{KeptSecret, NewApiKey, Store};

on_every_backend!(
    an_erased_log_begins_anew_on_every_server,
    an_erasure_that_nobody_made_hides_nothing,
    an_erasure_that_came_before_a_broken_seal_explains_nothing,
    an_erasure_that_came_after_a_gap_is_believed,
    what_was_seen_before_a_restore_is_no_finding,
    an_explanation_is_read_while_nobody_adds_to_it,
    a_database_from_before_the_log_needs_none,
    a_first_key_from_before_it_was_told_needs_none,
);

async fn an_erased_log_begins_anew_on_every_server(place: Place) {
    let scoped = appended(&place).await;
    let store = place.open().await;
    let seen = scoped.witness.seen(DEFAULT_ORGANIZATION).unwrap();
    store.erase_organization(DEFAULT_ORGANIZATION, &key(), "ann").await.unwrap();
    assert!(scoped.witness.seen(DEFAULT_ORGANIZATION).is_none(), "nothing of it is left");
    scoped.append_audit(&key(), &[new("later")]).await.unwrap();
    // What another server saw of it before.
    scoped.witness.keep_end(seen.head);
    assert!(findings(&scoped, Some(&key())).await.is_empty());
    scoped.append_audit(&key(), &[new("later still")]).await.unwrap();
    assert!(findings(&scoped, Some(&key())).await.is_empty());
    scoped.witness.keep_end(seen.head);
    store.finish_erasures(&key()).await.unwrap();
    assert!(scoped.witness.seen(DEFAULT_ORGANIZATION).is_none());
}

async fn an_erasure_that_nobody_made_hides_nothing(place: Place) {
    let scoped = appended(&place).await;
    let older = scoped.audit_head().await.unwrap().unwrap();
    scoped.append_audit(&key(), &[new("hidden")]).await.unwrap();
    cut_off_after(&place, older.number).await;
    put_back(&place, &older).await;
    // A row that no chain leads to, and that says what would explain it all.
    let (system, target) = (SYSTEM_ORGANIZATION.0, DEFAULT_ORGANIZATION.0);
    let (whose, nothing) = match place.is_postgres() {
        true => (format!("'{system}'"), "'\\x00'::bytea"),
        false => (format!("X'{}'", system.simple()), "X'00'"),
    };
    let forged = format!(
        "INSERT INTO audit_entries (organization_id, number, at, actor, action, target, phase, previous_hash, hash) \
         VALUES ({whose}, -1, 9000000000000, 'x', 'erase_organization', '{target}', 'done', {nothing}, {nothing})"
    );
    place.execute(&forged).await.unwrap();
    let forgotten = [AuditFinding::Forgotten { number: 11 }];
    assert_eq!(findings(&scoped, Some(&key())).await, forgotten);
    scoped.append_audit(&key(), &[new("later")]).await.unwrap();
    let stays =
        [AuditFinding::Missing { first: 11, last: 11 }, AuditFinding::SealBroken { number: 12 }];
    assert_eq!(findings(&scoped, Some(&key())).await, stays);
}

/// Adds an entry to the log of the installation, as somebody would who owns the database and has read the guide.
async fn forge(place: &Place, entry: &NewAuditEntry) {
    let installation = place.open().await.scoped(SYSTEM_ORGANIZATION);
    let AuditHead { number, hash, .. } = installation.audit_head().await.unwrap().unwrap();
    let entry = entry.placed(SYSTEM_ORGANIZATION, number + 1, hash);
    let literal = |bytes: AuditHash| match place.is_postgres() {
        true => format!("'\\x{bytes}'::bytea"),
        false => format!("X'{bytes}'"),
    };
    let whose = match place.is_postgres() {
        true => format!("'{}'", SYSTEM_ORGANIZATION.0),
        false => format!("X'{}'", SYSTEM_ORGANIZATION.0.simple()),
    };
    let AuditEntry { number, at, actor, action, target, phase, .. } = &entry;
    let (previous, hash) = (literal(entry.previous_hash), literal(entry.hash));
    let target = target.as_ref().unwrap();
    let sql = format!(
        "INSERT INTO audit_entries (organization_id, number, at, actor, action, target, phase, previous_hash, hash) \
         VALUES ({whose}, {number}, {at}, '{actor}', '{action}', '{target}', '{phase}', {previous}, {hash})"
    );
    place.execute(&sql).await.unwrap();
}

async fn an_erasure_that_came_before_a_broken_seal_explains_nothing(place: Place) {
    let scoped = appended(&place).await;
    let installation = place.open().await.scoped(SYSTEM_ORGANIZATION);
    remove_logs(&place, false).await;
    let erased = NewAuditEntry {
        target: Some(DEFAULT_ORGANIZATION.0.to_string()),
        ..NewAuditEntry::new(ORGANIZATION_ERASED, "x", AuditPhase::Done)
    };
    forge(&place, &erased).await;
    // The server goes on after it, and says that it did not write it.
    installation.append_audit(&key(), &[new("later")]).await.unwrap();
    let found = findings(&scoped, Some(&key())).await;
    assert!(found.contains(&AuditFinding::Forgotten { number: 10 }), "{found:?}");
}

async fn an_erasure_that_came_after_a_gap_is_believed(place: Place) {
    let store = place.open().await;
    let installation = store.scoped(SYSTEM_ORGANIZATION);
    let scoped = appended(&place).await;
    installation.append_audit(&key(), &[new("one"), new("another")]).await.unwrap();
    remove_logs(&place, true).await;
    installation.append_audit(&key(), &[new("later")]).await.unwrap();
    let seen = scoped.witness.seen(DEFAULT_ORGANIZATION).unwrap();
    let gap = [AuditFinding::Missing { first: 1, last: 3 }, AuditFinding::SealBroken { number: 4 }];
    assert_eq!(findings(&installation, Some(&key())).await, gap);
    store.erase_organization(DEFAULT_ORGANIZATION, &key(), "ann").await.unwrap();
    assert!(scoped.witness.seen(DEFAULT_ORGANIZATION).is_none());
    // What another server saw of it before.
    scoped.witness.keep_end(seen.head);
    assert!(findings(&scoped, Some(&key())).await.is_empty());
    assert_eq!(findings(&installation, Some(&key())).await, gap, "and nothing else is missing");
}

async fn what_was_seen_before_a_restore_is_no_finding(place: Place) {
    let scoped = appended(&place).await;
    let store = place.open().await;
    let installation = store.scoped(SYSTEM_ORGANIZATION);
    let older = scoped.audit_head().await.unwrap().unwrap();
    scoped.append_audit(&key(), &[new("later")]).await.unwrap();
    // As a restore leaves it, on another machine than the one that has seen more.
    cut_off_after(&place, older.number).await;
    put_back(&place, &older).await;
    assert_eq!(findings(&scoped, Some(&key())).await, [AuditFinding::Forgotten { number: 11 }]);
    let restored = NewAuditEntry::new(BACKUP_RESTORED, "ann", AuditPhase::Done);
    installation.append_audit(&key(), &[restored]).await.unwrap();
    assert!(findings(&scoped, Some(&key())).await.is_empty());
    assert!(findings(&installation, Some(&key())).await.is_empty());
    let unsealed = [AuditFinding::Forgotten { number: 11 }];
    assert_eq!(
        findings(&scoped, None).await,
        unsealed,
        "who cannot check the seal believes nothing"
    );
    scoped.append_audit(&key(), &[new("after")]).await.unwrap();
    assert!(findings(&scoped, Some(&key())).await.is_empty());
    assert_eq!(scoped.audit_head().await.unwrap().unwrap().number, 11);
}

/// Read half before and half after an entry of another server it would be one that is not believed.
async fn an_explanation_is_read_while_nobody_adds_to_it(place: Place) {
    if !place.is_postgres() {
        return;
    }
    let scoped = appended(&place).await;
    let store = place.open().await;
    let seen = scoped.witness.seen(DEFAULT_ORGANIZATION).unwrap();
    store.erase_organization(DEFAULT_ORGANIZATION, &key(), "ann").await.unwrap();
    scoped.append_audit(&key(), &[new("again")]).await.unwrap();
    scoped.witness.keep_end(seen.head);
    let hold = format!(
        "SELECT 1 FROM audit_heads WHERE organization_id = '{}' FOR UPDATE",
        SYSTEM_ORGANIZATION.0
    );
    let adding = place.holding(&hold).await;
    let (key, later) = (key(), [new("later")]);
    let appending = scoped.append_audit(&key, &later);
    tokio::pin!(appending);
    let short = std::time::Duration::from_millis(300);
    assert!(tokio::time::timeout(short, &mut appending).await.is_err(), "it was read meanwhile");
    drop(adding);
    appending.await.unwrap();
    assert!(findings(&scoped, Some(&key)).await.is_empty());
}

async fn a_database_from_before_the_log_needs_none(place: Place) {
    let store = place.open().await;
    let installation = store.scoped(SYSTEM_ORGANIZATION);
    add_organization(&store).await;
    assert_eq!(findings(&installation, Some(&key())).await, [AuditFinding::HeadMissing]);
    // As if the audit log had come afterwards, with a new version.
    place.execute("UPDATE seaql_migrations SET applied_at = applied_at + 60").await.unwrap();
    assert!(findings(&installation, Some(&key())).await.is_empty());
    installation.append_audit(&key(), &[new("first")]).await.unwrap();
    assert!(findings(&installation, Some(&key())).await.is_empty());
}

async fn a_first_key_from_before_it_was_told_needs_none(place: Place) {
    let store = place.open().await;
    let installation = store.scoped(SYSTEM_ORGANIZATION);
    add_key(&store, "first key of the owner").await;
    assert!(findings(&installation, Some(&key())).await.is_empty());
    add_key(&store, "another").await;
    assert_eq!(findings(&installation, Some(&key())).await, [AuditFinding::HeadMissing]);
}

async fn add_key(store: &Store, name: &str) {
    let key = NewApiKey {
        id: Uuid::now_v7(),
        name: name.to_owned(),
        user: None,
        role: UserRole::Owner,
        scopes: None,
        requests_per_minute: None,
        expires_at: None,
        created_by: None,
        secret: KeptSecret { prefix: "fb_".to_owned(), hash: name.to_owned() },
    };
    store.scoped(DEFAULT_ORGANIZATION).add_api_key(key).await.unwrap();
}
