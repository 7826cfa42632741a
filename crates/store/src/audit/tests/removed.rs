//! What was removed, or put back as it was before, is missed: by the seal, by the log of the installation, and by what this
//! machine saw last.

use fullbench_types::{DEFAULT_ORGANIZATION, Plan, SYSTEM_ORGANIZATION};

use super::{appended, key, new};
use crate::audit::{AuditFinding, AuditHead, AuditKey};
use crate::backend::{Place, on_every_backend};
use crate::{NewOrganization, ScopedStore, Store};

on_every_backend!(
    what_was_cut_off_stays_to_be_seen,
    a_log_that_was_removed_as_a_whole_is_missed,
    the_log_of_the_installation_is_missed_too,
    a_log_from_before_beginnings_were_told_is_no_finding,
    all_logs_that_were_removed_at_once_stay_missed,
    a_removed_installation_is_missed_where_nothing_was_seen,
    an_older_state_that_was_sealed_is_not_the_state_of_now,
    an_organization_that_was_removed_with_its_log_is_missed,
    an_organization_that_was_removed_without_its_log_is_missed,
);

/// The state of a log on a machine that has not seen it yet.
fn forget_seen(scoped: &ScopedStore) {
    scoped.witness.forget_all().unwrap();
}

/// Removes the newest entries, as somebody would who owns the database.
pub(super) async fn cut_off_after(place: &Place, number: u64) {
    let drop = match place.is_postgres() {
        true => "ALTER TABLE audit_entries DISABLE TRIGGER ALL;",
        false => "DROP TRIGGER audit_entries_stay;",
    };
    let whose = "organization_id IN (SELECT id FROM organizations)";
    let cut_off = format!("{drop} DELETE FROM audit_entries WHERE {whose} AND number > {number}");
    place.execute(&cut_off).await.unwrap();
}

async fn what_was_cut_off_stays_to_be_seen(place: Place) {
    let scoped = appended(&place).await;
    forget_seen(&scoped);
    cut_off_after(&place, 6).await;
    let report = scoped.verify_audit(Some(&key()), None).await.unwrap();
    assert_eq!(report.findings, [AuditFinding::CutOff { first: 7, last: 10 }]);
    let end = "UPDATE audit_heads SET number = 6, \
         hash = (SELECT hash FROM audit_entries WHERE number = 6)";
    place.execute(end).await.unwrap();
    let report = scoped.verify_audit(Some(&key()), None).await.unwrap();
    assert_eq!(report.findings, [AuditFinding::HeadForged { number: 6 }]);
    scoped.append_audit(&key(), &[new("later")]).await.unwrap();
    scoped.append_audit(&key(), &[new("later still")]).await.unwrap();
    let report = scoped.verify_audit(Some(&key()), None).await.unwrap();
    assert_eq!(report.findings, [AuditFinding::SealBroken { number: 7 }]);
    assert_eq!(report.number, 9);
}

/// Removes the logs of organizations, or that of the installation, as anybody could who owns the database.
pub(super) async fn remove_logs(place: &Place, of_installation: bool) {
    let not = if of_installation { "NOT" } else { "" };
    for table in ["audit_heads", "audit_entries"] {
        let whose = format!("organization_id {not} IN (SELECT id FROM organizations)");
        place.execute(&format!("DELETE FROM {table} WHERE {whose}")).await.unwrap();
    }
}

/// Makes another organization, which nobody does without an entry.
pub(super) async fn add_organization(store: &Store) {
    let other = NewOrganization { name: "o".into(), slug: "o".into(), plan: Plan::Free };
    store.create_organization(other).await.unwrap();
}

/// Puts the end of the log back as it was once, with its seal.
pub(super) async fn put_back(place: &Place, head: &AuditHead) {
    let literal = |bytes| match place.is_postgres() {
        true => format!("'\\x{bytes}'::bytea"),
        false => format!("X'{bytes}'"),
    };
    let AuditHead { number, hash, mac, .. } = head;
    let (hash, mac) = (literal(hash), literal(mac));
    let whose = "organization_id IN (SELECT id FROM organizations)";
    let end = format!(
        "UPDATE audit_heads SET number = {number}, hash = {hash}, mac = {mac} WHERE {whose}"
    );
    place.execute(&end).await.unwrap();
}

pub(super) async fn findings(scoped: &ScopedStore, key: Option<&AuditKey>) -> Vec<AuditFinding> {
    scoped.verify_audit(key, None).await.unwrap().findings
}

async fn a_log_that_was_removed_as_a_whole_is_missed(place: Place) {
    let scoped = appended(&place).await;
    let installation = place.open().await.scoped(SYSTEM_ORGANIZATION);
    assert!(findings(&scoped, Some(&key())).await.is_empty());
    assert!(findings(&installation, Some(&key())).await.is_empty());
    let older = scoped.audit_head().await.unwrap().unwrap();
    forget_seen(&scoped);
    remove_logs(&place, false).await;
    let missing = AuditFinding::LogMissing { organization_id: DEFAULT_ORGANIZATION };
    for key in [Some(&key()), None] {
        assert_eq!(findings(&scoped, key).await, [AuditFinding::HeadMissing]);
        assert_eq!(findings(&installation, key).await, std::slice::from_ref(&missing));
    }
    scoped.append_audit(&key(), &[new("later")]).await.unwrap();
    scoped.append_audit(&key(), &[new("later still")]).await.unwrap();
    let broken = [AuditFinding::SealBroken { number: 1 }];
    assert_eq!(findings(&scoped, Some(&key())).await, broken, "a new beginning hides nothing");
    assert!(findings(&installation, Some(&key())).await.is_empty());
    assert_ne!(scoped.audit_head().await.unwrap().unwrap(), older);
}

async fn the_log_of_the_installation_is_missed_too(place: Place) {
    let scoped = appended(&place).await;
    let store = place.open().await;
    let installation = store.scoped(SYSTEM_ORGANIZATION);
    forget_seen(&scoped);
    remove_logs(&place, true).await;
    assert_eq!(findings(&installation, Some(&key())).await, [AuditFinding::HeadMissing]);
    assert_eq!(findings(&scoped, Some(&key())).await, [AuditFinding::BeginningMissing]);
    remove_logs(&place, false).await;
    assert!(findings(&installation, Some(&key())).await.is_empty(), "a new installation has none");
    add_organization(&store).await;
    assert_eq!(findings(&installation, Some(&key())).await, [AuditFinding::HeadMissing]);
}

async fn a_log_from_before_beginnings_were_told_is_no_finding(place: Place) {
    let scoped = appended(&place).await;
    let installation = place.open().await.scoped(SYSTEM_ORGANIZATION);
    forget_seen(&scoped);
    remove_logs(&place, true).await;
    let head = scoped.audit_head().await.unwrap().unwrap();
    put_back(&place, &key().seal_untold(DEFAULT_ORGANIZATION, head.number, head.hash)).await;
    assert!(findings(&scoped, Some(&key())).await.is_empty());
    assert!(findings(&installation, Some(&key())).await.is_empty());
    scoped.append_audit(&key(), &[new("later")]).await.unwrap();
    assert!(findings(&scoped, Some(&key())).await.is_empty());
    assert_eq!(installation.verify_audit(Some(&key()), None).await.unwrap().entries, 1);
    forget_seen(&scoped);
    // From now on the old seal is that of an older state.
    let end = "DELETE FROM audit_heads WHERE organization_id IN (SELECT id FROM organizations)";
    place.execute(end).await.unwrap();
    assert_eq!(findings(&scoped, Some(&key())).await, [AuditFinding::HeadMissing]);
}

async fn all_logs_that_were_removed_at_once_stay_missed(place: Place) {
    let scoped = appended(&place).await;
    remove_logs(&place, true).await;
    remove_logs(&place, false).await;
    let forgotten = [AuditFinding::Forgotten { number: 10 }];
    assert_eq!(findings(&scoped, Some(&key())).await, forgotten);
    scoped.append_audit(&key(), &[new("later")]).await.unwrap();
    scoped.append_audit(&key(), &[new("later still")]).await.unwrap();
    let stays =
        [AuditFinding::Missing { first: 1, last: 10 }, AuditFinding::SealBroken { number: 11 }];
    assert_eq!(findings(&scoped, Some(&key())).await, stays, "a new beginning hides nothing");
    forget_seen(&scoped);
    assert_eq!(findings(&scoped, None).await, stays, "on no machine");
}

async fn a_removed_installation_is_missed_where_nothing_was_seen(place: Place) {
    let scoped = appended(&place).await;
    let store = place.open().await;
    let installation = store.scoped(SYSTEM_ORGANIZATION);
    add_organization(&store).await;
    assert!(findings(&installation, Some(&key())).await.is_empty());
    forget_seen(&scoped);
    remove_logs(&place, true).await;
    remove_logs(&place, false).await;
    scoped.append_audit(&key(), &[new("later")]).await.unwrap();
    installation.append_audit(&key(), &[new("later still")]).await.unwrap();
    let stays = [AuditFinding::SealBroken { number: 1 }];
    assert_eq!(findings(&installation, Some(&key())).await, stays);
}

async fn an_older_state_that_was_sealed_is_not_the_state_of_now(place: Place) {
    let scoped = appended(&place).await;
    let older = scoped.audit_head().await.unwrap().unwrap();
    scoped.append_audit(&key(), &[new("hidden"), new("hidden too")]).await.unwrap();
    cut_off_after(&place, older.number).await;
    put_back(&place, &older).await;
    let forgotten = [AuditFinding::Forgotten { number: 12 }];
    assert_eq!(findings(&scoped, Some(&key())).await, forgotten);
    scoped.append_audit(&key(), &[new("later")]).await.unwrap();
    let stays =
        [AuditFinding::Missing { first: 11, last: 12 }, AuditFinding::SealBroken { number: 13 }];
    assert_eq!(findings(&scoped, Some(&key())).await, stays);
}

async fn an_organization_that_was_removed_with_its_log_is_missed(place: Place) {
    let store = place.open().await;
    let installation = store.scoped(SYSTEM_ORGANIZATION);
    let scoped = appended(&place).await;
    remove_logs(&place, true).await;
    remove_logs(&place, false).await;
    let all = findings(&installation, Some(&key())).await;
    let missing = AuditFinding::LogMissing { organization_id: scoped.organization() };
    let own = [AuditFinding::HeadMissing, AuditFinding::Forgotten { number: 1 }];
    assert_eq!(all, [&[missing][..], &own].concat());
}

async fn an_organization_that_was_removed_without_its_log_is_missed(place: Place) {
    let store = place.open().await;
    let installation = store.scoped(SYSTEM_ORGANIZATION);
    installation.append_audit(&key(), &[new("add_organization")]).await.unwrap();
    add_organization(&store).await;
    let organization_id = store.organizations().await.unwrap().last().unwrap().id;
    let scoped = store.scoped(organization_id);
    scoped.append_audit(&key(), &[new("hidden")]).await.unwrap();
    assert!(store.logs_without_organization().await.unwrap().is_empty());
    place.execute("DELETE FROM organizations WHERE slug = 'o'").await.unwrap();
    assert_eq!(store.logs_without_organization().await.unwrap(), [organization_id]);
    let missing = [AuditFinding::OrganizationMissing { organization_id }];
    assert_eq!(findings(&installation, Some(&key())).await, missing);
    assert!(findings(&scoped, Some(&key())).await.is_empty(), "its log can be verified still");
}
