//! Judged outputs: kept once in their space, for their organization, and read back as they were.
#![allow(clippy::unwrap_used)]

mod backend;

use backend::{Place, on_every_backend};
use fullbench_store::JudgedRecord;
use fullbench_types::{ContentHash, DEFAULT_ORGANIZATION, NanoDollars, OrganizationId, Score};
use uuid::Uuid;

fn judged(output: &str, value: f64) -> JudgedRecord {
    JudgedRecord {
        case_key: "a".to_owned(),
        input: "question".to_owned(),
        output: output.to_owned(),
        vector: vec![0.25, -1.5, f32::MIN_POSITIVE],
        score: Score::graded(value, value, Some(0.5)).because("why"),
        full_cost: Some(NanoDollars(7)),
    }
}

on_every_backend!(an_output_is_kept_once_and_seen_by_its_owner_in_its_space);

async fn an_output_is_kept_once_and_seen_by_its_owner_in_its_space(place: Place) {
    let store = place.open().await;
    let ours = store.scoped(DEFAULT_ORGANIZATION);
    let theirs = store.scoped(OrganizationId(Uuid::from_u128(7)));
    let (space, other) = (ContentHash::of(b"a judge"), ContentHash::of(b"another"));
    ours.keep_judged_output(&space, &judged("first", 0.75)).await.unwrap();
    ours.keep_judged_output(&space, &judged("first", 0.25)).await.unwrap();
    ours.keep_judged_output(&space, &judged("second", 0.5)).await.unwrap();
    let mut kept = ours.judged_outputs(&space).await.unwrap();
    kept.sort_by(|left, right| left.output.cmp(&right.output));
    assert_eq!(kept, [judged("first", 0.75), judged("second", 0.5)]);
    assert_eq!(ours.judged_outputs(&other).await.unwrap(), []);
    assert_eq!(theirs.judged_outputs(&space).await.unwrap(), []);
}
