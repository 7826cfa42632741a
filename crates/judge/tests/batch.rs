//! Several outputs in one prompt: whatever the reply does, no score lands on another output.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::collections::HashMap;
use std::sync::Mutex;

use fullbench_judge::{Ask, AskError, Judge, Method, Question, Subject, frames_in};
use fullbench_types::{Generation, NanoDollars, Outcome};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{Asked, Stub, config, reply};

const OUTPUTS: [&str; 6] = ["score 1", "score 2", "score 3", "score 4", "score 5", "score 2 too"];

fn subjects() -> Vec<Subject<'static>> {
    let subject = |(at, output): (usize, &&'static str)| Subject {
        key: ["a", "b", "c", "d", "e", "f"][at],
        input: "question",
        output,
        references: &[],
        context: &[],
        repetition: 0,
    };
    OUTPUTS.iter().enumerate().map(subject).collect()
}

fn judge(method: Method) -> Judge {
    let mut config = config(method, "clarity");
    config.batch = 6;
    Judge::new(config).unwrap()
}

/// The number that an output asks for, as an honest judge gives it.
fn deserved(output: &str) -> i64 {
    output.split(' ').nth(1).unwrap().parse().unwrap()
}

/// The ids of a prompt with what is in their frames.
fn items(asked: &Asked) -> Vec<(String, String)> {
    let (frames, _) = frames_in(&asked.messages[1].content);
    let of = frames.into_iter().filter_map(|frame| {
        let id = frame.label.strip_prefix("output-")?.to_owned();
        Some((id, frame.text))
    });
    of.collect()
}

/// What is done to an honest reply.
#[derive(Debug, Clone, Copy)]
enum Mangled {
    Missing,
    Doubled,
    DoubledOtherwise,
    Renamed,
    WrongType,
    OutOfScale,
    Swapped,
}

fn honest(asked: &Asked) -> Vec<Value> {
    let entry = |(id, output): (String, String)| json!({"id": id, "reasoning": output, "score": deserved(&output)});
    items(asked).into_iter().map(entry).collect()
}

fn mangle(entries: &mut Vec<Value>, how: Mangled, at: usize) {
    if entries.is_empty() {
        return;
    }
    let at = at % entries.len();
    match how {
        Mangled::Missing => drop(entries.remove(at)),
        Mangled::Doubled => entries.push(entries[at].clone()),
        Mangled::DoubledOtherwise => {
            let mut other = entries[at].clone();
            other["score"] = json!(1);
            entries.insert(0, other);
        }
        Mangled::Renamed => entries[at]["id"] = json!("item 1"),
        Mangled::WrongType => entries[at]["id"] = json!(at),
        Mangled::OutOfScale => entries[at]["score"] = json!(77),
        Mangled::Swapped => entries.reverse(),
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn mangled() -> impl Strategy<Value = (Mangled, usize)> {
    let how = prop_oneof![
        Just(Mangled::Missing),
        Just(Mangled::Doubled),
        Just(Mangled::DoubledOtherwise),
        Just(Mangled::Renamed),
        Just(Mangled::WrongType),
        Just(Mangled::OutOfScale),
        Just(Mangled::Swapped),
    ];
    (how, 0..10usize)
}

proptest! {
    #[test]
    fn every_output_gets_the_score_that_is_its_own(changes in prop::collection::vec(mangled(), 0..6)) {
        let judge = judge(Method::GEval);
        let stub = Stub::text(move |asked| {
            if asked.name != "batch" {
                let (frames, _) = frames_in(&asked.messages[1].content);
                let output = frames.iter().find(|frame| frame.label == "output").unwrap();
                return format!("{{\"reasoning\": \"alone\", \"score\": {}}}", deserved(&output.text));
            }
            let mut entries = honest(asked);
            // A second verdict comes last: were the first taken away after it, the judge would really have said the second.
            let mut changes = changes.clone();
            changes.sort_by_key(|(how, _)| matches!(how, Mangled::DoubledOtherwise));
            for (how, at) in &changes {
                mangle(&mut entries, *how, *at);
            }
            json!({"judgements": entries}).to_string()
        });
        let scores = block_on(judge.judge_all(&stub, &subjects()));
        for (score, output) in scores.iter().zip(OUTPUTS) {
            prop_assert_eq!(score.raw, Some(deserved(output) as f64), "{}: {:?}", output, score);
        }
        // One batch, and what it left out by itself.
        let alone = scores.iter().filter(|score| score.reasoning.as_deref() == Some("alone")).count();
        prop_assert_eq!(stub.asked().len(), 1 + alone);
        // 500 for every call, however it was shared.
        let paid: NanoDollars = scores.iter().filter_map(|score| score.cost).sum();
        prop_assert_eq!(paid, NanoDollars(500 * (1 + alone as i64)));
    }
}

#[test]
fn a_reply_that_is_none_is_asked_for_one_by_one() {
    for text in
        ["", "{\"judgements\": 3}", "[]", "{\"judgements\": [{\"id\": \"x\", \"id\": \"y\"}]}"]
    {
        let judge = judge(Method::Binary);
        let stub = Stub::text(move |asked| match asked.name.as_str() {
            "batch" => text.to_owned(),
            _ => "{\"reasoning\": \"alone\", \"verdict\": \"pass\"}".to_owned(),
        });
        let scores = block_on(judge.judge_all(&stub, &subjects()));
        assert!(scores.iter().all(|score| score.outcome == Outcome::Passed), "{text}");
        let judgement = scores[0].judgement.as_ref().unwrap();
        assert!(judgement.replies[0].problem.is_some(), "{text}: {judgement:?}");
    }
}

#[test]
fn doubt_counts_in_a_batch_and_the_prompt_is_kept() {
    let judge = judge(Method::Binary);
    let stub = Stub::new(|asked| {
        let entry = |(id, _)| json!({"id": id, "reasoning": "cannot tell", "verdict": "unsure"});
        let entries: Vec<Value> = items(asked).into_iter().map(entry).collect();
        Ok(reply(&json!({"judgements": entries}).to_string()))
    });
    let scores = block_on(judge.judge_all(&stub, &subjects()));
    assert_eq!(stub.asked().len(), 1);
    for score in scores {
        assert_eq!(score.outcome.as_str(), "unscored");
        let judgement = score.judgement.unwrap();
        assert_eq!(judgement.replies[0].part.as_deref(), Some("batch of 6"));
        assert!(judgement.prompt.contains("Judge 6 answers"));
    }
}

#[test]
fn ids_come_from_the_texts_and_order_from_chance() {
    let judge = judge(Method::GEval);
    let stub = Stub::text(|asked| json!({"judgements": honest(asked)}).to_string());
    let _ = block_on(judge.judge_all(&stub, &subjects()));
    let shown: Vec<String> = items(&stub.asked()[0]).into_iter().map(|(_, text)| text).collect();
    assert_ne!(shown, OUTPUTS, "the order of the data would follow every position");
    insta::assert_snapshot!(stub.asked()[0].messages[1].content);
}

#[test]
fn what_a_batch_cannot_do_is_refused() {
    for (method, samples) in [(Method::Claims, 1), (Method::GEval, 3)] {
        let criterion = if method == Method::Claims { "faithfulness" } else { "clarity" };
        let mut config = config(method, criterion);
        (config.batch, config.samples) = (4, samples);
        let error = Judge::new(config).err().unwrap();
        assert_eq!(error.field().as_deref(), Some("batch"), "{error}");
    }
}

/// Replies that are kept, before a stub.
struct Keeping {
    stub: Stub,
    kept: Mutex<HashMap<(String, u32), Generation>>,
}

#[async_trait::async_trait]
impl Ask for Keeping {
    async fn ask(&self, question: Question<'_>) -> Result<Generation, AskError> {
        self.stub.ask(question).await
    }

    async fn kept(&self, question: &Question<'_>) -> Option<Generation> {
        let key = (question.messages[1].content.clone(), question.sample);
        self.kept.lock().unwrap().get(&key).cloned()
    }

    async fn keep(&self, question: &Question<'_>, part: &Generation) {
        let key = (question.messages[1].content.clone(), question.sample);
        self.kept.lock().unwrap().insert(key, part.clone());
    }
}

#[test]
fn a_second_run_asks_for_no_batch_and_alone_for_what_was_asked_alone() {
    let judge = judge(Method::GEval);
    let stub = Stub::text(|asked| match asked.name.as_str() {
        "batch" => {
            let mut entries = honest(asked);
            entries.pop();
            json!({"judgements": entries}).to_string()
        }
        _ => "{\"reasoning\": \"alone\", \"score\": 3}".to_owned(),
    });
    let ask = Keeping { stub, kept: Mutex::default() };
    let first = block_on(judge.judge_all(&ask, &subjects()));
    assert_eq!(ask.stub.asked().len(), 2);
    let second = block_on(judge.judge_all(&ask, &subjects()));
    let names: Vec<String> = ask.stub.asked().into_iter().map(|asked| asked.name).collect();
    assert_eq!(names, ["batch", "g_eval", "g_eval"], "the last is in the response cache of a run");
    for (first, second) in first.iter().zip(&second) {
        assert_eq!((first.raw, &first.reasoning), (second.raw, &second.reasoning));
    }
}

#[test]
fn what_no_batch_could_judge_is_not_put_into_one_again() {
    let judge = judge(Method::GEval);
    let stub = Stub::new(|asked| match asked.name.as_str() {
        "batch" => Err(AskError::NotConnected { request: 1 }),
        _ => Ok(reply("{\"reasoning\": \"alone\", \"score\": 3}")),
    });
    let ask = Keeping { stub, kept: Mutex::default() };
    for batches in [1, 1] {
        let scores = block_on(judge.judge_all(&ask, &subjects()));
        assert!(scores.iter().all(|score| score.raw == Some(3.0)));
        let asked = ask.stub.asked();
        assert_eq!(asked.iter().filter(|asked| asked.name == "batch").count(), batches);
    }
}
