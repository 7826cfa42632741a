//! Evaluations of single answers are kept together, each whole or not at all.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod backend;

use backend::{Place, on_every_backend};
use fullbench_store::{
    DatasetVersion, FieldMapping, InlineCase, Month, NewRun, RunOrder, SingleRun,
};
use fullbench_types::{
    DEFAULT_ORGANIZATION, Generation, NanoDollars, Priority, RunId, RunKind, RunOrigin, RunState,
};
use serde_json::{Map, json};

on_every_backend!(
    answers_to_one_question_are_kept_together,
    one_that_is_kept_twice_at_once_is_there_once_and_was_paid_twice,
    those_that_wait_are_counted,
);

/// An answer to a question, which cost something.
fn single(question: &str, answer: &str) -> SingleRun {
    let mapping = FieldMapping { input: Some("input".to_owned()), references: vec![] };
    let fields = Map::from_iter([("input".to_owned(), json!(question))]);
    let case = InlineCase { key: question.to_owned(), fields };
    let content = DatasetVersion::of_cases("request".to_owned(), mapping, vec![case]);
    let order =
        RunOrder { origin: RunOrigin::Evaluation, priority: Priority::High, ..RunOrder::default() };
    SingleRun {
        run: NewRun {
            id: RunId::generate(),
            name: "evaluation".to_owned(),
            kind: RunKind::Single,
            spec: "{}".to_owned(),
            dataset: content.hash,
            planned_units: 1,
            version: "0".to_owned(),
            order,
        },
        content,
        state: RunState::Completed,
        generation: Generation::recorded(answer.to_owned()),
        scores: vec![],
        spent_on_open: NanoDollars(3),
    }
}

async fn answers_to_one_question_are_kept_together(place: Place) {
    let store = place.open().await.scoped(DEFAULT_ORGANIZATION);
    let questions = ["a?", "b?", "a?", "a?", "b?", "a?", "c?", "a?"];
    let singles = questions.map(|question| single(question, "4"));
    let together: Vec<&SingleRun> = singles.iter().collect();
    store.record_singles(&together, &mut None).await.unwrap();
    assert_eq!(place.count("runs").await, 8);
    assert_eq!(place.count("generations").await, 8);
    assert_eq!(place.count("dataset_contents").await, 3, "each question once");
    for single in &singles {
        assert_eq!(store.run(single.run.id).await.unwrap().state, RunState::Completed);
    }
    assert_eq!(store.spent_in(Month::now()).await.unwrap(), NanoDollars(24));
}

async fn one_that_is_kept_twice_at_once_is_there_once_and_was_paid_twice(place: Place) {
    let store = place.open().await.scoped(DEFAULT_ORGANIZATION);
    let (twice, others) = (single("a?", "4"), ["b?", "c?", "d?"].map(|other| single(other, "5")));
    let mut together = vec![&twice, &twice];
    together.extend(&others);
    store.record_singles(&together, &mut None).await.unwrap();
    assert_eq!(place.count("runs").await, 4);
    let lanes = store.lane_progress(twice.run.id).await.unwrap();
    assert_eq!((lanes[0].answered, lanes[0].spent), (1, NanoDollars(6)));
    assert_eq!(store.spent_in(Month::now()).await.unwrap(), NanoDollars(15));
}

async fn those_that_wait_are_counted(place: Place) {
    let whole = place.open().await;
    let store = whole.scoped(DEFAULT_ORGANIZATION);
    let waiting = SingleRun { state: RunState::Pending, ..single("a?", "4") };
    store.record_singles(&[&waiting, &single("b?", "4")], &mut None).await.unwrap();
    let counts = whole.waiting_runs().await.unwrap();
    let others = Priority::ALL.iter().filter(|priority| **priority != Priority::High);
    assert!(counts.contains(&(Priority::High, 1)), "{counts:?}");
    for priority in others {
        assert!(counts.contains(&(*priority, 0)), "{counts:?}");
    }
}
