//! What every backend of the store must do. One suite; each backend runs it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::sync::Arc;
use std::time::Duration;

use fullbench_store::{
    CacheLimits, DatasetWriter, DiskCache, FieldMapping, GenerationRecord, LaneProgress, NewRun,
    ResultDetail, RunRecord, ScopedStore, ScoreRecord, Store, StoreError,
};
use fullbench_types::{
    ChoiceProbability, ContentHash, DEFAULT_ORGANIZATION, ErrorCode, FailureReason, Generation,
    NanoDollars, OrganizationId, RunKind, RunState, Score, UnitFailure, UnitKey,
};
use serde_json::{Value, json};

mod backend;

use backend::{Place, on_every_backend};

on_every_backend!(
    what_was_kept_is_kept_once_even_where_the_budget_cannot_be_read,
    notes_of_runs_are_scrubbed_like_all_texts,
    a_nul_in_a_text_loses_nothing,
    names_are_ordered_by_their_bytes,
    migrations_are_made_whole_or_not_at_all,
    recording_a_key_twice_changes_nothing_and_a_failure_gives_way,
    the_highest_revision_of_a_score_counts,
    pages_and_counts_see_every_unit_once,
    one_organization_never_sees_another,
    runs_are_found_by_part_of_their_id_and_by_name,
    a_run_belongs_to_one_process_at_a_time,
    frozen_cases_are_read_in_any_order_and_damage_is_noticed,
    the_probabilities_of_choices_are_read_back_as_they_were_recorded,
    a_baseline_stands_for_a_run_and_belongs_to_its_organization,
    a_newer_database_is_refused_and_opening_at_once_is_safe,
);

struct Fixture {
    place: Place,
    store: Store,
}

async fn fixture(place: Place) -> Fixture {
    let store = place.open().await;
    Fixture { place, store }
}

async fn new_run(store: &ScopedStore) -> RunRecord {
    let new = NewRun {
        id: fullbench_types::RunId::generate(),
        order: fullbench_store::RunOrder::default(),
        name: "test".to_owned(),
        kind: RunKind::Batch,
        spec: "{}".to_owned(),
        dataset: ContentHash::of(b"data"),
        planned_units: 3,
        version: "0".to_owned(),
    };
    store.create_run(new).await.unwrap()
}

async fn what_was_kept_is_kept_once_even_where_the_budget_cannot_be_read(place: Place) {
    let store = place.open().await.scoped(DEFAULT_ORGANIZATION);
    let run = new_run(&store).await;
    // The organization can no longer be read as a whole.
    let no_time = "UPDATE organizations SET created_at = 9223372036854775807";
    place.execute(no_time).await.unwrap();
    let spent = NanoDollars(5);
    // Who gets an error keeps the same again.
    let group = fullbench_store::RecordedGroup {
        generations: &[],
        scores: &[],
        lanes: &[],
        spent_on_open: spent,
    };
    store.recorder(run.id).commit_insisting(group, std::future::pending()).await.unwrap();
    assert_eq!(store.spent_in(fullbench_store::Month::now()).await.unwrap(), spent);
}

async fn notes_of_runs_are_scrubbed_like_all_texts(place: Place) {
    let store = place.open().await.scoped(DEFAULT_ORGANIZATION);
    let run = new_run(&store).await;
    let scrub = "UPDATE organizations SET settings = '{\"scrub\": [\"email\"]}'";
    place.execute(scrub).await.unwrap();
    let notes = ["the provider says: ann@example.com may not".to_owned()];
    let run = store.set_run_state(run.id, RunState::Incomplete, &notes).await.unwrap();
    assert_eq!(run.notes, ["the provider says: [email] may not"]);
}

fn key(case_index: u64, model_index: u32) -> UnitKey {
    UnitKey { case_index, model_index, repetition: 0 }
}

fn answer(text: &str) -> Generation {
    Generation { cost: Some(NanoDollars(7)), attempts: 1, ..Generation::recorded(text.to_owned()) }
}

fn failure() -> UnitFailure {
    let (reason, code) = (FailureReason::Timeout, Some(ErrorCode::Timeout));
    UnitFailure { reason, message: "late".to_owned(), attempts: 8, code }
}

fn score(key: UnitKey, scorer: u8, revision: u32, passed: bool) -> ScoreRecord {
    ScoreRecord { key, scorer: [scorer; 16], revision, score: Score::binary(passed).because("why") }
}

async fn recording_a_key_twice_changes_nothing_and_a_failure_gives_way(place: Place) {
    let fixture = fixture(place).await;
    let store = fixture.store.scoped(DEFAULT_ORGANIZATION);
    let run = new_run(&store).await;
    let recorder = store.recorder(run.id);
    let (first, second, failed) = (answer("first"), answer("second"), failure());
    let record = |result| GenerationRecord { key: key(0, 0), case_key: "a", result };
    recorder.commit(&[record(Err(&failed))], &[], &[]).await.unwrap();
    assert_eq!(store.failed_units(run.id, 0).await.unwrap(), [key(0, 0)]);
    recorder.commit(&[record(Ok(&first))], &[&score(key(0, 0), 1, 0, true)], &[]).await.unwrap();
    recorder.commit(&[record(Ok(&second))], &[&score(key(0, 0), 1, 0, false)], &[]).await.unwrap();
    recorder.commit(&[record(Err(&failed))], &[], &[]).await.unwrap();
    let page = store.results_after(run.id, None, 10, ResultDetail::Full).await.unwrap();
    assert_eq!(page.len(), 1);
    let kept = page[0].result.as_ref().unwrap();
    assert_eq!((kept.text.as_str(), kept.attempts), ("first", 9), "calls add up");
    assert_eq!(page[0].scores[0].score.value, Some(1.0));
    assert!(store.failed_units(run.id, 0).await.unwrap().is_empty());
}

async fn the_highest_revision_of_a_score_counts(place: Place) {
    let fixture = fixture(place).await;
    let store = fixture.store.scoped(DEFAULT_ORGANIZATION);
    let run = new_run(&store).await;
    let recorder = store.recorder(run.id);
    let text = answer("x");
    let record = GenerationRecord { key: key(0, 0), case_key: "a", result: Ok(&text) };
    let scores =
        [score(key(0, 0), 1, 0, true), score(key(0, 0), 2, 0, true), score(key(0, 0), 1, 3, false)];
    recorder.commit(&[record], &scores.iter().collect::<Vec<_>>(), &[]).await.unwrap();
    let page = store.results_after(run.id, None, 10, ResultDetail::Texts).await.unwrap();
    let values: Vec<Option<f64>> = page[0].scores.iter().map(|entry| entry.score.value).collect();
    assert_eq!(values, [Some(0.0), Some(1.0)]);
    assert!(
        store.score_counts(run.id).await.unwrap().is_none(),
        "counting cannot compare revisions"
    );
}

async fn pages_and_counts_see_every_unit_once(place: Place) {
    let fixture = fixture(place).await;
    let store = fixture.store.scoped(DEFAULT_ORGANIZATION);
    let run = new_run(&store).await;
    let recorder = store.recorder(run.id);
    let text = Generation { latency_us: 5, ..answer("x") };
    let failed = failure();
    let keys: Vec<UnitKey> = (0..300).flat_map(|case| [key(case, 0), key(case, 1)]).collect();
    let names: Vec<String> = keys.iter().map(|key| format!("c{}", key.case_index)).collect();
    let result = |key: &UnitKey| if key.case_index == 7 { Err(&failed) } else { Ok(&text) };
    let records: Vec<GenerationRecord<'_>> = keys
        .iter()
        .zip(&names)
        .map(|(key, name)| GenerationRecord { key: *key, case_key: name, result: result(key) })
        .collect();
    let scores: Vec<ScoreRecord> = keys
        .iter()
        .filter(|key| key.case_index != 7)
        .map(|key| score(*key, 1, 0, key.case_index % 3 == 0))
        .collect();
    let lanes = [0, 1].map(|model_index| LaneProgress {
        model_index,
        watermark: 300,
        ..LaneProgress::default()
    });
    recorder.commit(&records, &scores.iter().collect::<Vec<_>>(), &lanes).await.unwrap();
    let (mut after, mut seen) = (None, Vec::new());
    loop {
        let page = store.results_after(run.id, after, 7, ResultDetail::Numbers).await.unwrap();
        let Some(last) = page.last() else { break };
        after = Some(last.key);
        seen.extend(page.iter().map(|unit| unit.key));
        assert!(page.iter().all(|unit| unit.scores.len() == usize::from(unit.result.is_ok())));
    }
    assert_eq!(seen, keys);
    let generations = store.generation_counts(run.id).await.unwrap();
    assert_eq!(generations.iter().map(|units| units.count).sum::<u64>(), 600);
    assert_eq!(
        generations
            .iter()
            .filter(|units| units.failure.is_some())
            .map(|units| units.count)
            .sum::<u64>(),
        2
    );
    assert_eq!(generations.iter().map(|units| units.cost.0).sum::<i64>(), 598 * 7);
    let passed: u64 = store
        .score_counts(run.id)
        .await
        .unwrap()
        .unwrap()
        .iter()
        .filter(|counts| counts.value == Some(1.0))
        .map(|counts| counts.count)
        .sum();
    assert_eq!(passed, 200);
    let times = store.answer_times(run.id).await.unwrap();
    assert_eq!(times.iter().map(|times| times.latencies.len()).sum::<usize>(), 598);
    assert_eq!(store.recorded_units(run.id, 1, 295).await.unwrap().len(), 5);
    assert_eq!(store.lane_progress(run.id).await.unwrap()[1].watermark, 300);
}

async fn one_organization_never_sees_another(place: Place) {
    let fixture = fixture(place).await;
    let mine = fixture.store.scoped(DEFAULT_ORGANIZATION);
    let theirs = fixture.store.scoped(OrganizationId(fullbench_types::RunId::generate().0));
    let run = new_run(&mine).await;
    let text = answer("secret");
    let record = GenerationRecord { key: key(0, 0), case_key: "a", result: Ok(&text) };
    let lane = LaneProgress { watermark: 1, ..LaneProgress::default() };
    mine.recorder(run.id)
        .commit(&[record], &[&score(key(0, 0), 1, 0, true)], &[lane])
        .await
        .unwrap();
    assert!(theirs.runs(None).await.unwrap().is_empty());
    assert!(matches!(theirs.run(run.id).await, Err(StoreError::RunNotFound(_))));
    assert!(theirs.results_after(run.id, None, 10, ResultDetail::Full).await.unwrap().is_empty());
    assert!(theirs.lane_progress(run.id).await.unwrap().is_empty());
    assert!(theirs.generation_counts(run.id).await.unwrap().is_empty());
    assert!(theirs.score_counts(run.id).await.unwrap().unwrap().is_empty());
    assert!(theirs.recorded_units(run.id, 0, 0).await.unwrap().is_empty());
}

async fn runs_are_found_by_part_of_their_id_and_by_name(place: Place) {
    let fixture = fixture(place).await;
    let store = fixture.store.scoped(DEFAULT_ORGANIZATION);
    let (first, second) = (new_run(&store).await, new_run(&store).await);
    assert_eq!(store.find_run("latest").await.unwrap().id, second.id);
    assert_eq!(store.find_run("test").await.unwrap().id, second.id);
    assert_eq!(store.find_run(&first.id.to_string()[24..]).await.unwrap().id, first.id);
    assert!(matches!(
        store.find_run(&first.id.to_string()[..8]).await,
        Err(StoreError::RunAmbiguous { .. })
    ));
    let ended =
        store.set_run_state(first.id, RunState::Completed, &["a note".to_owned()]).await.unwrap();
    assert_eq!((ended.state, ended.notes.len()), (RunState::Completed, 1));
    assert!(ended.finished_at.is_some());
}

async fn a_run_belongs_to_one_process_at_a_time(place: Place) {
    let fixture = fixture(place).await;
    let store = fixture.store.scoped(DEFAULT_ORGANIZATION);
    let run = new_run(&store).await;
    let lock = store.lock_run(run.id).await.unwrap();
    assert!(matches!(store.lock_run(run.id).await, Err(StoreError::RunLocked(_))));
    drop(lock);
    assert!(store.lock_run(run.id).await.is_ok());
}

async fn a_newer_database_is_refused_and_opening_at_once_is_safe(place: Place) {
    let opened = tokio::join!(place.open(), place.open());
    opened.0.close().await.unwrap();
    opened.1.close().await.unwrap();
    let sql = "INSERT INTO seaql_migrations (version, applied_at) VALUES ('m9999_later', 0)";
    place.execute(sql).await.unwrap();
    let refused = Store::open_at(place.home(), &place.location).await.unwrap_err();
    assert!(matches!(refused, StoreError::NewerDatabase { .. }), "{refused}");
    assert!(refused.to_string().contains("`m9999_later`"), "{refused}");
}

async fn frozen_cases_are_read_in_any_order_and_damage_is_noticed(place: Place) {
    let fixture = fixture(place).await;
    let store = fixture.store.scoped(DEFAULT_ORGANIZATION);
    let mut writer = DatasetWriter::new(store.objects().await.unwrap());
    for index in 0..2000 {
        let Value::Object(fields) =
            json!({"input": "x".repeat(600), "n": index, "reference": ["a", "b"]})
        else {
            unreachable!()
        };
        writer.push(&format!("k{index}"), &fields).unwrap();
    }
    let mapping =
        FieldMapping { input: Some("input".to_owned()), references: vec!["reference".to_owned()] };
    let version = writer.finish("test".to_owned(), vec![], mapping).unwrap();
    assert!(version.blocks.len() > 1);
    store.save_dataset(&version, &ContentHash::of(b"source")).await.unwrap();
    assert_eq!(store.dataset(&version.hash).await.unwrap(), version);
    assert_eq!(
        store.dataset_of_source(&ContentHash::of(b"source")).await.unwrap().unwrap(),
        version
    );
    let mut cases = store.cases(Arc::new(version.clone())).await.unwrap();
    for index in [1999, 0, 873, 874] {
        let case = cases.case(index).unwrap();
        assert_eq!((case.key, case.fields["n"].as_u64()), (format!("k{index}"), Some(index)));
        assert_eq!(case.references.len(), 2);
    }
    assert!(cases.case(2000).is_err());
    let name = version.blocks[0].hash.to_string();
    let block = store.home().join("objects").join(&name[..2]).join(&name[2..]);
    std::fs::write(block, b"\x05\x00\x00\x00\x50hello").unwrap();
    assert!(matches!(
        store.cases(Arc::new(version)).await.unwrap().case(0),
        Err(StoreError::Damaged(_))
    ));
}

#[tokio::test]
async fn the_cache_forgets_by_age_and_by_size() {
    let folder = tempfile::tempdir().unwrap();
    let roomy = CacheLimits { max_age: Duration::from_secs(3600), max_bytes: 1 << 30 };
    let disk = Arc::new(DiskCache::open(folder.path(), roomy).await.unwrap());
    let cache = disk.clone().of(DEFAULT_ORGANIZATION);
    let keys: Vec<ContentHash> = (0..3000u32).map(|n| ContentHash::of(&n.to_le_bytes())).collect();
    for key in &keys {
        cache.put(key, &answer("an answer")).await;
    }
    disk.flush().await;
    assert_eq!(cache.get(&keys[5]).await.unwrap().text, "an answer");
    assert!(cache.get(&ContentHash::of(b"other")).await.is_none());
    drop((cache, disk));
    let small = CacheLimits { max_bytes: 400_000, ..roomy };
    let cache = Arc::new(DiskCache::open(folder.path(), small).await.unwrap());
    cache.prune(DEFAULT_ORGANIZATION).await.unwrap();
    let cache = cache.of(DEFAULT_ORGANIZATION);
    let mut left = 0;
    for key in &keys {
        left += u32::from(cache.get(key).await.is_some());
    }
    assert!(left > 0 && left < 3000, "{left} are left");
    drop(cache);
    let stale = CacheLimits { max_age: Duration::ZERO, ..roomy };
    tokio::time::sleep(Duration::from_millis(5)).await;
    let cache = Arc::new(DiskCache::open(folder.path(), stale).await.unwrap());
    let cache = cache.of(DEFAULT_ORGANIZATION);
    assert!(cache.get(&keys[2999]).await.is_none());
}

async fn the_probabilities_of_choices_are_read_back_as_they_were_recorded(place: Place) {
    let fixture = fixture(place).await;
    let store = fixture.store.scoped(DEFAULT_ORGANIZATION);
    let run = new_run(&store).await;
    let chosen = ChoiceProbability { choice: "A".to_owned(), logprob: -0.25, probability: 0.75 };
    let text = Generation { choices: Some(vec![chosen]), ..answer("A") };
    let record = GenerationRecord { key: key(0, 0), case_key: "c0", result: Ok(&text) };
    store.recorder(run.id).commit(&[record], &[], &[]).await.unwrap();
    let page = store.results_after(run.id, None, 7, ResultDetail::Full).await.unwrap();
    assert_eq!(page[0].result.as_ref().unwrap().choices, text.choices);
}

async fn a_baseline_stands_for_a_run_and_belongs_to_its_organization(place: Place) {
    let fixture = fixture(place).await;
    let store = fixture.store.scoped(DEFAULT_ORGANIZATION);
    let (first, second) = (new_run(&store).await, new_run(&store).await);
    store.set_baseline("main", first.id).await.unwrap();
    assert_eq!(store.find_run("main").await.unwrap().id, first.id);
    store.set_baseline("main", second.id).await.unwrap();
    assert_eq!(store.find_run("main").await.unwrap().id, second.id, "setting again moves it");
    assert_eq!(store.baselines().await.unwrap().len(), 1);
    let theirs = fixture.store.scoped(OrganizationId(uuid::Uuid::from_u128(7)));
    assert!(theirs.baselines().await.unwrap().is_empty());
    assert!(matches!(theirs.find_run("main").await, Err(StoreError::RunNotFound(_))));
    assert!(matches!(theirs.set_baseline("main", first.id).await, Err(StoreError::RunNotFound(_))));
    for taken in ["test", "latest", &first.id.to_string()[24..], &first.id.to_string()[..8]] {
        assert!(
            matches!(store.set_baseline(taken, first.id).await, Err(StoreError::BaselineIsRun(_))),
            "{taken}"
        );
    }
    for wrong in ["", "two words", "a\u{1b}b"] {
        let refused = store.set_baseline(wrong, first.id).await;
        assert!(matches!(refused, Err(StoreError::BaselineName(_))), "{wrong:?}");
    }
    assert_eq!(store.remove_baseline("main").await.unwrap().run, second.id);
    assert!(matches!(store.remove_baseline("main").await, Err(StoreError::BaselineNotFound(_))));
}

async fn a_nul_in_a_text_loses_nothing(place: Place) {
    let fixture = fixture(place).await;
    let store = fixture.store.scoped(DEFAULT_ORGANIZATION);
    let run = new_run(&store).await;
    let text = Generation { raw: Some("raw\0reply".to_owned()), ..answer("a\0b\0") };
    let failed = UnitFailure { message: "la\0te".to_owned(), ..failure() };
    let records = [
        GenerationRecord { key: key(0, 0), case_key: "a", result: Ok(&text) },
        GenerationRecord { key: key(1, 0), case_key: "b\0c", result: Err(&failed) },
    ];
    let mut scored = score(key(0, 0), 1, 0, true);
    scored.score.reasoning = Some("becau\0se".to_owned());
    scored.score.evidence = Some(json!({"quote": "x\0y"}));
    store.recorder(run.id).commit(&records, &[&scored], &[]).await.unwrap();
    let kept = |text: &str| match fixture.place.is_postgres() {
        true => text.replace('\0', "\u{fffd}"),
        false => text.to_owned(),
    };
    let page = store.results_after(run.id, None, 10, ResultDetail::Full).await.unwrap();
    let answered = page[0].result.as_ref().unwrap();
    assert_eq!(answered.text, kept("a\0b\0"));
    assert_eq!(answered.raw, Some(kept("raw\0reply")));
    let judged = &page[0].scores[0].score;
    assert_eq!(judged.reasoning, Some(kept("becau\0se")));
    assert_eq!(judged.evidence, Some(json!({"quote": "x\0y"})), "JSON has an escape for it");
    assert_eq!(page[1].case_key, kept("b\0c"));
    assert_eq!(page[1].result.as_ref().unwrap_err().message, kept("la\0te"));
}

async fn names_are_ordered_by_their_bytes(place: Place) {
    let fixture = fixture(place).await;
    let store = fixture.store.scoped(DEFAULT_ORGANIZATION);
    let run = new_run(&store).await;
    for name in ["é-main", "b-main", "B-main", "a-main", "Z-main", "a_main"] {
        store.set_baseline(name, run.id).await.unwrap();
    }
    let names: Vec<String> =
        store.baselines().await.unwrap().into_iter().map(|baseline| baseline.name).collect();
    assert_eq!(names, ["B-main", "Z-main", "a-main", "a_main", "b-main", "é-main"]);
}

async fn migrations_are_made_whole_or_not_at_all(place: Place) {
    // In the way of the third.
    place.execute("CREATE TABLE baselines (other INTEGER)").await.unwrap();
    assert!(Store::open_at(place.home(), &place.location).await.is_err());
    assert!(place.execute("SELECT id FROM runs").await.is_err(), "the first is undone");
    place.execute("DROP TABLE baselines").await.unwrap();
    let store = place.open().await.scoped(DEFAULT_ORGANIZATION);
    assert!(store.runs(None).await.unwrap().is_empty());
}
