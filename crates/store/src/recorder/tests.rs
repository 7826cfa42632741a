//! Commits of which no word came: PostgreSQL knows whether they were made, and nothing is added up twice or lost.
#![allow(clippy::unwrap_used)]

use fullbench_types::{
    ContentHash, DEFAULT_ORGANIZATION, ErrorCode, FailureReason, Generation, NanoDollars, RunId,
    RunKind, RunState, UnitFailure, UnitKey,
};
use sea_orm::{TransactionSession, TransactionTrait};
use serde_json::Map;

use super::{GenerationRecord, RecordedGroup};
use crate::backend::Place;
use crate::{
    DatasetVersion, FieldMapping, InlineCase, LaneProgress, Month, NewRun, ResultDetail, RunOrder,
    ScopedStore, SingleRun, StoreError,
};

const KEY: UnitKey = UnitKey { case_index: 0, model_index: 0, repetition: 0 };

async fn on_postgres() -> Option<(Place, ScopedStore)> {
    let place = Place::postgres().await?;
    let store = place.open().await.scoped(DEFAULT_ORGANIZATION);
    Some((place, store))
}

fn new_run() -> NewRun {
    NewRun {
        id: RunId::generate(),
        name: "test".to_owned(),
        kind: RunKind::Batch,
        spec: "{}".to_owned(),
        dataset: ContentHash::of(b"data"),
        planned_units: 1,
        version: "0".to_owned(),
        order: RunOrder::default(),
    }
}

async fn month(store: &ScopedStore) -> NanoDollars {
    store.spent_in(Month::now()).await.unwrap()
}

async fn attempts(store: &ScopedStore, run: RunId) -> u32 {
    let unit = store.results_after(run, None, 1, ResultDetail::Full).await.unwrap().pop().unwrap();
    match unit.result {
        Ok(answer) => answer.attempts,
        Err(failure) => failure.attempts,
    }
}

#[tokio::test]
async fn a_group_that_was_committed_unheard_is_added_up_once() {
    let Some((_place, store)) = on_postgres().await else { return };
    let (reason, code) = (FailureReason::Timeout, Some(ErrorCode::Timeout));
    let failure = UnitFailure { reason, message: "late".to_owned(), attempts: 8, code };
    let answer = Generation {
        cost: Some(NanoDollars(7)),
        attempts: 1,
        ..Generation::recorded("a".to_owned())
    };
    for (result, cost, tried) in [(Err(&failure), 0, 8), (Ok(&answer), 7, 1)] {
        let run = store.create_run(new_run()).await.unwrap().id;
        let recorder = store.recorder(run);
        let spent = NanoDollars(cost);
        let lanes = [LaneProgress { model_index: 0, watermark: 1, answered: 1, failed: 0, spent }];
        let generations = [GenerationRecord { key: KEY, case_key: "a", result }];
        let spent_on_open = NanoDollars::ZERO;
        let group =
            RecordedGroup { generations: &generations, scores: &[], lanes: &lanes, spent_on_open };
        let mut mark = None;
        recorder.commit_again(group, &mut mark).await.unwrap();
        assert!(mark.is_some());
        recorder.commit_again(group, &mut mark).await.unwrap();
        assert_eq!(attempts(&store, run).await, tried);
        assert_eq!(month(&store).await, spent);
    }
}

#[tokio::test]
async fn a_commit_that_was_not_made_is_made_again_once_that_is_known() {
    let Some((_place, store)) = on_postgres().await else { return };
    let run = store.create_run(new_run()).await.unwrap().id;
    let recorder = store.recorder(run);
    let (scores, lanes, spent_on_open) = (&[], &[], NanoDollars(5));
    let group = RecordedGroup { generations: &[], scores, lanes, spent_on_open };
    let transaction = store.database.begin().await.unwrap();
    let mut mark = transaction.mark().await.unwrap();
    let unknown = recorder.commit_again(group, &mut mark).await.unwrap_err();
    assert!(matches!(unknown, StoreError::DatabaseDown(_)) && unknown.is_passing(), "{unknown}");
    assert!(mark.is_some(), "it is asked again");
    assert_eq!(month(&store).await, NanoDollars::ZERO);
    transaction.rollback().await.unwrap();
    recorder.commit_again(group, &mut mark).await.unwrap();
    assert_eq!(month(&store).await, NanoDollars(5));
    let mut of_another_server = Some(super::CommitMark("18446744073709551000".to_owned()));
    recorder.commit_again(group, &mut of_another_server).await.unwrap();
    assert_eq!(month(&store).await, NanoDollars(10));
}

#[tokio::test]
async fn a_single_answer_is_paid_as_often_as_it_was_and_kept_once() {
    let Some((place, store)) = on_postgres().await else { return };
    let mapping = FieldMapping { input: Some("input".to_owned()), references: vec![] };
    let case = InlineCase { key: "a".to_owned(), fields: Map::new() };
    let content = DatasetVersion::of_cases("request".to_owned(), mapping, vec![case]);
    let single = SingleRun {
        run: NewRun { dataset: content.hash, ..new_run() },
        content,
        state: RunState::Completed,
        generation: Generation::recorded("a".to_owned()),
        scores: vec![],
        spent_on_open: NanoDollars(3),
    };
    let mut mark = None;
    store.record_single_again(&single, &mut mark).await.unwrap();
    store.record_single_again(&single, &mut mark).await.unwrap();
    assert_eq!(month(&store).await, NanoDollars(3), "only the word of it got lost");
    // Another server asked a judge for the same request, sent again.
    store.record_single_again(&single, &mut None).await.unwrap();
    assert_eq!(month(&store).await, NanoDollars(6));
    let lanes = store.lane_progress(single.run.id).await.unwrap();
    assert_eq!((lanes[0].spent, lanes[0].watermark, lanes[0].answered), (NanoDollars(6), 1, 1));
    assert_eq!(place.count("runs").await, 1);
}
