//! Criteria, thresholds, methods, models and judges: made once, found again, never changed.

use crate::backend::{Place, on_every_backend};
use crate::fixture::{criterion, fixture, judged, judgement, new_judge, new_run, unit};
use fullbench_store::{CriterionSource, EntityKind, StoreError};
use fullbench_types::{ErrorCode, JudgeId, JudgeReference, OrganizationId, Scale, Score};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use uuid::Uuid;

on_every_backend!(
    a_changed_criterion_is_a_new_revision_and_the_old_one_stays,
    built_in_criteria_follow_the_program_and_never_a_user,
    criteria_that_no_judge_could_apply_are_refused,
    thresholds_keep_their_history_and_say_what_held_when,
    a_changed_judge_is_a_successor_that_names_its_predecessor,
    methods_and_models_appear_with_their_first_judge,
    of_two_that_change_a_judge_at_once_both_are_kept_or_one_is_told,
    the_database_itself_refuses_changes_and_references_to_nothing,
    judges_belong_to_their_organization,
    evaluation_steps_are_kept_once_and_for_each_organization,
);

async fn a_changed_criterion_is_a_new_revision_and_the_old_one_stays(place: Place) {
    let fixture = fixture(place).await;
    let store = &fixture.store;
    let first = store.add_criterion(&criterion("accuracy")).await.unwrap();
    assert_eq!((first.revision, first.source), (1, CriterionSource::User));
    assert_eq!(store.criterion("accuracy").await.unwrap(), first, "read back as it was");
    let taken = store.add_criterion(&criterion("accuracy")).await.unwrap_err();
    assert!(matches!(taken, StoreError::NameTaken { kind: EntityKind::Criterion, .. }));
    assert_eq!(taken.code(), ErrorCode::Conflict);
    let unchanged = store.revise_criterion(&criterion("accuracy")).await.unwrap();
    assert_eq!(unchanged, first, "nothing differs");
    let mut changed = criterion("accuracy");
    changed.evaluation_criteria = "is it right and whole?".to_owned();
    changed.scale = Scale { min: 0, max: 10 };
    let second = store.revise_criterion(&changed).await.unwrap();
    assert_eq!((second.revision, second.created_at), (2, first.created_at));
    assert_eq!(store.criterion("accuracy").await.unwrap().criterion, changed);
    assert_eq!(store.criterion_revision("accuracy", 1).await.unwrap(), first);
    assert_eq!(store.criterion_history("accuracy").await.unwrap(), [second.clone(), first]);
    store.add_criterion(&criterion("clarity")).await.unwrap();
    let names: Vec<(String, u32)> = store
        .criteria()
        .await
        .unwrap()
        .into_iter()
        .map(|one| (one.criterion.name, one.revision))
        .collect();
    assert_eq!(names, [("accuracy".to_owned(), 2), ("clarity".to_owned(), 1)]);
    let missing = store.revise_criterion(&criterion("missing")).await.unwrap_err();
    assert_eq!(
        (missing.code(), missing.to_string()),
        (ErrorCode::NotFound, "there is no criterion `missing`".to_owned())
    );
    assert!(store.criterion_revision("accuracy", 3).await.is_err());
}

async fn built_in_criteria_follow_the_program_and_never_a_user(place: Place) {
    let fixture = fixture(place).await;
    let store = &fixture.store;
    let kept = store.keep_built_in_criterion(&criterion("safety")).await.unwrap();
    assert_eq!(store.keep_built_in_criterion(&criterion("safety")).await.unwrap(), kept);
    let mut newer = criterion("safety");
    newer.needs_context = true;
    let refused = store.revise_criterion(&newer).await.unwrap_err();
    assert!(matches!(refused, StoreError::Immutable { kind: EntityKind::Criterion, .. }));
    assert_eq!(refused.to_string(), "the criterion `safety` cannot be changed: it is built in");
    assert!(matches!(store.add_criterion(&newer).await, Err(StoreError::NameTaken { .. })));
    let revised = store.keep_built_in_criterion(&newer).await.unwrap();
    assert_eq!((revised.revision, revised.source), (2, CriterionSource::BuiltIn));
    let own = store.add_criterion(&criterion("wit")).await.unwrap();
    let mut clashing = criterion("wit");
    clashing.needs_context = true;
    assert_eq!(store.keep_built_in_criterion(&clashing).await.unwrap(), own, "the user's stays");
}

async fn criteria_that_no_judge_could_apply_are_refused(place: Place) {
    let fixture = fixture(place).await;
    let store = &fixture.store;
    let with = |change: fn(&mut fullbench_types::Criterion)| {
        let mut wrong = criterion("accuracy");
        change(&mut wrong);
        wrong
    };
    for (wrong, part) in [
        (with(|one| one.scale = Scale { min: 5, max: 5 }), "from 5 to 5"),
        (with(|one| one.levels[0].score = 6), "level 6 is not on"),
        (with(|one| one.levels[0].score = 5), "level 5 is there twice"),
        (with(|one| one.evaluation_criteria = " ".to_owned()), "`evaluation_criteria` is empty"),
        (with(|one| one.task_introduction.clear()), "`task_introduction` is empty"),
        (with(|one| one.name = "Accuracy".to_owned()), "`Accuracy` is no name"),
    ] {
        let error = store.add_criterion(&wrong).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidInput);
        assert!(error.to_string().contains(part), "{error}");
    }
}

async fn thresholds_keep_their_history_and_say_what_held_when(place: Place) {
    let fixture = fixture(place).await;
    let store = &fixture.store;
    assert!(matches!(
        store.set_threshold("accuracy", 0.5, None).await,
        Err(StoreError::NameNotFound { kind: EntityKind::Criterion, .. })
    ));
    store.add_criterion(&criterion("accuracy")).await.unwrap();
    assert_eq!(store.threshold("accuracy").await.unwrap(), None);
    for wrong in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        let error = store.set_threshold("accuracy", wrong, None).await.unwrap_err();
        assert!(matches!(error, StoreError::ThresholdInvalid(_)), "{wrong}");
        assert_eq!(error.code(), ErrorCode::InvalidInput);
    }
    let first = store.set_threshold("accuracy", 0.0, Some("to begin with")).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(3)).await;
    let mut changed = criterion("accuracy");
    changed.needs_context = true;
    store.revise_criterion(&changed).await.unwrap();
    let second = store.set_threshold("accuracy", 1.0, None).await.unwrap();
    let third = store.set_threshold("accuracy", 0.75, None).await.unwrap();
    assert_eq!((first.criterion_revision, third.criterion_revision), (1, 2));
    assert_eq!(store.threshold("accuracy").await.unwrap(), Some(third.clone()));
    let at = |time: Timestamp| store.threshold_at("accuracy", time);
    assert_eq!(at(first.set_at).await.unwrap(), Some(first.clone()));
    assert_eq!(at(first.set_at - SignedDuration::from_millis(1)).await.unwrap(), None);
    assert_eq!(at(third.set_at).await.unwrap().unwrap().id, third.id);
    assert_eq!(store.threshold_history("accuracy").await.unwrap(), [third, second, first]);
    let id = if fixture.place.is_postgres() { "gen_random_uuid()" } else { "x'01'" };
    let sql = format!(
        "INSERT INTO thresholds (id, organization_id, criterion, criterion_revision, score, \
         created_at) SELECT {id}, organization_id, criterion, 1, 1.5, 0 FROM thresholds LIMIT 1"
    );
    let refused = fixture.place.execute(&sql).await.unwrap_err();
    assert!(refused.to_lowercase().contains("check constraint"), "{refused}");
}

async fn a_changed_judge_is_a_successor_that_names_its_predecessor(place: Place) {
    let fixture = fixture(place).await;
    let store = &fixture.store;
    let missing = store.add_judge(&new_judge("strict", "accuracy")).await.unwrap_err();
    assert!(matches!(missing, StoreError::NameNotFound { kind: EntityKind::Criterion, .. }));
    assert!(store.methods().await.unwrap().is_empty(), "nothing is left of a refused judge");
    store.add_criterion(&criterion("accuracy")).await.unwrap();
    let first = store.add_judge(&new_judge("strict", "accuracy")).await.unwrap();
    assert_eq!((first.revision, first.predecessor), (1, None));
    assert_eq!(store.judge("strict").await.unwrap(), first, "read back as it was");
    let taken = store.add_judge(&new_judge("strict", "accuracy")).await.unwrap_err();
    assert_eq!(taken.to_string(), "there is already a judge `strict`");
    let same = store.succeed_judge(&new_judge("strict", "accuracy")).await.unwrap();
    assert_eq!(same, first, "nothing differs");
    let mut changed = new_judge("strict", "accuracy");
    changed.parameters = json!({"samples": 20});
    let second = store.succeed_judge(&changed).await.unwrap();
    assert_eq!((second.revision, second.predecessor), (2, Some(first.id)));
    let mut clearer = criterion("accuracy");
    clearer.task_introduction = "longer answers".to_owned();
    store.revise_criterion(&clearer).await.unwrap();
    let third = store.succeed_judge(&changed).await.unwrap();
    assert_eq!((third.criterion_revision, third.predecessor), (2, Some(second.id)));
    assert_eq!(store.judge("strict").await.unwrap(), third);
    assert_eq!(store.judge_of_id(first.id).await.unwrap(), first);
    assert_eq!(store.judge_history("strict").await.unwrap(), [third.clone(), second, first]);
    store.add_judge(&new_judge("gpt-4o.lenient", "accuracy")).await.unwrap();
    let names: Vec<String> =
        store.judges().await.unwrap().into_iter().map(|judge| judge.name).collect();
    assert_eq!(names, ["gpt-4o.lenient", "strict"]);
    let missing = store.succeed_judge(&new_judge("other", "accuracy")).await.unwrap_err();
    assert!(matches!(missing, StoreError::NameNotFound { kind: EntityKind::Judge, .. }));
}

async fn methods_and_models_appear_with_their_first_judge(place: Place) {
    let fixture = fixture(place).await;
    let store = &fixture.store;
    store.add_criterion(&criterion("accuracy")).await.unwrap();
    store.add_judge(&new_judge("one", "accuracy")).await.unwrap();
    store.add_judge(&new_judge("two", "accuracy")).await.unwrap();
    let mut elsewhere = new_judge("three", "accuracy");
    elsewhere.provider = "azure".to_owned();
    elsewhere.model_config = json!({"base_url": "http://elsewhere"});
    elsewhere.method = "rubric".to_owned();
    store.add_judge(&elsewhere).await.unwrap();
    let methods: Vec<String> =
        store.methods().await.unwrap().into_iter().map(|method| method.name).collect();
    assert_eq!(methods, ["g_eval", "rubric"]);
    let models = store.models().await.unwrap();
    assert_eq!(models.len(), 2, "one model at two providers");
    assert_eq!(models[0].config["base_url"], "http://elsewhere");
    assert_eq!(store.model("openai", "gpt-4o").await.unwrap(), models[1]);
    assert!(store.model("openai", "gpt-5").await.is_err());
    let mut moved = new_judge("four", "accuracy");
    moved.model_config = json!({"base_url": "http://moved"});
    let refused = store.add_judge(&moved).await.unwrap_err();
    assert!(matches!(refused, StoreError::Immutable { kind: EntityKind::Model, .. }), "{refused}");
    assert!(store.judge("four").await.is_err());
}

async fn of_two_that_change_a_judge_at_once_both_are_kept_or_one_is_told(place: Place) {
    let fixture = fixture(place).await;
    let store = &fixture.store;
    store.add_criterion(&criterion("accuracy")).await.unwrap();
    store.add_judge(&new_judge("strict", "accuracy")).await.unwrap();
    let with = |samples: u32| {
        let mut judge = new_judge("strict", "accuracy");
        judge.parameters = json!({"samples": samples});
        judge
    };
    let (left, right) = (with(1), with(2));
    let results = tokio::join!(store.succeed_judge(&left), store.succeed_judge(&right));
    let made = [results.0, results.1].into_iter().filter(|result| match result {
        Ok(_) => true,
        Err(error) => {
            assert!(matches!(error, StoreError::ChangedMeanwhile { .. }), "{error}");
            false
        }
    });
    let made = made.count();
    let history = store.judge_history("strict").await.unwrap();
    assert!(made >= 1);
    assert_eq!(history.len(), made + 1, "one chain without forks");
}

async fn the_database_itself_refuses_changes_and_references_to_nothing(place: Place) {
    let fixture = fixture(place).await;
    let store = &fixture.store;
    store.add_criterion(&criterion("accuracy")).await.unwrap();
    store.set_threshold("accuracy", 0.5, None).await.unwrap();
    store.add_judge(&new_judge("strict", "accuracy")).await.unwrap();
    for (sql, said) in [
        ("UPDATE judges SET parameters = '{}'", "judges never change"),
        ("UPDATE thresholds SET score = 0.1", "thresholds never change"),
        ("UPDATE criteria SET max_score = 7", "criteria never change"),
        ("DELETE FROM criteria", "foreign key constraint"),
        ("DELETE FROM methods", "foreign key constraint"),
        ("DELETE FROM models", "foreign key constraint"),
    ] {
        let refused = fixture.place.execute(sql).await.unwrap_err();
        assert!(refused.to_lowercase().contains(said), "{sql}: {refused}");
    }
    let run = new_run(store).await;
    let nobody = JudgeReference { id: JudgeId(Uuid::from_u128(1)), name: "nobody".to_owned() };
    let score = judged(unit(0, 0), 1, Score::binary(true), judgement(Some(nobody), None, 1));
    let refused = store.recorder(run.id).commit(&[], &[&score], &[]).await.unwrap_err();
    let StoreError::ReferenceGone(reason) = refused else { panic!("{refused}") };
    assert!(reason.to_string().to_lowercase().contains("foreign key constraint"), "{reason}");
}

async fn judges_belong_to_their_organization(place: Place) {
    let fixture = fixture(place).await;
    let mine = &fixture.store;
    let theirs = fixture.whole.scoped(OrganizationId(Uuid::from_u128(7)));
    mine.add_criterion(&criterion("accuracy")).await.unwrap();
    mine.set_threshold("accuracy", 0.5, None).await.unwrap();
    let judge = mine.add_judge(&new_judge("strict", "accuracy")).await.unwrap();
    assert!(theirs.criteria().await.unwrap().is_empty());
    assert!(theirs.judges().await.unwrap().is_empty());
    assert!(theirs.methods().await.unwrap().is_empty());
    assert!(theirs.models().await.unwrap().is_empty());
    assert_eq!(theirs.threshold("accuracy").await.unwrap(), None);
    assert!(theirs.threshold_history("accuracy").await.is_err());
    assert!(theirs.judge_of_id(judge.id).await.is_err());
    let none = theirs.add_judge(&new_judge("strict", "accuracy")).await.unwrap_err();
    assert!(matches!(none, StoreError::NameNotFound { kind: EntityKind::Criterion, .. }));
    theirs.add_criterion(&criterion("accuracy")).await.unwrap();
    theirs.add_judge(&new_judge("strict", "accuracy")).await.unwrap();
    assert_eq!(mine.judge("strict").await.unwrap(), judge, "the same name twice is no clash");
}

async fn evaluation_steps_are_kept_once_and_for_each_organization(place: Place) {
    let fixture = fixture(place).await;
    let key = fullbench_types::ContentHash::of(b"clarity by a model");
    let steps = |text: &str| vec![text.to_owned()];
    assert_eq!(fixture.store.evaluation_steps(&key).await.unwrap(), None);
    let kept = fixture.store.keep_evaluation_steps(&key, &steps("read")).await.unwrap();
    assert_eq!(kept, steps("read"));
    let again = fixture.store.keep_evaluation_steps(&key, &steps("guess")).await.unwrap();
    assert_eq!(again, steps("read"), "the first that were kept count");
    let other = fixture.whole.scoped(OrganizationId(Uuid::now_v7()));
    assert_eq!(other.evaluation_steps(&key).await.unwrap(), None);
}
