//! Whatever is done to a chain is found and named.
#![allow(clippy::unwrap_used, clippy::panic)]

use fullbench_types::{AuditPhase, DEFAULT_ORGANIZATION, OrganizationId};
use jiff::Timestamp;
use proptest::prelude::*;
use uuid::Uuid;

mod explained;
mod removed;

use super::chain::NO_HASH;
use super::*;
use crate::backend::{Place, on_every_backend};
use crate::{NewOrganization, ScopedStore, StoreError};

fn key() -> AuditKey {
    AuditKey::new([7; 32])
}

fn new(action: &str) -> NewAuditEntry {
    NewAuditEntry {
        credential: Some("key:1".to_owned()),
        target: Some("a\0b".to_owned()),
        status: Some(200),
        after: Some(serde_json::json!({"name": "größe \0 🙂", "n": 0.1})),
        ..NewAuditEntry::new(action, "ann", AuditPhase::Done)
    }
}

/// A chain that nobody touched.
fn chain(length: u64) -> (Vec<AuditEntry>, AuditHead) {
    let (mut entries, mut hash) = (Vec::new(), NO_HASH);
    for number in 1..=length {
        let entry = new(&format!("action_{number}")).placed(DEFAULT_ORGANIZATION, number, hash);
        hash = entry.hash;
        entries.push(entry);
    }
    (entries, key().seal(DEFAULT_ORGANIZATION, length, hash))
}

fn check(entries: &[AuditEntry], head: Option<&AuditHead>, key: Option<&AuditKey>) -> AuditReport {
    let mut check = ChainCheck::new(Some(DEFAULT_ORGANIZATION), None, None);
    entries.iter().for_each(|entry| check.entry(entry));
    check.finish(head, key, AuditBeginning::Needed)
}

/// What somebody may do to a chain.
#[derive(Debug, Clone)]
enum Tampering {
    Change { place: usize, field: u8, rehashed: bool },
    Remove { place: usize },
    Swap { place: usize, other: usize },
    Insert { place: usize, rehashed: bool },
    CutOff { count: usize },
    Rewrite { place: usize },
}

const LENGTH: usize = 12;

fn tampering() -> impl Strategy<Value = Tampering> {
    let place = 0..LENGTH;
    prop_oneof![
        (place.clone(), 0..15u8, any::<bool>())
            .prop_map(|(place, field, rehashed)| Tampering::Change { place, field, rehashed }),
        place.clone().prop_map(|place| Tampering::Remove { place }),
        (place.clone(), place.clone())
            .prop_filter("two places", |(place, other)| place != other)
            .prop_map(|(place, other)| Tampering::Swap { place, other }),
        (place.clone(), any::<bool>())
            .prop_map(|(place, rehashed)| Tampering::Insert { place, rehashed }),
        (1..=LENGTH).prop_map(|count| Tampering::CutOff { count }),
        place.prop_map(|place| Tampering::Rewrite { place }),
    ]
}

fn change(entry: &mut AuditEntry, field: u8) {
    let text =
        |text: &mut Option<String>| *text = Some(format!("{}x", text.clone().unwrap_or_default()));
    match field {
        0 => entry.organization_id = Uuid::from_u128(9),
        1 => entry.number += 100,
        2 => entry.at += 1,
        3 => entry.actor.push('x'),
        4 => entry.credential = None,
        5 => text(&mut entry.from_address),
        6 => entry.request_id = Some(String::new()),
        7 => entry.action.push('x'),
        8 => text(&mut entry.target),
        9 => entry.phase = "refused".to_owned(),
        10 => entry.status = None,
        11 => text(&mut entry.before),
        12 => text(&mut entry.after),
        13 => entry.previous_hash.0[31] ^= 1,
        _ => entry.hash.0[0] ^= 1,
    }
}

/// The numbers that findings name.
fn named(report: &AuditReport) -> Vec<u64> {
    let of = |finding: &AuditFinding| match finding {
        AuditFinding::Changed { number }
        | AuditFinding::Unlinked { number }
        | AuditFinding::Foreign { number }
        | AuditFinding::SealBroken { number }
        | AuditFinding::Replaced { number }
        | AuditFinding::HeadForged { number } => vec![*number],
        AuditFinding::Misplaced { number, expected } => vec![*number, *expected],
        AuditFinding::Missing { first, last }
        | AuditFinding::CutOff { first, last }
        | AuditFinding::Appended { first, last } => (*first..=*last).collect(),
        _ => Vec::new(),
    };
    report.findings.iter().flat_map(of).collect()
}

proptest! {
    #[test]
    fn whatever_is_done_to_a_chain_is_found_and_named(tampering in tampering()) {
        let (mut entries, head) = chain(LENGTH as u64);
        prop_assert!(check(&entries, Some(&head), Some(&key())).intact);
        let touched = match tampering {
            Tampering::Change { place, field, rehashed } => {
                change(&mut entries[place], field);
                if rehashed {
                    // A changed hash is what a forger would write, and needs something else to be changed.
                    entries[place].actor.push('y');
                    entries[place].hash = entries[place].computed_hash();
                }
                vec![place + 1]
            }
            Tampering::Remove { place } => {
                entries.remove(place);
                vec![place + 1]
            }
            Tampering::Swap { place, other } => {
                entries.swap(place, other);
                vec![place + 1, other + 1]
            }
            Tampering::Insert { place, rehashed } => {
                let mut entry = entries[place].clone();
                entry.actor = "forger".to_owned();
                if rehashed {
                    entry.hash = entry.computed_hash();
                }
                entries.insert(place, entry);
                vec![place + 1]
            }
            Tampering::CutOff { count } => {
                entries.truncate(LENGTH - count);
                vec![LENGTH]
            }
            Tampering::Rewrite { place } => {
                entries[place].actor = "forger".to_owned();
                for place in place..LENGTH {
                    let before = place.checked_sub(1).map_or(NO_HASH, |before| entries[before].hash);
                    entries[place].previous_hash = before;
                    entries[place].hash = entries[place].computed_hash();
                }
                vec![LENGTH]
            }
        };
        let report = check(&entries, Some(&head), Some(&key()));
        prop_assert!(!report.intact);
        let named = named(&report);
        for place in touched {
            // A forged hash that fits its entry is found where the next one does not follow.
            let is_named = [place as u64, place as u64 + 1].iter().any(|number| named.contains(number));
            prop_assert!(is_named, "{:?} does not name {}", report.findings, place);
        }
    }

    #[test]
    fn a_forged_end_is_found_by_whoever_has_the_key(count in 1..LENGTH) {
        let (mut entries, _) = chain(LENGTH as u64);
        entries.truncate(LENGTH - count);
        let last = entries.last().unwrap();
        let forged = AuditKey::new([8; 32]).seal(DEFAULT_ORGANIZATION, last.number, last.hash);
        let report = check(&entries, Some(&forged), Some(&key()));
        prop_assert_eq!(report.findings, [AuditFinding::HeadForged { number: last.number }]);
        let unchecked = check(&entries, Some(&forged), None);
        prop_assert!(unchecked.intact && !unchecked.head_checked);
    }
}

#[test]
fn a_file_is_checked_without_a_database() {
    let (entries, head) = chain(3);
    let mut lines = Vec::new();
    for entry in &entries {
        AuditLine::Entry(Box::new(entry.clone())).write(&mut lines).unwrap();
    }
    let cut_off = lines.clone();
    AuditLine::End { head }.write(&mut lines).unwrap();
    let report = check_audit_file(lines.as_slice(), Some(&key()), Some(entries[1].hash)).unwrap();
    assert!(report.intact && report.head_checked && report.entries == 3, "{report:?}");
    let report = check_audit_file(cut_off.as_slice(), None, Some(NO_HASH)).unwrap();
    let unexpected = AuditFinding::Unexpected { expected: NO_HASH };
    assert_eq!(report.findings, [AuditFinding::HeadMissing, unexpected]);
    let text = String::from_utf8(lines).unwrap();
    let changed = text.replacen("\"ann\"", "\"bob\"", 1) + "{\"what\": 1}\n";
    let report = check_audit_file(changed.as_bytes(), None, None).unwrap();
    assert_eq!(report.findings[0], AuditFinding::Changed { number: 1 });
    let nothing = check_audit_file([].as_slice(), None, None).unwrap();
    assert_eq!(nothing.findings, [AuditFinding::HeadMissing], "an export has an end");
    assert!(matches!(report.findings[1], AuditFinding::Unreadable { line: 5, .. }), "{report:?}");
}

on_every_backend!(
    entries_follow_each_other_without_gaps,
    the_database_refuses_changes,
    entries_are_found_by_what_they_say,
);

async fn entries_follow_each_other_without_gaps(place: Place) {
    let store = place.open().await;
    let other =
        NewOrganization { name: "o".into(), slug: "o".into(), plan: fullbench_types::Plan::Free };
    let other = store.create_organization(other).await.unwrap().id;
    let mut writing = tokio::task::JoinSet::new();
    for index in 0..20 {
        let scoped = store.scoped(if index % 2 == 0 { other } else { DEFAULT_ORGANIZATION });
        writing.spawn(async move {
            let entries = [new("one"), new("two"), new("three")];
            scoped.append_audit(&key(), &entries).await.unwrap();
        });
    }
    writing.join_all().await;
    for organization in [other, DEFAULT_ORGANIZATION] {
        let scoped = store.scoped(organization);
        let report = scoped.verify_audit(Some(&key()), None).await.unwrap();
        assert!(report.intact && report.head_checked, "{report:?}");
        assert_eq!((report.entries, report.number), (30, 30));
        let expected = scoped.verify_audit(None, Some(report.hash)).await.unwrap();
        assert!(expected.intact && !expected.head_checked);
    }
    let gone = store.scoped(OrganizationId(Uuid::now_v7()));
    let refused = gone.append_audit(&key(), &[new("one")]).await;
    assert!(matches!(refused, Err(StoreError::NameNotFound { .. })));
    assert!(gone.audit_head().await.unwrap().is_none(), "nothing comes back");
}

async fn appended(place: &Place) -> ScopedStore {
    let scoped = place.open().await.scoped(DEFAULT_ORGANIZATION);
    let entries: Vec<_> = (0..10).map(|number| new(&format!("action_{number}"))).collect();
    scoped.append_audit(&key(), &entries).await.unwrap();
    scoped
}

async fn the_database_refuses_changes(place: Place) {
    let scoped = appended(&place).await;
    for (sql, refusal) in [
        ("UPDATE audit_entries SET actor = 'x'", "never change"),
        ("DELETE FROM audit_entries WHERE number = 3", "never removed"),
        ("DELETE FROM audit_entries", "never removed"),
    ] {
        let refused = place.execute(sql).await.unwrap_err();
        assert!(refused.contains(refusal), "{refused}");
    }
    if place.is_postgres() {
        assert!(place.execute("TRUNCATE audit_entries").await.is_err());
    }
    assert!(scoped.verify_audit(Some(&key()), None).await.unwrap().intact);
    place.execute("DELETE FROM audit_heads; DELETE FROM audit_entries").await.unwrap();
}

/// SQLite takes any type in any column.
#[tokio::test]
async fn a_field_that_cannot_be_read_was_changed() {
    let place = Place::sqlite();
    let scoped = appended(&place).await;
    let triggers =
        "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'audit_entries'";
    for name in place.texts(triggers).await {
        place.execute(&format!("DROP TRIGGER {name}")).await.unwrap();
    }
    for (number, column, value) in [
        (2, "at", "'abc'"),
        (3, "actor", "x'ff00'"),
        (4, "status", "'abc'"),
        (5, "target", "x'ff'"),
        (6, "hash", "7"),
    ] {
        let sql = format!("UPDATE audit_entries SET {column} = {value} WHERE number = {number}");
        place.execute(&sql).await.unwrap();
        let report = scoped.verify_audit(Some(&key()), None).await.unwrap();
        assert_eq!(report.entries, 10);
        assert!(report.findings.contains(&AuditFinding::Changed { number }), "{report:?}");
    }
    place.execute("UPDATE audit_entries SET number = 'abc' WHERE number = 8").await.unwrap();
    let report = scoped.verify_audit(Some(&key()), None).await.unwrap();
    let missing = AuditFinding::Missing { first: 8, last: 8 };
    assert!(report.findings.contains(&missing), "{report:?}");
}

async fn entries_are_found_by_what_they_say(place: Place) {
    let scoped = appended(&place).await;
    let numbers = async |filter: AuditFilter| -> Vec<u64> {
        let found = scoped.audit_entries(&filter, 3).await.unwrap();
        found.iter().map(|entry| entry.number).collect()
    };
    let all = AuditFilter::default;
    assert_eq!(numbers(all()).await, [10, 9, 8]);
    assert_eq!(numbers(AuditFilter { before_number: Some(8), ..all() }).await, [7, 6, 5]);
    let action = AuditFilter { action: Some("action_4".to_owned()), ..all() };
    assert_eq!(numbers(action).await, [5]);
    let target = AuditFilter { target: Some("a\u{fffd}b".to_owned()), ..all() };
    assert_eq!(numbers(target).await.len(), 3);
    let nobody = AuditFilter { actor: Some("bob".to_owned()), ..all() };
    assert!(numbers(nobody).await.is_empty());
    let hour = Timestamp::now().as_millisecond() + 3_600_000;
    let later = Timestamp::from_millisecond(hour).unwrap();
    assert!(numbers(AuditFilter { since: Some(later), ..all() }).await.is_empty());
    assert_eq!(numbers(AuditFilter { until: Some(later), ..all() }).await, [10, 9, 8]);
    let between = scoped.audit_entries_between(3, 5).await.unwrap();
    assert_eq!(between.iter().map(|entry| entry.number).collect::<Vec<_>>(), [4, 5]);
}
