//! A store in a folder of its own, criteria and judges to fill it with, and judgements.

use crate::backend::Place;
use fullbench_store::{
    GenerationRecord, NewJudge, NewRun, RunRecord, ScopedStore, ScoreRecord, Store,
};
use fullbench_types::{
    ContentHash, Criterion, DEFAULT_ORGANIZATION, Generation, JudgeReference, JudgeReply,
    Judgement, NanoDollars, RubricLevel, RunKind, Scale, Score, UnitKey,
};
use serde_json::json;

pub(crate) struct Fixture {
    pub(crate) place: Place,
    pub(crate) whole: Store,
    pub(crate) store: ScopedStore,
}

pub(crate) async fn fixture(place: Place) -> Fixture {
    let whole = place.open().await;
    let store = whole.scoped(DEFAULT_ORGANIZATION);
    Fixture { place, whole, store }
}

pub(crate) fn criterion(name: &str) -> Criterion {
    let level = |score: i32| RubricLevel { score, description: format!("level {score}") };
    Criterion {
        name: name.to_owned(),
        task_introduction: "answers to questions".to_owned(),
        evaluation_criteria: "is it right?".to_owned(),
        scale: Scale::FIVE,
        levels: vec![level(1), level(5)],
        needs_reference: true,
        needs_context: false,
    }
}

pub(crate) fn new_judge(name: &str, criterion: &str) -> NewJudge {
    NewJudge {
        name: name.to_owned(),
        criterion: criterion.to_owned(),
        method: "g_eval".to_owned(),
        provider: "openai".to_owned(),
        model: "gpt-4o".to_owned(),
        model_config: json!({"base_url": "http://localhost"}),
        parameters: json!({"samples": 5, "temperature": 1.0}),
        description: None,
    }
}

pub(crate) async fn new_run(store: &ScopedStore) -> RunRecord {
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

pub(crate) fn unit(case_index: u64, model_index: u32) -> UnitKey {
    UnitKey { case_index, model_index, repetition: 0 }
}

/// What a judge asked and said, in one call that took so many seconds.
pub(crate) fn judgement(
    judge: Option<JudgeReference>,
    threshold: Option<f64>,
    seconds: u64,
) -> Judgement {
    Judgement {
        judge,
        criterion: "accuracy".to_owned(),
        method: "g_eval".to_owned(),
        model: "gpt-4o".to_owned(),
        prompt: "judge this".to_owned(),
        template: ContentHash::of(b"template"),
        threshold,
        replies: vec![JudgeReply {
            sample: 0,
            part: None,
            text: "4".to_owned(),
            score: Some(4.0),
            distribution: Vec::new(),
            problem: None,
            input_tokens: 100,
            output_tokens: 10,
            latency_us: seconds * 1_000_000,
            cost: None,
            cached: false,
            saved: None,
            endpoint: None,
        }],
    }
}

/// The score that came of a judgement, for ten nano-dollars.
pub(crate) fn judged(key: UnitKey, scorer: u8, score: Score, judgement: Judgement) -> ScoreRecord {
    let score =
        Score { judgement: Some(Box::new(judgement)), cost: Some(NanoDollars(10)), ..score };
    ScoreRecord { key, scorer: [scorer; 16], revision: 0, score }
}

/// Records answers, each by its unit, case key and text, and scores.
pub(crate) async fn record(
    store: &ScopedStore,
    run: &RunRecord,
    answers: &[(UnitKey, &str, &str)],
    scores: &[ScoreRecord],
) {
    let texts: Vec<Generation> =
        answers.iter().map(|(_, _, text)| Generation::recorded((*text).to_owned())).collect();
    let records: Vec<GenerationRecord<'_>> = answers
        .iter()
        .zip(&texts)
        .map(|((key, case_key, _), text)| GenerationRecord {
            key: *key,
            case_key,
            result: Ok(text),
        })
        .collect();
    let scores: Vec<&ScoreRecord> = scores.iter().collect();
    store.recorder(run.id).commit(&records, &scores, &[]).await.unwrap();
}
