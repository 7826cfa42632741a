//! Questions to what judges gave: one small run with answers known by hand.

use crate::backend::{Place, on_every_backend};
use crate::fixture::{
    Fixture, criterion, fixture, judged, judgement, new_judge, new_run, record, unit,
};
use fullbench_store::{JudgeKey, JudgementFilter, ResultDetail, RunRecord, ScoreRecord};
use fullbench_types::{NanoDollars, OrganizationId, Score, UnscoredReason};
use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use uuid::Uuid;

on_every_backend!(
    a_judgement_is_read_back_whole,
    performance_of_judges_counts_values_failures_time_and_money,
    a_filter_leaves_out_other_judges_criteria_runs_times_and_organizations,
    a_successor_is_another_judge_under_the_same_name,
    judges_meet_on_documents,
    another_threshold_changes_results_only_in_the_answer,
    failures_are_grouped_by_reason_and_pattern,
    cost_is_told_by_day_and_judge,
);

fn all() -> JudgementFilter {
    JudgementFilter::default()
}

fn by(judge: &str) -> JudgementFilter {
    JudgementFilter { judge: Some(judge.to_owned()), ..all() }
}

/// Two stored judges and one of the evaluation file on three cases; the second model answers the first case as the first
/// does. `strict` failed on the third case.
async fn judged_run(place: Place) -> (Fixture, RunRecord) {
    let fixture = fixture(place).await;
    let store = &fixture.store;
    store.add_criterion(&criterion("accuracy")).await.unwrap();
    let strict = store.add_judge(&new_judge("strict", "accuracy")).await.unwrap().reference();
    let lenient = store.add_judge(&new_judge("lenient", "accuracy")).await.unwrap().reference();
    let run = new_run(store).await;
    let answers = [
        (unit(0, 0), "a", "same"),
        (unit(0, 1), "a", "same"),
        (unit(1, 0), "b", "text"),
        (unit(2, 0), "c", "text"),
    ];
    let graded = |value: f64| Score::graded(1.0 + 4.0 * value, value, Some(0.5));
    let strictly = |seconds| judgement(Some(strict.clone()), Some(0.5), seconds);
    let leniently = || {
        let mut judgement = judgement(Some(lenient.clone()), Some(0.5), 1);
        judgement.model = "haiku".to_owned();
        judgement
    };
    let failed =
        |message: &str| Score::unscored(UnscoredReason::UnparseableJudgement).because(message);
    let mut from_cache = strictly(99);
    from_cache.replies[0].cached = true;
    let mut inline = judgement(None, None, 1);
    inline.criterion = "clarity".to_owned();
    let scores = [
        judged(unit(0, 0), 1, graded(0.25), strictly(1)),
        judged(unit(0, 1), 1, graded(0.75), from_cache),
        judged(unit(1, 0), 1, graded(1.0), strictly(3)),
        judged(unit(2, 0), 1, failed("`9` is not from 1 to 5"), strictly(2)),
        judged(unit(0, 0), 2, graded(0.75), leniently()),
        judged(unit(1, 0), 2, graded(0.5), leniently()),
        judged(unit(2, 0), 2, graded(0.25), leniently()),
        judged(unit(2, 0), 3, Score::graded(3.0, 0.5, None), inline),
        ScoreRecord { key: unit(0, 0), scorer: [9; 16], revision: 0, score: Score::binary(true) },
    ];
    record(store, &run, &answers, &scores).await;
    (fixture, run)
}

async fn a_judgement_is_read_back_whole(place: Place) {
    let (fixture, run) = judged_run(place).await;
    let page = fixture.store.results_after(run.id, None, 1, ResultDetail::Full).await.unwrap();
    let kept = page[0].scores[0].score.judgement.as_ref().unwrap();
    let judge = fixture.store.judge("strict").await.unwrap().reference();
    assert_eq!(**kept, judgement(Some(judge), Some(0.5), 1));
    assert!(page[0].scores[2].score.judgement.is_none());
}

async fn performance_of_judges_counts_values_failures_time_and_money(place: Place) {
    let (fixture, run) = judged_run(place).await;
    let store = &fixture.store;
    let judges = store.judge_performance(&all()).await.unwrap();
    let names: Vec<String> = judges.iter().map(|one| one.judge.to_string()).collect();
    assert_eq!(names, ["clarity/g_eval/gpt-4o", "lenient", "strict"]);
    assert_eq!(judges[0].judge.key, JudgeKey::Inline([3; 16]));
    let strict = &judges[2].performance;
    assert_eq!((strict.judgements, strict.scored), (4, 3));
    assert!((strict.mean.unwrap() - 2.0 / 3.0).abs() < 1e-12);
    assert_eq!((strict.passed, strict.failed), (2, 1));
    assert!((strict.pass_rate().unwrap() - 2.0 / 3.0).abs() < 1e-12);
    assert_eq!(strict.unscored, [(UnscoredReason::UnparseableJudgement, 1)]);
    assert_eq!(strict.mean_seconds, Some(2.0), "the one from the cache took none");
    assert!((strict.p95_seconds.unwrap() - 2.9).abs() < 1e-9);
    assert_eq!((strict.input_tokens, strict.output_tokens), (400, 40));
    assert_eq!((strict.cost, strict.priced), (NanoDollars(40), 4));
    assert_eq!(judges[0].performance.pass_rate(), None, "there was no mark");
    assert_eq!(judges[0].performance.spread, None);
    let models = store.judging_model_performance(&all()).await.unwrap();
    let counts: Vec<(&str, u64)> =
        models.iter().map(|one| (one.model.as_str(), one.performance.judgements)).collect();
    assert_eq!(counts, [("gpt-4o", 5), ("haiku", 3)]);
    assert_eq!(
        store.judge_performance(&JudgementFilter { run: Some(run.id), ..all() }).await.unwrap(),
        judges
    );
}

async fn a_filter_leaves_out_other_judges_criteria_runs_times_and_organizations(place: Place) {
    let (fixture, _) = judged_run(place).await;
    let store = &fixture.store;
    let other_run = new_run(store).await;
    let count = async |filter: JudgementFilter| {
        let judges = store.judge_performance(&filter).await.unwrap();
        judges.iter().map(|one| one.performance.judgements).sum::<u64>()
    };
    assert_eq!(count(all()).await, 8);
    assert_eq!(count(by("strict")).await, 4);
    assert_eq!(count(by("clarity/g_eval/gpt-4o")).await, 1);
    assert_eq!(count(by("nobody")).await, 0);
    assert_eq!(count(JudgementFilter { criterion: Some("clarity".to_owned()), ..all() }).await, 1);
    assert_eq!(count(JudgementFilter { run: Some(other_run.id), ..all() }).await, 0);
    let soon = Timestamp::now() + SignedDuration::from_mins(1);
    assert_eq!(count(JudgementFilter { from: Some(soon), ..all() }).await, 0);
    assert_eq!(count(JudgementFilter { until: Some(soon), ..all() }).await, 8);
    let theirs = fixture.whole.scoped(OrganizationId(Uuid::from_u128(7)));
    assert!(theirs.judge_performance(&all()).await.unwrap().is_empty());
    assert!(theirs.document_scores(&all()).await.unwrap().scores.is_empty());
}

async fn a_successor_is_another_judge_under_the_same_name(place: Place) {
    let (fixture, run) = judged_run(place).await;
    let store = &fixture.store;
    let mut changed = new_judge("strict", "accuracy");
    changed.description = Some("new".to_owned());
    let successor = store.succeed_judge(&changed).await.unwrap().reference();
    let score = Score::graded(5.0, 1.0, Some(0.5));
    let later = judged(unit(2, 0), 1, score, judgement(Some(successor), Some(0.5), 1));
    record(store, &run, &[], &[ScoreRecord { revision: 1, ..later }]).await;
    let strict = store.judge_performance(&by("strict")).await.unwrap();
    let counts: Vec<u64> = strict.iter().map(|one| one.performance.judgements).collect();
    assert_eq!(counts, [3, 1], "the older first, without what was scored again");
    let spent: u64 =
        store.judge_costs(&by("strict")).await.unwrap().iter().map(|cost| cost.judgements).sum();
    assert_eq!(spent, 5, "what was scored again was paid for as well");
}

async fn judges_meet_on_documents(place: Place) {
    let (fixture, run) = judged_run(place).await;
    let store = &fixture.store;
    let accuracy = JudgementFilter { criterion: Some("accuracy".to_owned()), ..all() };
    let found = store.document_scores(&accuracy).await.unwrap();
    let keys: Vec<&str> =
        found.documents.iter().map(|document| document.case_key.as_str()).collect();
    assert_eq!(keys, ["a", "b", "c"], "two equal answers to a case are one document");
    assert_ne!(found.documents[1].hash, found.documents[2].hash, "one text for two cases is two");
    assert_eq!((found.documents[0].run, found.documents[0].unit), (run.id, unit(0, 0)));
    let judges: Vec<String> = found.judges.iter().map(ToString::to_string).collect();
    assert_eq!(judges, ["lenient", "strict"]);
    let rows: Vec<(u32, u32, f64, u64)> = found
        .scores
        .iter()
        .map(|score| (score.document, score.judge, score.value, score.judgements))
        .collect();
    assert_eq!(
        rows,
        [(0, 0, 0.75, 1), (0, 1, 0.5, 2), (1, 0, 0.5, 1), (1, 1, 1.0, 1), (2, 0, 0.25, 1)]
    );
    let hardest = store.document_difficulty(&accuracy, 2).await.unwrap();
    assert_eq!(hardest.len(), 2);
    assert_eq!((hardest[0].document.case_key.as_str(), hardest[0].mean), ("c", 0.25));
    assert_eq!((hardest[0].spread, hardest[0].judges), (None, 1));
    assert_eq!((hardest[1].document.case_key.as_str(), hardest[1].mean), ("a", 0.625));
    assert!((hardest[1].spread.unwrap() - 0.03125f64.sqrt()).abs() < 1e-12);
}

async fn another_threshold_changes_results_only_in_the_answer(place: Place) {
    let (fixture, _) = judged_run(place).await;
    let store = &fixture.store;
    let effects = store.threshold_effect(Some(0.8), &all()).await.unwrap();
    let names: Vec<&str> = effects.iter().map(|effect| effect.criterion.as_str()).collect();
    assert_eq!(names, ["accuracy", "clarity"]);
    let accuracy = &effects[0];
    assert_eq!((accuracy.scored, accuracy.would_pass), (6, 1));
    assert_eq!((accuracy.passed_to_failed, accuracy.failed_to_passed), (3, 0));
    assert_eq!((effects[1].scored, effects[1].without_threshold, effects[1].changed()), (1, 1, 0));
    let lower = &store.threshold_effect(Some(0.25), &by("strict")).await.unwrap()[0];
    assert_eq!((lower.passed_to_failed, lower.failed_to_passed, lower.changed()), (0, 1, 1));
    let same = &store.threshold_effect(Some(0.5), &all()).await.unwrap()[0];
    assert_eq!(same.changed(), 0);
    assert!(store.threshold_effect(None, &all()).await.unwrap().is_empty(), "none was set");
    store.set_threshold("accuracy", 0.8, None).await.unwrap();
    assert_eq!(store.threshold_effect(None, &all()).await.unwrap()[..], effects[..1]);
    assert_eq!(
        store.judge_performance(&by("strict")).await.unwrap()[0].performance.passed,
        2,
        "history is as it was"
    );
    assert!(store.threshold_effect(Some(1.5), &all()).await.is_err());
}

async fn failures_are_grouped_by_reason_and_pattern(place: Place) {
    let (fixture, run) = judged_run(place).await;
    let store = &fixture.store;
    let failed = |message: Option<&str>| {
        let score = Score::unscored(UnscoredReason::UnparseableJudgement);
        Score { reasoning: message.map(str::to_owned), ..score }
    };
    let mut with_problem = judgement(None, None, 1);
    with_problem.replies[0].problem = Some("`x` is not from 0 to 100".to_owned());
    let late = Score::unscored(UnscoredReason::ProviderError).because("waited 30 s");
    let scores = [
        judged(unit(0, 0), 4, failed(Some("`7` is not from 1 to 5")), judgement(None, None, 1)),
        judged(unit(1, 0), 4, failed(None), with_problem),
        judged(unit(2, 0), 4, late, judgement(None, None, 1)),
    ];
    record(store, &run, &[], &scores).await;
    let patterns = store.failure_patterns(&all()).await.unwrap();
    assert_eq!(patterns.len(), 2);
    assert_eq!(patterns[0].reason, UnscoredReason::UnparseableJudgement);
    assert_eq!((patterns[0].pattern.as_str(), patterns[0].count), ("`…` is not from # to #", 3));
    assert!(patterns[0].example.contains("` is not from "), "{}", patterns[0].example);
    assert_eq!(patterns[0].run, run.id);
    assert_eq!((patterns[1].pattern.as_str(), patterns[1].count), ("waited # s", 1));
    assert_eq!(patterns[1].reason, UnscoredReason::ProviderError);
}

async fn cost_is_told_by_day_and_judge(place: Place) {
    let (fixture, _) = judged_run(place).await;
    let costs = fixture.store.judge_costs(&by("strict")).await.unwrap();
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let days = costs.iter().map(|cost| cost.day);
    assert!(days.clone().all(|day| day == today || day.tomorrow().unwrap() == today));
    assert_eq!(costs.iter().map(|cost| cost.cost).sum::<NanoDollars>(), NanoDollars(40));
    assert_eq!(costs.iter().map(|cost| cost.priced).sum::<u64>(), 4);
    assert_eq!(costs.iter().map(|cost| cost.input_tokens).sum::<u64>(), 400);
    assert_eq!(costs[0].judge.to_string(), "strict");
}
