//! `numeric_match` against the recorded judgements of GSM8K's example solutions: all 5,276 agree.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

use std::future::Future;
use std::path::PathBuf;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use fullbench_score::{Item, ScorerConfig, build};
use fullbench_types::{Generation, Outcome, TestCase};
use serde_json::{Map, Value};

const MODELS: [&str; 4] =
    ["6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification"];

/// The folder of public benchmark data: `FULLBENCH_DATA`, or beside the repository.
fn data() -> PathBuf {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    std::env::var_os("FULLBENCH_DATA").map_or_else(beside, PathBuf::from)
}

#[test]
fn judgements_agree_with_the_recorded_ones() {
    let path = data().join("gsm8k/example_model_solutions.jsonl");
    let Ok(lines) = std::fs::read_to_string(&path) else {
        eprintln!("SKIPPED: {} is not there", path.display());
        return;
    };
    let numeric = build(&ScorerConfig::new("numeric_match")).unwrap();
    let mut disagreements = Vec::new();
    let mut judged = 0;
    for (index, line) in lines.lines().enumerate() {
        let row: Value = serde_json::from_str(line).unwrap();
        let case = TestCase {
            index: index as u64,
            key: index.to_string(),
            input: row["question"].clone(),
            references: vec![row["ground_truth"].clone()],
            fields: Map::new(),
        };
        for model in MODELS {
            let generation =
                Generation::recorded(row[model]["solution"].as_str().unwrap().to_owned());
            let items = [Item::new(&case, &generation)];
            let mut scoring = pin!(numeric.scorer.score(&items));
            let Poll::Ready(scores) =
                scoring.as_mut().poll(&mut Context::from_waker(Waker::noop()))
            else {
                panic!("a built-in scorer waits for nothing");
            };
            judged += 1;
            if scores[0].outcome != Outcome::from_pass(row[model]["is_correct"].as_bool().unwrap())
            {
                disagreements.push((index, model, scores[0].outcome, scores[0].reasoning.clone()));
            }
        }
    }
    assert_eq!(judged, 4 * 1_319);
    assert_eq!(disagreements, []);
}
