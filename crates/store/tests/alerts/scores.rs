//! Falling scores: the difference of means, and whether it is chance, computed by hand.

use fullbench_store::{AlertFilter, Measurement, ScopedStore};
use fullbench_types::RunId;

use crate::backend::{Place, on_every_backend};
use crate::fixture::{At, Fixture, MODELS, answer, score};

on_every_backend!(
    a_fall_is_certain_when_chance_does_not_explain_it,
    values_that_do_not_vary_need_no_test,
    only_the_same_scorer_is_compared,
);

const SCORER: [u8; 16] = [1; 16];
const OTHER_SCORER: [u8; 16] = [2; 16];

/// Records so many ones and zeros.
async fn add(
    fixture: &Fixture,
    store: &ScopedStore,
    run: RunId,
    (ones, zeros): (usize, usize),
    at: At,
) {
    let values = std::iter::repeat_n(1.0, ones).chain(std::iter::repeat_n(0.0, zeros));
    for value in values {
        fixture.record(store, run, 0, answer(1), &[(SCORER, value)], at).await;
    }
}

async fn drop_of(fixture: &Fixture, scorer: [u8; 16], minimum: u32) -> Option<Measurement> {
    let filter = AlertFilter::default();
    let scope = fixture.scope(&filter);
    fixture.own.measured_score_drop(&scope, scorer, minimum).await.unwrap()
}

async fn a_fall_is_certain_when_chance_does_not_explain_it(place: Place) {
    let fixture = Fixture::new(place).await;
    let own = &fixture.own;
    let run = fixture.run(own).await;
    add(&fixture, own, run, (3, 1), At::Before).await;
    assert_eq!(drop_of(&fixture, SCORER, 1).await, None, "nothing to compare with");
    add(&fixture, own, run, (1, 3), At::Inside).await;
    // t = −0.5 / √(0.25/4 + 0.25/4) = −1.41 with 6 degrees of freedom: p = 0.10.
    let found = drop_of(&fixture, SCORER, 4).await.unwrap();
    assert_eq!((found.value, found.count, found.is_certain), (0.5, 4, false));
    assert!(!found.is_over(0.1), "it may be chance");
    assert_eq!(drop_of(&fixture, SCORER, 5).await, None, "too few");
    add(&fixture, own, run, (9, 3), At::Before).await;
    add(&fixture, own, run, (3, 9), At::Inside).await;
    // t = −0.5 / √(0.2/16 + 0.2/16) = −3.16 with 30 degrees of freedom: p = 0.002.
    let found = drop_of(&fixture, SCORER, 16).await.unwrap();
    assert_eq!((found.value, found.count, found.is_certain), (0.5, 16, true));
    assert!(found.is_over(0.49) && !found.is_over(0.5), "at the threshold it does not fire");
    let other = fixture.other().await;
    let foreign = fixture.run(&other).await;
    add(&fixture, &other, foreign, (9, 0), At::Inside).await;
    assert_eq!(drop_of(&fixture, SCORER, 16).await, Some(found));
}

async fn values_that_do_not_vary_need_no_test(place: Place) {
    let fixture = Fixture::new(place).await;
    let own = &fixture.own;
    let run = fixture.run(own).await;
    add(&fixture, own, run, (3, 0), At::Before).await;
    add(&fixture, own, run, (3, 0), At::Inside).await;
    let found = drop_of(&fixture, SCORER, 1).await.unwrap();
    assert!(found.value == 0.0 && !found.is_over(0.0), "{found:?}");
    fixture.place.execute("UPDATE scores SET value = 0.25 WHERE case_index >= 3").await.unwrap();
    let found = drop_of(&fixture, SCORER, 1).await.unwrap();
    assert!(found.value == 0.75 && found.is_over(0.7), "{found:?}");
}

async fn only_the_same_scorer_is_compared(place: Place) {
    let fixture = Fixture::new(place).await;
    let own = &fixture.own;
    let (old, run) = (fixture.run(own).await, fixture.run(own).await);
    add(&fixture, own, old, (4, 0), At::Before).await;
    let mut scored = Vec::new();
    for _ in 0..4 {
        let scores = [(OTHER_SCORER, 0.0)];
        scored.push(fixture.record(own, run, 0, answer(1), &scores, At::Inside).await);
    }
    assert_eq!(drop_of(&fixture, SCORER, 1).await, None);
    assert_eq!(drop_of(&fixture, OTHER_SCORER, 1).await, None);
    let filter = AlertFilter::default();
    let scope = fixture.scope(&filter);
    assert_eq!(own.scorers_in(&scope).await.unwrap(), [(OTHER_SCORER, run)]);
    assert_eq!(own.scorers_in(&scope.before()).await.unwrap(), [(SCORER, old)]);

    // The highest revision counts, whenever it came: it is about the answer of then.
    let zeros: Vec<_> = scored.iter().map(|key| score(*key, SCORER, 0, 0.0)).collect();
    let ones: Vec<_> = scored.iter().map(|key| score(*key, SCORER, 1, 1.0)).collect();
    let recorder = own.recorder(run);
    recorder.commit(&[], &zeros.iter().collect::<Vec<_>>(), &[]).await.unwrap();
    assert_eq!(drop_of(&fixture, SCORER, 1).await.unwrap().value, 1.0);
    recorder.commit(&[], &ones.iter().collect::<Vec<_>>(), &[]).await.unwrap();
    assert_eq!(drop_of(&fixture, SCORER, 1).await.unwrap().value, 0.0);
    let filter = AlertFilter { model: Some(MODELS[1].to_owned()), ..AlertFilter::default() };
    let of_another = own.measured_score_drop(&fixture.scope(&filter), SCORER, 1).await.unwrap();
    assert_eq!(of_another, None, "those of another model do not count");
}
