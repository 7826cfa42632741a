//! What is kept of provider batches, and who sees it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod backend;

use backend::{Place, on_every_backend};
use fullbench_llm::{BatchRecord, BatchState, BatchStore, Provider};
use fullbench_store::{NewRun, RunRecord, ScopedStore};
use fullbench_types::{
    ContentHash, DEFAULT_ORGANIZATION, OrganizationId, ProviderBatchId, RunId, RunKind,
};
use jiff::Timestamp;

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

fn batch(requests: u8) -> BatchRecord {
    let created_at = Timestamp::from_millisecond(Timestamp::now().as_millisecond()).unwrap();
    BatchRecord {
        id: ProviderBatchId::generate(),
        provider: Provider::Anthropic,
        base_url: "http://127.0.0.1:1/v1".to_owned(),
        account: Some("ANTHROPIC_API_KEY".to_owned()),
        remote_id: None,
        state: BatchState::Submitting,
        keys: (0..requests).map(|number| ContentHash::of(&[number])).collect(),
        created_at,
    }
}

on_every_backend!(a_batch_is_kept_until_it_failed, batches_belong_to_one_run_and_one_organization,);

async fn a_batch_is_kept_until_it_failed(place: Place) {
    let store = place.open().await.scoped(DEFAULT_ORGANIZATION);
    let run = new_run(&store).await;
    let batches = store.provider_batches(run.id);
    assert_eq!(batches.kept().await.unwrap(), []);
    let (first, second) = (batch(3), batch(200));
    batches.add(&first).await.unwrap();
    batches.add(&second).await.unwrap();
    assert_eq!(batches.kept().await.unwrap(), [first.clone(), second.clone()]);
    assert_eq!(batches.open_count().await.unwrap(), 2);

    batches.update(first.id, BatchState::Submitted, Some("msgbatch_1")).await.unwrap();
    batches.update(first.id, BatchState::Done, None).await.unwrap();
    batches.update(second.id, BatchState::Submitted, Some("msgbatch_2")).await.unwrap();
    let store = place.open().await.scoped(DEFAULT_ORGANIZATION);
    let batches = store.provider_batches(run.id);
    let kept = batches.kept().await.unwrap();
    assert_eq!(kept[0].remote_id.as_deref(), Some("msgbatch_1"), "a later note keeps it");
    assert_eq!([kept[0].state, kept[1].state], [BatchState::Done, BatchState::Submitted]);
    assert_eq!(kept[1].keys, second.keys);
    assert_eq!(batches.open_count().await.unwrap(), 1);

    batches.update(second.id, BatchState::Failed, None).await.unwrap();
    assert_eq!(batches.kept().await.unwrap().len(), 1);
    assert!(batches.add(&second).await.is_err(), "an id is there once");
}

async fn batches_belong_to_one_run_and_one_organization(place: Place) {
    let store = place.open().await;
    let ours = store.scoped(DEFAULT_ORGANIZATION);
    let run = new_run(&ours).await;
    let kept = batch(2);
    ours.provider_batches(run.id).add(&kept).await.unwrap();
    let theirs = store.scoped(OrganizationId(RunId::generate().0));
    for other in [theirs.provider_batches(run.id), ours.provider_batches(RunId::generate())] {
        assert_eq!(other.kept().await.unwrap(), []);
        other.update(kept.id, BatchState::Done, Some("taken")).await.unwrap();
    }
    assert_eq!(ours.provider_batches(run.id).kept().await.unwrap(), [kept]);
}
