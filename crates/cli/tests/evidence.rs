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

/// Runs recorded answers; the values of `marks` are graded from 0 to 1 in steps of a quarter.
fn record(folder: &Folder, more: &str, answers: impl Iterator<Item = &'static str>) -> String {
    let lines = answers.enumerate().map(|(i, output)| {
        json!({"id": format!("q{i}"), "input": "?", "reference": "abcd", "output": output, "text": i / 2})
            .to_string()
    });
    folder.file("cases.jsonl", lines.collect::<Vec<_>>().join("\n"));
    folder.file("fullbench.yaml", format!("{GRADED}{more}"));
    let said = folder.run(&["run", "--quiet", "--output", "json"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    said.json()["id"].as_str().unwrap().to_owned()
}

const GRADED: &str = "name: check
dataset: cases.jsonl
models: [recorded]
scorers:
  - exact_match
  - { type: regex, name: marks, patterns: [a, b, c, d], mode: share }
";

fn diff(folder: &Folder, arguments: &[&str]) -> Value {
    let said = folder.run(&[&["diff", "--output", "json"], arguments].concat());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    said.json()
}

#[test]
fn a_diff_tests_what_changed() {
    let folder = Folder::new();
    // 12 fixed, 2 broken, 86 same.
    let before = record(&folder, "", (0..100).map(|i| if i < 12 { "ab" } else { "abcd" }));
    record(&folder, "", (0..100).map(|i| if (12..14).contains(&i) { "abc" } else { "abcd" }));
    let report = diff(&folder, &[&before]);
    let exact = &report["counts"][0]["evidence"];
    assert_eq!(exact["test"], "mcnemar_exact");
    // (1 + 14 + 91) / 2¹³
    assert!((number(&exact["p_value"]) - 106.0 / 8192.0).abs() < 1e-12, "{exact}");
    assert!((number(&exact["adjusted_p_value"]) - 106.0 / 8192.0).abs() < 1e-12, "{exact}");
    assert!((number(&exact["interval"]["low"]) - 0.031_000_519).abs() < 1e-7, "{exact}");
    assert_eq!(exact["verdict"], "better");
    let graded = &report["counts"][1]["evidence"];
    assert_eq!((&graded["test"], &graded["interval_method"]), (&json!("paired_t"), &json!("t")));
    // 12 differences of 0.5 and 2 of −0.25 among 100; p by scipy's ttest_rel.
    assert!((number(&graded["difference"]) - 0.055).abs() < 1e-12, "{graded}");
    let p = number(&graded["p_value"]);
    assert!((p - 0.001_540_971_220_676_67).abs() < 1e-12, "{graded}");
    assert!((number(&graded["adjusted_p_value"]) - 2.0 * p).abs() < 1e-12, "Holm over two tests");
    assert_eq!(report["counts"][0]["changes"], json!({"fixed": 12, "broken": 2, "same": 86}));
    let shown = folder.run(&["diff", &before]).stdout;
    assert!(
        shown.contains("`exact_match` of recorded is better: 0.8800 before, 0.9800 after"),
        "{shown}"
    );
    insta::assert_snapshot!("diff", shown);
}

#[test]
fn without_variation_there_is_no_test_and_no_p_value() {
    let folder = Folder::new();
    let before = record(&folder, "", (0..10).map(|_| "abc"));
    let middle = record(&folder, "", (0..10).map(|_| "ab"));
    let report = diff(&folder, &[&before, &middle]);
    let marks = &report["counts"][1]["evidence"];
    assert_eq!((&marks["verdict"], &marks["p_value"]), (&json!("undefined"), &Value::Null));
    assert!((number(&marks["difference"]) + 0.25).abs() < 1e-12, "the difference is shown");
    assert!(marks["undefined"].as_str().unwrap().contains("no variation"), "{marks}");
    assert_eq!(report["counts"][0]["evidence"]["verdict"], "identical");
    let shown = folder.run(&["diff", &before, &middle]).stdout;
    assert!(shown.contains("Not tested: `marks` of recorded: no variation"), "{shown}");
    assert!(shown.contains("Identical in every pair: `exact_match` of recorded."), "{shown}");
}

#[test]
fn repetitions_and_groups_are_not_counted_as_independent() {
    let folder = Folder::new();
    let answers = |fixed: usize| (0..40).map(move |i| if i < fixed { "abcd" } else { "ab" });
    let before = record(&folder, "repetitions: 3\n", answers(0));
    let after = record(&folder, "repetitions: 3\n", answers(8));
    let evidence = diff(&folder, &[&before, &after])["counts"][0].clone();
    assert_eq!(evidence["pairs"], 120);
    let evidence = &evidence["evidence"];
    assert_eq!(evidence["test"], "clustered_paired_t");
    assert_eq!((&evidence["observation"], &evidence["observations"]), (&json!("case"), &json!(40)));
    // The t interval of 40 differences, 8 of them 1.
    let half_width =
        (number(&evidence["interval"]["high"]) - number(&evidence["interval"]["low"])) / 2.0;
    assert!((half_width - 2.022_690_920 * (0.2f64 * 0.8 / 39.0).sqrt()).abs() < 1e-8, "{evidence}");
    let grouped = "statistics: { group: text }\n";
    let before = record(&folder, grouped, answers(0));
    let after = record(&folder, grouped, answers(8));
    let evidence = diff(&folder, &[&before, &after])["counts"][0]["evidence"].clone();
    assert_eq!(
        (&evidence["observation"], &evidence["observations"]),
        (&json!("group"), &json!(20))
    );
}

#[test]
fn within_a_margin_runs_are_equivalent() {
    let folder = Folder::new();
    let wrong = |from: usize| {
        (0..1200).map(move |i| if (from..from + 3).contains(&i) { "ab" } else { "abcd" })
    };
    let before = record(&folder, "", wrong(0));
    let after = record(&folder, "", wrong(600));
    let verdict = |arguments: &[&str]| {
        let all = [&[before.as_str(), after.as_str()], arguments].concat();
        diff(&folder, &all)["counts"][0]["evidence"]["verdict"].clone()
    };
    assert_eq!(verdict(&[]), "no evidence".replace(' ', "_"));
    assert_eq!(verdict(&["--margin", "0.02"]), "equivalent");
    assert_eq!(verdict(&["--margin", "0.001"]), "no_evidence");
    assert_eq!(folder.run(&["diff", &before, "--margin", "2"]).code, Some(2));
}

#[test]
fn a_baseline_is_named_where_a_run_is() {
    let folder = Folder::new();
    let first = record(&folder, "", (0..10).map(|_| "ab"));
    let refused = folder.run(&["diff", "check"]);
    assert_eq!(refused.code, Some(2), "the newest run of a name is the latest run");
    assert!(refused.stderr.contains("are the same run"), "{}", refused.stderr);
    assert_eq!(folder.run(&["baseline", "set", "main", &first]).code, Some(0));
    let second = record(&folder, "", (0..10).map(|_| "abcd"));
    let report = diff(&folder, &["main", "latest"]);
    assert_eq!((&report["before"], &report["after"]), (&json!(first), &json!(second)));
    assert_eq!(folder.run(&["show", "main", "--output", "json"]).json()["id"], json!(first));
    let listed = folder.run(&["baseline", "list", "--output", "json"]).json();
    assert_eq!((&listed[0]["name"], &listed[0]["run"]), (&json!("main"), &json!(first)));
    for wrong in [
        ["set", "check", "latest"].as_slice(),
        &["set", "latest", "latest"],
        &["set", "two words", "latest"],
        &["set", "other", "nothing"],
        &["remove", "other"],
    ] {
        let said = folder.run(&[&["baseline"], wrong].concat());
        assert_eq!(said.code, Some(2), "{wrong:?}");
        assert!(said.stderr.contains("hint: "), "{wrong:?}: {}", said.stderr);
    }
    assert_eq!(folder.run(&["baseline", "remove", "main"]).code, Some(0));
    assert_eq!(folder.run(&["show", "main"]).code, Some(2));
}

const NO_REGRESSION: &str =
    "gates: ['no_regression(exact_match, baseline: \"main\", margin: 0.02)']\n";

/// A baseline of so many cases that are all right, then a run in which the first `broken` are wrong.
fn gated(cases: usize, broken: usize, gates: &str) -> (Folder, support::Said) {
    let folder = Folder::new();
    record(&folder, "", (0..cases).map(|_| "abcd"));
    assert_eq!(folder.run(&["baseline", "set", "main"]).code, Some(0));
    let lines = (0..cases).map(|i| {
        let output = if i < broken { "ab" } else { "abcd" };
        json!({"id": format!("q{i}"), "input": "?", "reference": "abcd", "output": output, "text": i / 2})
            .to_string()
    });
    folder.file("cases.jsonl", lines.collect::<Vec<_>>().join("\n"));
    folder.file("fullbench.yaml", format!("{GRADED}{gates}"));
    let said = folder.run(&["run"]);
    (folder, said)
}

#[test]
fn a_gate_fails_only_when_the_data_show_a_regression() {
    let (folder, said) = gated(200, 20, NO_REGRESSION);
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    assert!(said.stderr.contains("gate failed: no_regression("), "{}", said.stderr);
    let gate = folder.run(&["show", "--output", "json"]).json()["gates"][0].clone();
    assert_eq!((&gate["passed"], &gate["warning"]), (&json!(false), &Value::Null));
    assert_eq!(gate["evidence"][0]["evidence"]["verdict"], "worse");
    assert_eq!(gate["evidence"][0]["margin"], 0.02);

    let (_, said) = gated(1000, 1, NO_REGRESSION);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(!said.stderr.contains("gate") && said.stdout.contains("yes"), "{}", said.stderr);
}

#[test]
fn a_gate_warns_when_the_run_is_too_small_to_tell() {
    // Four broken of 24: worse, perhaps; 24 cases cannot tell 0.02.
    let (folder, said) = gated(24, 4, NO_REGRESSION);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stderr.contains("gate warns: no_regression("), "{}", said.stderr);
    assert!(said.stderr.contains("too small to tell"), "{}", said.stderr);
    assert!(said.stdout.contains("CANNOT TELL"), "{}", said.stdout);
    insta::assert_snapshot!("warning_gate", said.stdout);
    let show = |format: &str| folder.run(&["show", "--output", format]).stdout;
    assert!(show("markdown").contains("⚠️ cannot tell"));
    assert!(show("github").contains("::warning title=gate cannot tell::recorded: no_regression("));
    assert!(show("junit").contains("<system-out>warning: too small to tell"));
    assert!(show("junit").contains("<testsuite name=\"gates\" tests=\"1\" failures=\"0\">"));
    let gate = &folder.run(&["show", "--output", "json"]).json()["gates"][0];
    assert!(gate["warning"].as_str().unwrap().contains("cases would tell"), "{gate}");
    // Even if nothing changed: so few cases say little about others.
    let (_, said) = gated(24, 0, NO_REGRESSION);
    assert_eq!(said.code, Some(0));
    assert!(
        said.stderr.contains("if nothing really changed, about 189 cases would tell"),
        "{}",
        said.stderr
    );
}

#[test]
fn too_few_changes_can_show_no_difference() {
    // Two broken of 20: at least six changes, all one way, are needed for a p-value below 5%.
    let (folder, _) = gated(20, 2, "");
    let report = diff(&folder, &["main"]);
    let evidence = &report["counts"][0]["evidence"];
    assert_eq!(evidence["test"], "mcnemar_exact");
    assert_eq!(evidence["minimum_detectable_effect"], Value::Null);
    let firmer = report["firmer"].as_str().unwrap();
    assert!(firmer.contains("20 cases, of which so few change, cannot show any"), "{firmer}");
    let within = diff(&folder, &["main", "--margin", "0.06"]);
    let firmer = within["firmer"].as_str().unwrap();
    // 0.1 · (1.6449 + 1.2816)² / 0.06² = 237.9
    assert!(firmer.contains("If nothing really changed, about 238 cases"), "{firmer}");
    let within = diff(&folder, &["main", "--margin", "0.6"]);
    let told = within["conclusion"].to_string();
    assert!(told.contains("at the 5% level") && !told.contains("is smaller than"), "{told}");
}

#[test]
fn few_groups_are_called_rough_in_a_diff_too() {
    let folder = Folder::new();
    let grouped = "statistics: { group: text }\n";
    let answers = |fixed: usize| (0..40).map(move |i| if i < fixed { "abcd" } else { "ab" });
    let before = record(&folder, grouped, answers(0));
    let after = record(&folder, grouped, answers(8));
    let told = diff(&folder, &[&before, &after])["conclusion"].to_string();
    assert!(
        told.contains("20 groups. With so few groups intervals and p-values are rough"),
        "{told}"
    );
}

#[test]
fn a_gate_says_how_much_of_its_baseline_is_compared() {
    let folder = Folder::new();
    record(&folder, "", (0..200).map(|_| "abcd"));
    assert_eq!(folder.run(&["baseline", "set", "main"]).code, Some(0));
    record(&folder, NO_REGRESSION, (0..20).map(|_| "abcd"));
    let gate = folder.run(&["show", "--output", "json"]).json()["gates"][0].clone();
    let detail = gate["detail"].as_str().unwrap();
    assert!(detail.contains("the data differ from the baseline's"), "{detail}");
    assert!(detail.contains("20 of the baseline's 200 cases are compared"), "{detail}");
    assert!(!detail.contains("this run's"), "{detail}");
}

#[test]
fn a_negated_gate_is_refused() {
    let folder = Folder::new();
    record(&folder, "", (0..10).map(|_| "abcd"));
    let negated = NO_REGRESSION.replace("no_regression", "not no_regression");
    folder.file("fullbench.yaml", format!("{GRADED}{negated}"));
    let said = folder.run(&["run"]);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("negates `no_regression`"), "{}", said.stderr);
}

#[test]
fn evidence_combines_with_other_conditions() {
    let with = |condition: &str| gated(24, 4, &format!("gates: ['{condition}']\n")).1;
    let call = "no_regression(exact_match, baseline=\"main\", margin=0.02)";
    let said = with(&format!("{call} and exact_match.mean > 0.9"));
    assert_eq!(said.code, Some(1));
    let plain = "gates:\n  - no_regression(exact_match, baseline: \"main\", margin: 0.02)\n";
    let said = gated(24, 4, plain).1;
    assert!(said.stderr.contains("gate warns"), "quotes are not needed: {}", said.stderr);
    let said = with(&format!("exact_match.mean > 0.5 or {call}"));
    assert_eq!(said.code, Some(0));
    assert!(!said.stderr.contains("gate warns"), "it holds either way: {}", said.stderr);
}

#[test]
fn a_gate_stays_with_the_run_its_baseline_stood_for() {
    let (folder, _) = gated(200, 20, NO_REGRESSION);
    assert_eq!(folder.run(&["baseline", "set", "main", "latest"]).code, Some(0));
    let gate = &folder.run(&["show", "--output", "json"]).json()["gates"][0];
    assert_eq!(gate["passed"], false);
    assert_eq!(folder.run(&["baseline", "remove", "main"]).code, Some(0));
    assert_eq!(folder.run(&["show", "--output", "json"]).json()["gates"][0]["passed"], false);
}

#[test]
fn what_a_baseline_cannot_be_compared_with_does_not_hold() {
    let folder = Folder::new();
    record(&folder, "", (0..30).map(|_| "abcd"));
    folder.run(&["baseline", "set", "main"]);
    let redefined = GRADED.replace("- exact_match", "- { type: exact_match, ignore_case: true }");
    folder.file("fullbench.yaml", format!("{redefined}{NO_REGRESSION}"));
    let said = folder.run(&["run"]);
    assert_eq!(said.code, Some(1));
    assert!(
        said.stderr.contains("`exact_match` is defined differently in the baseline"),
        "{}",
        said.stderr
    );
    let renamed = GRADED.replace("- exact_match", "- { type: exact_match, name: same }");
    let gates = NO_REGRESSION.replace("exact_match", "same");
    folder.file("fullbench.yaml", format!("{renamed}{gates}"));
    let said = folder.run(&["run"]);
    assert_eq!(said.code, Some(1));
    assert!(said.stderr.contains("has no value of `same`"), "{}", said.stderr);
}

#[test]
fn a_missing_baseline_is_told_before_anything_is_spent() {
    let folder = Folder::new();
    record(&folder, "", (0..10).map(|_| "abcd"));
    folder.file("fullbench.yaml", format!("{GRADED}{NO_REGRESSION}"));
    let said = folder.run(&["run"]);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("`gates[0]`: there is no baseline `main`"), "{}", said.stderr);
    assert!(said.stderr.contains("fullbench baseline set main latest"), "{}", said.stderr);
    let runs = folder.run(&["list", "--output", "json"]).json();
    assert_eq!(runs.as_array().unwrap().len(), 1, "a refused run leaves nothing behind");
    let estimate = folder.run(&["estimate"]);
    assert_eq!(estimate.code, Some(0));
    assert!(estimate.stderr.contains("there is no baseline `main`"), "{}", estimate.stderr);
}
