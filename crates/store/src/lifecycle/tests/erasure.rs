//! An organization goes with everything it has, also with what comes too late, and takes nothing of others along.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use fullbench_llm::ResponseCache;
use fullbench_types::{ContentHash, DEFAULT_ORGANIZATION, SYSTEM_ORGANIZATION};
use jiff::Timestamp;
use sea_orm::sqlx;
use uuid::Uuid;

use super::{MARK, export, key, marked_content, marked_files};
use crate::backend::{Place, on_every_backend};
use crate::backup_fixture::{OTHER, fill};
use crate::{CacheLimits, DiskCache, NewAuditEntry, StoreError};

on_every_backend!(
    an_erased_organization_leaves_nothing_and_takes_nothing_of_others,
    an_erasure_that_cannot_end_has_a_receipt_and_is_finished_later,
    what_comes_after_an_erasure_goes_with_the_next_look,
    an_organization_that_is_there_again_keeps_what_it_has,
    an_erasure_that_the_database_ends_begins_again,
    who_has_to_wait_for_an_erasure_gives_the_connection_back,
);

async fn an_erased_organization_leaves_nothing_and_takes_nothing_of_others(place: Place) {
    fill(&place).await;
    let store = place.open().await;
    let block = marked_content(&store, &place).await;
    let marked = format!(
        "UPDATE test_cases SET input = '{MARK}'; \
         UPDATE users SET name = '{MARK}'; UPDATE events SET data = '{MARK}'; \
         DELETE FROM judged_outputs WHERE key = 'l'; UPDATE judged_outputs SET input = '{MARK}'"
    );
    place.execute(&marked).await.unwrap();
    let document = crate::NewDocument {
        id: Uuid::now_v7(),
        input: None,
        actual_output: MARK.to_owned(),
        expected_output: None,
        metadata: serde_json::Map::new(),
        created_by: None,
    };
    store.scoped(OTHER).create_document(document).await.unwrap();
    let entry = NewAuditEntry::new(MARK, MARK, fullbench_types::AuditPhase::Done);
    store.scoped(OTHER).append_audit(&key(), &[entry]).await.unwrap();
    let own = store.scoped(DEFAULT_ORGANIZATION).audit_head().await.unwrap();
    let file = format!("{}/{}/{}/data.jsonl", OTHER.0, Uuid::from_u128(20), Uuid::from_u128(21));
    let content = futures::stream::iter([Ok(Bytes::from_static(MARK.as_bytes()))]);
    store.scoped(OTHER).objects().await.unwrap().put_file(&file, content).await.unwrap();
    let limits = CacheLimits { max_age: Duration::from_secs(3600), max_bytes: 1 << 30 };
    let disk = Arc::new(DiskCache::open(place.home(), limits).await.unwrap());
    let (mine, theirs) = (ContentHash::of(b"mine"), ContentHash::of(b"theirs"));
    let reply = |text: &str| fullbench_types::Generation::recorded(text.to_owned());
    disk.clone().of(OTHER).put(&mine, &reply(MARK)).await;
    let kept: Arc<dyn ResponseCache> = disk.clone().of(DEFAULT_ORGANIZATION);
    kept.put(&theirs, &reply("kept")).await;
    disk.flush().await;
    let (_, others) = export(&store, DEFAULT_ORGANIZATION).await;
    assert!(!marked_files(place.home()).is_empty());

    let receipt = store.erase_organization(OTHER, &key(), "test").await.unwrap();
    assert!(receipt.blobs == 1 && receipt.files == 1 && receipt.cached_replies == 1, "{receipt:?}");
    assert!(receipt.rows.iter().any(|rows| rows.table == "audit_entries" && rows.rows >= 1));
    assert_eq!(marked_files(place.home()), Vec::<std::path::PathBuf>::new());
    assert!(!store.objects().contains(&block));
    for owned in crate::lifecycle::catalogue::tables().await.unwrap() {
        let Some(owner) = owned.owner() else { continue };
        let sql = format!("SELECT COUNT(*) FROM \"{}\" WHERE {owner} = $1", owned.table.name);
        let scoped = store.scoped(OTHER);
        let statement = scoped.statement(sql, vec![OTHER.0.into()]);
        let row = sea_orm::ConnectionTrait::query_one_raw(store.system(), statement).await.unwrap();
        let rows: i64 = row.unwrap().try_get_by_index(0).unwrap();
        assert_eq!(rows, 0, "{}", owned.table.name);
    }
    assert!(export(&store, DEFAULT_ORGANIZATION).await.1 == others, "the others lost something");
    assert_eq!(store.scoped(DEFAULT_ORGANIZATION).audit_head().await.unwrap(), own);
    assert_eq!(kept.get(&theirs).await.unwrap().text, "kept");
    let system = store.scoped(SYSTEM_ORGANIZATION);
    let report = system.verify_audit(Some(&key()), None).await.unwrap();
    assert!(report.intact, "{report:?}");
    let told = system.audit_entries(&crate::AuditFilter::default(), 10).await.unwrap();
    let told: Vec<_> =
        told.iter().map(|entry| (entry.action.as_str(), entry.phase.as_str())).collect();
    let erased = "erase_organization";
    assert_eq!(told[..3], [("erasures_finished", "done"), (erased, "done"), (erased, "asked")]);
    let erasures =
        crate::AuditFilter { action: Some(erased.to_owned()), ..crate::AuditFilter::default() };
    let kept = system.audit_entries(&erasures, 1).await.unwrap();
    assert!(kept[0].after.as_ref().unwrap().contains(&receipt.sha256));
    let gone = store.erase_organization(OTHER, &key(), "test").await;
    assert!(matches!(gone, Err(StoreError::NameNotFound { .. })), "{gone:?}");
}

/// The part after the rows are gone fails, as it does where the server is killed or the disk is full.
async fn an_erasure_that_cannot_end_has_a_receipt_and_is_finished_later(place: Place) {
    fill(&place).await;
    let store = place.open().await;
    // The second entry of the log that tells of the end is refused.
    let refuse = match place.is_postgres() {
        true => {
            "CREATE FUNCTION refuse_end() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
             IF NEW.action = 'erasures_finished' THEN RAISE EXCEPTION 'no'; END IF; RETURN NEW; END $$; \
             CREATE TRIGGER refuse_end BEFORE INSERT ON audit_entries \
             FOR EACH ROW EXECUTE FUNCTION refuse_end()"
        }
        false => {
            "CREATE TRIGGER refuse_end BEFORE INSERT ON audit_entries \
             WHEN NEW.action = 'erasures_finished' BEGIN SELECT RAISE(ABORT, 'no'); END"
        }
    };
    place.execute(refuse).await.unwrap();
    let receipt = store.erase_organization(OTHER, &key(), "test").await.unwrap();
    assert!(receipt.still_to_do.is_some(), "{receipt:?}");
    let system = store.scoped(SYSTEM_ORGANIZATION);
    let newest = system.audit_entries(&crate::AuditFilter::default(), 1).await.unwrap();
    assert!(newest[0].after.as_ref().unwrap().contains(&receipt.sha256), "the receipt is kept");
    let lift = match place.is_postgres() {
        true => "DROP TRIGGER refuse_end ON audit_entries",
        false => "DROP TRIGGER refuse_end",
    };
    place.execute(lift).await.unwrap();
    store.remove_old_data(&key(), Timestamp::now()).await.unwrap();
    let newest = system.audit_entries(&crate::AuditFilter::default(), 1).await.unwrap();
    assert_eq!(newest[0].action, "erasures_finished");
    assert!(system.verify_audit(Some(&key()), None).await.unwrap().intact);
}

/// A request that another server had let in before, whose row points to nothing that would refuse it.
async fn what_comes_after_an_erasure_goes_with_the_next_look(place: Place) {
    fill(&place).await;
    let store = place.open().await;
    let criteria = place.count("criteria").await;
    let receipt = store.erase_organization(OTHER, &key(), "test").await.unwrap();
    assert!(receipt.still_to_do.is_none(), "{receipt:?}");
    let left = place.count("criteria").await;
    assert!(left < criteria);
    let whose = match place.is_postgres() {
        true => format!("'{}'", OTHER.0),
        false => format!("X'{}'", OTHER.0.simple()),
    };
    let late = format!(
        "INSERT INTO criteria (id, organization_id, name, revision, task_introduction, evaluation_criteria, min_score, \
         max_score, levels, needs_reference, needs_context, source, created_at, updated_at) \
         SELECT {whose}, {whose}, 'late', 1, '{MARK}', '', 1, 5, '[]', TRUE, TRUE, 'user', 1, 1"
    );
    place.execute(&late).await.unwrap();
    assert_eq!(place.count("criteria").await, left + 1);
    store.finish_erasures(&key()).await.unwrap();
    assert_eq!(place.count("criteria").await, left);
    assert_eq!(marked_files(place.home()), Vec::<std::path::PathBuf>::new());
    let system = store.scoped(SYSTEM_ORGANIZATION);
    let newest = system.audit_entries(&crate::AuditFilter::default(), 2).await.unwrap();
    assert_eq!(newest[0].action, "erasures_finished");
    assert_eq!(newest[1].action, "erase_organization");
    assert!(newest[1].after.as_deref().unwrap().contains("criteria"), "{:?}", newest[1]);
    let number = newest[0].number;
    store.finish_erasures(&key()).await.unwrap();
    let newest = system.audit_entries(&crate::AuditFilter::default(), 1).await.unwrap();
    assert_eq!(newest[0].number, number, "nothing was left to do");
}

/// That of the command line always is.
async fn an_organization_that_is_there_again_keeps_what_it_has(place: Place) {
    let store = place.open().await;
    let scoped = store.scoped(DEFAULT_ORGANIZATION);
    store.erase_organization(DEFAULT_ORGANIZATION, &key(), "test").await.unwrap();
    let before = place.count("documents").await;
    let document = crate::NewDocument {
        id: Uuid::from_u128(30),
        input: None,
        actual_output: MARK.to_owned(),
        expected_output: None,
        metadata: serde_json::Map::new(),
        created_by: None,
    };
    scoped.create_document(document).await.unwrap();
    store.finish_erasures(&key()).await.unwrap();
    assert_eq!(place.count("documents").await, before + 1);
}

/// As where it waits for others and they for it.
async fn an_erasure_that_the_database_ends_begins_again(place: Place) {
    if !place.is_postgres() {
        return;
    }
    fill(&place).await;
    let store = place.open().await;
    let whose = OTHER.0;
    let hold = format!("SELECT 1 FROM users WHERE organization_id = '{whose}' FOR UPDATE");
    let holding = place.holding(&hold).await;
    let key = key();
    let erasing = store.erase_organization(OTHER, &key, "test");
    let ending = async {
        let end = "SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity \
             WHERE datname = current_database() AND wait_event_type = 'Lock'";
        let mut connection = place.connect().await;
        while sqlx::query_scalar::<_, i64>(end).fetch_one(&mut connection).await.unwrap() == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        drop(holding);
    };
    let (receipt, ()) = futures::join!(erasing, ending);
    let receipt = receipt.unwrap();
    assert!(receipt.rows.iter().any(|rows| rows.table == "users"), "{receipt:?}");
    let system = store.scoped(SYSTEM_ORGANIZATION);
    assert!(system.verify_audit(Some(&key), None).await.unwrap().intact);
}

async fn who_has_to_wait_for_an_erasure_gives_the_connection_back(place: Place) {
    if !place.is_postgres() {
        return;
    }
    fill(&place).await;
    let store = place.open().await;
    let hold = format!("SELECT 1 FROM organizations WHERE id = '{}' FOR UPDATE", OTHER.0);
    let holding = place.holding(&hold).await;
    let change =
        || crate::OrganizationChange { name: Some("new".to_owned()), ..Default::default() };
    let refused = store.scoped(OTHER).change_organization(change()).await.unwrap_err();
    assert!(refused.is_passing(), "{refused}");
    let event = crate::NewEvent {
        run: None,
        kind: fullbench_types::EventKind::EvaluationsCompleted,
        data: serde_json::json!({}),
    };
    let refused = store.scoped(OTHER).add_events(std::slice::from_ref(&event)).await.unwrap_err();
    assert!(refused.is_passing(), "{refused}");
    drop(holding);
    store.scoped(OTHER).add_events(&[event]).await.unwrap();
    store.scoped(OTHER).change_organization(change()).await.unwrap();
}
