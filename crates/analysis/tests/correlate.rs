//! `stats correlate` on real files, good and bad.
#![allow(clippy::unwrap_used)]

use std::fmt::Write;
use std::path::PathBuf;

use fullbench_analysis::correlate::{CorrelateOptions, CorrelateReport, correlate};
use fullbench_analysis::{AnalysisError, Report};
use serde_json::Value;

fn run(
    name: &str,
    text: &str,
    options: &CorrelateOptions,
) -> Result<CorrelateReport, AnalysisError> {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    correlate(&path, options)
}

fn csv(text: &str) -> Result<CorrelateReport, AnalysisError> {
    run("scores.csv", text, &CorrelateOptions::default())
}

/// Numbers that look random and are the same on every machine.
fn noise(index: u32, salt: u32) -> f64 {
    let word = index.wrapping_mul(2_654_435_761).wrapping_add(salt.wrapping_mul(40_503));
    let word = (word ^ (word >> 15)).wrapping_mul(2_246_822_519);
    f64::from((word ^ (word >> 13)) % 10_000) / 10_000.0 - 0.5
}

/// 40 questions answered by 5 systems; the judge is 0.4 too generous.
fn systems_file() -> String {
    let mut text = "item,system,judge,human\n".to_owned();
    for item in 0..40 {
        for system in 0..5 {
            let index = item * 5 + system;
            let truth = 3.0 + f64::from(system) * 0.3 + 2.0 * noise(item, 1) + noise(index, 2);
            let judge = truth + 0.4 + noise(index, 3);
            writeln!(text, "q{item},s{system},{judge:.3},{truth:.3}").unwrap();
        }
    }
    text
}

#[test]
fn three_levels_with_bias() {
    let report = csv(&systems_file()).unwrap();
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["pairs"], 200);
    let scores = &json["scores"];
    assert_eq!(scores["item_level"]["clusters"], 40);
    for coefficient in scores["item_level"]["correlations"].as_array().unwrap() {
        let value = coefficient["independent"]["value"].as_f64().unwrap();
        let interval = &coefficient["clustered_interval"];
        assert!(interval["low"].as_f64().unwrap() < value);
        assert!(interval["high"].as_f64().unwrap() > value);
    }
    assert_eq!(scores["group_level"]["correlations"][2]["result"]["groups"], 40);
    assert_eq!(scores["system_level"]["correlations"][0]["result"]["systems"], 5);
    let bias = scores["bias"]["mean_difference"].as_f64().unwrap();
    assert!((bias - 0.4).abs() < 0.1, "{bias}");
    assert!(scores["bias"]["interval"]["low"].as_f64().unwrap() > 0.0);
    assert!(json["conclusion"]["meaning"][0].as_str().unwrap().contains("Spearman"));
    let firmer = json["conclusion"]["firmer"].to_string();
    assert!(firmer.contains("5 systems are few"), "{firmer}");
    assert!(firmer.contains("come in 40 groups"), "{firmer}");
    assert_eq!(json["resampling"]["seed"], 1);

    let grids = report.grids();
    assert_eq!(grids[0].rows.len(), 9);
    assert!(grids.iter().all(|grid| grid.rows.iter().all(|row| row.len() == grid.header.len())));
    assert!(report.labels.is_none());
}

#[test]
fn the_same_seed_gives_the_same_report() {
    let text = systems_file();
    let json = |report: CorrelateReport| serde_json::to_string(&report).unwrap();
    assert_eq!(json(csv(&text).unwrap()), json(csv(&text).unwrap()));
    let other = CorrelateOptions { seed: 2, ..CorrelateOptions::default() };
    let other = run("scores.csv", &text, &other).unwrap();
    assert_ne!(json(other), json(csv(&text).unwrap()));
}

#[test]
fn few_values_are_shown_as_labels_too_and_words_only_so() {
    let rows: String = (0..60).fold(String::new(), |mut text, index| {
        let human = 1 + index % 3;
        let judge = if index % 5 == 0 { 1 + (index + 1) % 3 } else { human };
        writeln!(text, "q{index},{judge}.0,{human}").unwrap();
        text
    });
    let report = csv(&format!("item,judge,human\n{rows}")).unwrap();
    let labels = report.labels.clone().unwrap();
    assert_eq!(labels.labels, ["1", "2", "3"]);
    assert_eq!(labels.confusion.accuracy, 48.0 / 60.0);
    assert!(report.scores.is_some());

    let words =
        rows.replace(",1.0,", ",bad,").replace(",2.0,", ",fair,").replace(",3.0,", ",good,");
    let words =
        words.replace(",1\n", ",bad\n").replace(",2\n", ",fair\n").replace(",3\n", ",good\n");
    let report = csv(&format!("item,judge,human\n{words}")).unwrap();
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["labels"]["labels"], serde_json::json!(["bad", "fair", "good"]));
    assert_eq!(json["labels"]["accuracy"], 0.8);
    assert_eq!(json.get("scores"), None);
    assert_eq!(report.grids().len(), 1);
}

#[test]
fn numbers_may_be_taken_as_labels() {
    let text = "item,judge,human\na,1,1\nb,2,1\nc,2,2\n";
    let options = CorrelateOptions { labels: true, ..CorrelateOptions::default() };
    let report = run("scores.csv", text, &options).unwrap();
    assert!(report.scores.is_none());
    assert_eq!(report.labels.unwrap().confusion.table, [[1, 1], [0, 1]]);
}

#[test]
fn rows_without_a_value_are_counted_and_left_out() {
    let text = "{\"item\":1,\"judge\":0.5}\n{\"item\":2,\"judge\":0.4,\"human\":1}\n{\"item\":3,\"judge\":0.9,\"human\":2}\n\
                {\"item\":4,\"judge\":null,\"human\":2}\n{\"item\":5,\"judge\":0.7,\"human\":4}\n";
    let report = run("scores.jsonl", text, &CorrelateOptions::default()).unwrap();
    assert_eq!((report.pairs, report.without_judge, report.without_human), (3, 1, 1));
    assert!(report.conclusion.firmer.iter().any(|text| text.contains("2 of 5 rows are left out")));
}

#[test]
fn a_constant_judge_is_undefined_not_zero() {
    let report = csv("item,judge,human\na,3,1\nb,3,2\nc,3,5\nd,3,4\n").unwrap();
    let json = serde_json::to_value(&report).unwrap();
    let first = &json["scores"]["item_level"]["correlations"][0]["independent"];
    let reason = first["undefined"].as_str().unwrap();
    assert!(reason.contains("no variation"), "{reason}");
    assert!(json["conclusion"]["meaning"][0].as_str().unwrap().contains("cannot be said"));
    assert_eq!(first.get("value"), None::<&Value>);
}

#[test]
fn columns_by_their_role() {
    let columns = |role: &str, name: &str| CorrelateOptions {
        columns: vec![(role.to_owned(), name.to_owned())],
        ..CorrelateOptions::default()
    };
    let text = "item,model_score,human\na,1,1\nb,3,2\nc,2,3\n";
    assert!(run("scores.csv", text, &columns("judge", "model_score")).is_ok());
    let wrong = run("scores.csv", text, &columns("rater", "model_score")).unwrap_err();
    assert_eq!(wrong.to_string(), "there is no role `rater`");
    assert!(wrong.hint().unwrap().contains("`judge`"), "{wrong:?}");
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let message = |text: &str| csv(text).unwrap_err().to_string();
    let twice = message("item,judge,human\na,1,1\nb,2,3\na,2,2\n");
    assert!(twice.contains(":4: `item`: item `a` is already on line 2"), "{twice}");
    let mixed = message("item,judge,human\na,1,1\nb,high,3\nc,2,2\n");
    assert!(mixed.contains(":3: `judge`: `high` is not a finite number"), "{mixed}");
    let infinite = message("item,judge,human\na,1,1\nb,2,inf\nc,2,2\n");
    assert!(infinite.contains(":3: `human`"), "{infinite}");
    let alone = message("item,judge,human\na,1,1\nb,2,\n");
    assert!(alone.contains("1 of 2 rows have both"), "{alone}");
    assert!(message("item,judge,human\na,1,\nb,2,\n").contains("no human value"));
    assert!(message("item,judge,human\n").contains("no rows"));
    assert!(message("").contains("empty"));
    assert!(message("item,human\na,1\n").contains("no column `judge`"));
    let group = message("item,judge,human,group\na,1,1,x\nb,2,2,\n");
    assert!(group.contains(":3: `group`"), "{group}");
}

#[test]
fn questions_without_sense_are_refused() {
    let text = "item,judge,human\na,1,1\nb,2,3\n";
    let confidence = CorrelateOptions { confidence: 1.5, ..CorrelateOptions::default() };
    assert!(run("scores.csv", text, &confidence).unwrap_err().to_string().contains("confidence"));
    let rounds = CorrelateOptions { rounds: 3, ..CorrelateOptions::default() };
    assert!(run("scores.csv", text, &rounds).unwrap_err().to_string().contains("too few"));
    // Two pairs: a value, and neither interval nor p-value.
    let report = csv(text).unwrap();
    let json = serde_json::to_value(&report).unwrap();
    let first = &json["scores"]["item_level"]["correlations"][0]["independent"];
    assert!(first["interval"]["undefined"].as_str().unwrap().contains("at least 4"));
}
