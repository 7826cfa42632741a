//! How sure the numbers are: intervals by group, tests between runs, baselines, gates on evidence.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use serde_json::{Value, json};
use support::Folder;

/// Cases with recorded answers: right where `right` says so, each with a group of its own choice.
fn cases(
    count: usize,
    group: impl Fn(usize) -> Option<Value>,
    right: impl Fn(usize) -> bool,
) -> String {
    let mut lines = String::new();
    for i in 0..count {
        let output = if right(i) { "yes" } else { "no" };
        let mut case =
            json!({"id": format!("q{i}"), "input": "?", "reference": "yes", "output": output});
        if let Some(group) = group(i) {
            case["group"] = group;
        }
        lines.push_str(&format!("{case}\n"));
    }
    lines
}

const EVALUATION: &str =
    "name: check\ndataset: cases.jsonl\nmodels: [recorded]\nscorers: [exact_match]\n";

fn scores(folder: &Folder, more: &str, data: &str) -> Value {
    folder.file("cases.jsonl", data);
    folder.file("fullbench.yaml", format!("{EVALUATION}{more}"));
    let said = folder.run(&["run", "--quiet", "--output", "json"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    said.json()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn cases_of_one_group_count_as_one_observation() {
    // 40 groups of 5 cases, spread over the file, that all agree within a group: 200 values say as much as 40.
    let folder = Folder::new();
    let data = cases(200, |i| Some(json!(format!("text {}", i % 40))), |i| i % 40 < 30);
    let report = scores(&folder, "", &data);
    let score = &report["models"][0]["scores"][0];
    assert_eq!(score["interval"], "t_clustered_by_group");
    assert_eq!(score["clusters"], 40);
    assert_eq!(report["clustering"]["clusters"], 40);
    // The t interval of 40 values, of which 30 are 1: 0.75 ± t(39) · s/√40.
    let half_width = (number(&score["high"]) - number(&score["low"])) / 2.0;
    assert!((half_width - 2.022_690_920 * (0.75f64 * 0.25 / 39.0).sqrt()).abs() < 1e-8, "{score}");
    let shown = folder.run(&["show"]).stdout;
    assert!(shown.contains("Intervals are clustered by `group`: 40 groups."), "{shown}");
    // The same cases without the group pretend to more certainty.
    let alone = scores(&folder, "statistics: { group: false }\n", &data);
    assert_eq!(alone["models"][0]["scores"][0]["interval"], "wilson");
    assert_eq!(alone["clustering"], Value::Null);
    let narrow = &alone["models"][0]["scores"][0];
    assert!(number(&narrow["high"]) - number(&narrow["low"]) < half_width * 1.2);
}

#[test]
fn groups_contain_cases_and_cases_contain_repetitions() {
    let folder = Folder::new();
    let data = cases(60, |i| Some(json!(i % 12)), |i| i % 12 < 9);
    let report = scores(&folder, "repetitions: 3\n", &data);
    let score = &report["models"][0]["scores"][0];
    assert_eq!(
        (&score["interval"], &score["clusters"]),
        (&json!("t_clustered_by_group"), &json!(12))
    );
    assert_eq!(score["count"], 180);
    let sentence = report["clustering"]["sentence"].as_str().unwrap();
    assert!(sentence.contains("12 groups. With so few groups they are rough"), "{sentence}");
    let by_case = scores(&folder, "repetitions: 3\nstatistics: { group: false }\n", &data);
    assert_eq!(by_case["models"][0]["scores"][0]["interval"], "t_clustered");
    assert_eq!(by_case["clustering"]["clusters"], 60);
}

#[test]
fn groups_that_all_agree_get_the_interval_of_their_number() {
    let folder = Folder::new();
    let report = scores(&folder, "", &cases(50, |i| Some(json!(i % 10)), |_| true));
    let score = &report["models"][0]["scores"][0];
    assert_eq!(score["interval"], "wilson_by_group");
    // Wilson for 10 of 10.
    assert!((number(&score["low"]) - 0.722_467_199_7).abs() < 1e-9, "{score}");
    assert_eq!(score["high"], 1.0);
}

#[test]
fn a_case_without_a_group_stands_alone_and_groups_of_one_change_nothing() {
    let folder = Folder::new();
    let some = |i: usize| (i < 20).then(|| json!(format!("g{}", i % 4)));
    let report = scores(&folder, "", &cases(60, some, |i| i % 3 > 0));
    assert_eq!(report["models"][0]["scores"][0]["clusters"], 44);
    assert_eq!(report["clustering"]["cases_without_group"], 40);
    let alone = scores(&folder, "", &cases(60, |i| Some(json!(i)), |i| i % 3 > 0));
    assert_eq!(alone["models"][0]["scores"][0]["interval"], "wilson");
}

#[test]
fn another_field_may_hold_the_group_and_must_exist() {
    let folder = Folder::new();
    let data = cases(40, |i| Some(json!({"id": i % 8})), |i| i % 8 < 5);
    let report = scores(&folder, "statistics: { group: group.id }\n", &data);
    assert_eq!(report["models"][0]["scores"][0]["clusters"], 8);
    let parts = folder.run(&["show", "--by", "output", "--output", "json"]).json();
    let part = &parts["groups"]["values"][0][1][0]["scores"][0];
    assert_eq!((&part["clusters"], &part["interval"]), (&json!(3), &json!("wilson_by_group")));
    folder.file("fullbench.yaml", format!("{EVALUATION}statistics: {{ group: grup }}\n"));
    let said = folder.run(&["run"]);
    assert_eq!(said.code, Some(2));
    assert!(
        said.stderr.contains("`statistics.group`: no case has the field `grup`"),
        "{}",
        said.stderr
    );
    assert!(said.stderr.contains("did you mean `group`?"), "{}", said.stderr);
}
