//! Pass marks suggested from labels of people.
#![allow(clippy::unwrap_used)]

mod support;

use serde_json::json;
use support::Folder;

/// Twenty answers that a judge scored 1 to 5; people pass those from 4 on.
fn judged() -> Folder {
    let folder = Folder::new();
    let score = |number: u32| 1 + number % 5;
    let cases: String = (0..20)
        .map(|number| format!("{}\n", json!({"id": format!("c{number}"), "input": "q", "output": "a", "human": score(number)})))
        .collect();
    folder.file("cases.jsonl", cases);
    let replies: String = (0..20)
        .map(|number| {
            format!(
                "{}\n",
                json!({"id": format!("c{number}"), "replies": [score(number).to_string()]})
            )
        })
        .collect();
    folder.file("replies.jsonl", replies);
    let labels: String = (0..20)
        .map(|number| format!("c{number},{}\n", if score(number) >= 4 { "pass" } else { "fail" }))
        .collect();
    folder.file("labels.csv", format!("id,label\n{labels}other,pass\n"));
    folder.file(
        "fullbench.yaml",
        "dataset: cases.jsonl\nmodels: [recorded]\nscorers: [{ type: g_eval, criterion: clarity, steps: [read], replies: replies.jsonl }]\n",
    );
    assert_eq!(folder.run(&["run", "--quiet"]).code, Some(0));
    folder
}

#[test]
fn a_mark_is_found_from_labels_of_stored_judgements() {
    let folder = judged();
    let said =
        folder.run(&["threshold", "suggest", "clarity", "--labels", "labels.csv", "-o", "json"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let found = &said.json()["suggestion"];
    // 3 of 1 to 5 is 0.5 and fails, 4 is 0.75 and passes.
    assert_eq!((found["pairs"].as_u64(), found["mark"].as_f64()), (Some(20), Some(0.625)));
    assert_eq!(found["accuracy"].as_f64(), Some(1.0));
    assert!(said.stderr.contains("1 labels belong to no stored judgement"), "{}", said.stderr);
    let table = folder.run(&["threshold", "suggest", "clarity", "--labels", "labels.csv"]);
    assert!(table.stderr.contains("fullbench threshold add clarity 0.6`"), "{}", table.stderr);
}

#[test]
fn a_mark_is_found_from_a_check_or_from_scores_of_any_kind() {
    let folder = judged();
    let check = folder.run(&[
        "judge",
        "check",
        "g_eval",
        "--from",
        "fullbench.yaml",
        "--data",
        "cases.jsonl",
        "--quiet",
    ]);
    assert_eq!(check.code, Some(0), "{}", check.stderr);
    let from =
        ["threshold", "suggest", "clarity", "--check", "latest", "--pass", "4", "-o", "json"];
    let said = folder.run(&from);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(said.json()["suggestion"]["mark"].as_f64(), Some(0.625));
    folder.file("scores.csv", "score,label\n0.1,fail\n0.2,0\n0.4,no\n0.8,pass\n0.9,1\n0.3,\n");
    let said =
        folder.run(&["threshold", "suggest", "clarity", "--labels", "scores.csv", "-o", "json"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let found = &said.json()["suggestion"];
    assert_eq!((found["pairs"].as_u64(), found["passing"].as_u64()), (Some(5), Some(2)));
    assert!((found["mark"].as_f64().unwrap() - 0.6).abs() < 1e-12);
}

#[test]
fn labels_that_cannot_be_used_are_named() {
    let folder = judged();
    let refused = |arguments: &[&str], told: &[&str]| {
        let said = folder.run(&[&["threshold", "suggest"], arguments].concat());
        assert_eq!(said.code, Some(2), "{arguments:?}: {}{}", said.stdout, said.stderr);
        for told in told {
            assert!(said.stderr.contains(told), "{arguments:?}: {}", said.stderr);
        }
    };
    refused(&["nope", "--labels", "labels.csv"], &["no criterion `nope`"]);
    refused(&["clarity", "--labels", "missing.csv"], &["missing.csv"]);
    folder.file("odd.csv", "id,label\nc1,pass\nc2,maybe\n");
    refused(&["clarity", "--labels", "odd.csv"], &["odd.csv:3", "label", "maybe"]);
    folder.file("twice.csv", "id,label\nc1,pass\nc1,fail\n");
    refused(&["clarity", "--labels", "twice.csv"], &["twice.csv:3", "two rows have the id `c1`"]);
    folder.file("equal.csv", "id,label\nc1,pass\nc2,pass\n");
    refused(&["clarity", "--labels", "equal.csv"], &["equal"]);
    refused(&["clarity", "--check", "latest", "--pass", "4"], &["is no check of a judge"]);
    refused(&["clarity", "--labels", "labels.csv", "--goal", "best"], &["balanced"]);
}
