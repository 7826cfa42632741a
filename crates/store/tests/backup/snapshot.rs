//! A backup holds one moment, whatever is written meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fullbench_store::{GenerationRecord, NewRun, RunOrder, ScopedStore, ScoreRecord};
use fullbench_types::{
    ContentHash, DEFAULT_ORGANIZATION, Generation, RunId, RunKind, Score, UnitKey,
};

use crate::backend::{Place, on_every_backend};
use crate::fixture::Backup;

on_every_backend!(a_backup_holds_one_moment);

/// Every transaction adds a generation and two scores to a run, so that at any moment there are twice as many.
async fn write_until(store: ScopedStore, stop: Arc<AtomicBool>) -> u64 {
    let new = NewRun {
        id: RunId::generate(),
        order: RunOrder::default(),
        name: "test".to_owned(),
        kind: RunKind::Batch,
        spec: "{}".to_owned(),
        dataset: ContentHash::of(b"data"),
        planned_units: 1,
        version: "0".to_owned(),
    };
    let run = store.create_run(new).await.unwrap();
    let recorder = store.recorder(run.id);
    let answer = Generation::recorded("x".repeat(2000));
    let mut written = 0;
    while !stop.load(Ordering::Relaxed) {
        let key = UnitKey { case_index: written, model_index: 0, repetition: 0 };
        let record = GenerationRecord { key, case_key: "a", result: Ok(&answer) };
        let score = |scorer| ScoreRecord {
            key,
            scorer: [scorer; 16],
            revision: 0,
            score: Score::binary(true),
        };
        recorder.commit(&[record], &[&score(1), &score(2)], &[]).await.unwrap();
        written += 1;
    }
    written
}

async fn a_backup_holds_one_moment(place: Place) {
    let whole = place.open().await;
    let stop = Arc::new(AtomicBool::new(false));
    let store = whole.scoped(DEFAULT_ORGANIZATION);
    let writer = tokio::spawn(write_until(store.clone(), Arc::clone(&stop)));
    let mut seen = Vec::new();
    for _ in 0..5 {
        let backup = Backup::of(&place).await;
        let (generations, scores) = (backup.rows("generations"), backup.rows("scores"));
        assert_eq!(scores, 2 * generations);
        seen.push(generations);
        tokio::time::sleep(std::time::Duration::from_millis(30)).await;
        let target = Place::sqlite();
        backup.restore(&target).await.unwrap();
        assert_eq!(Backup::of(&target).await.contents.tables, backup.contents.tables);
    }
    stop.store(true, Ordering::Relaxed);
    let written = writer.await.unwrap();
    assert!(
        seen.is_sorted() && seen[0] < written,
        "{seen:?} of {written}: nothing was written meanwhile"
    );
}
