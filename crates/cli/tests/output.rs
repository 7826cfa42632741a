//! What a user sees: formats, groups, gates, exit codes, reports.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use support::Folder;

/// The example that `init` writes, run.
fn example() -> Folder {
    let folder = Folder::new();
    assert_eq!(folder.run(&["init"]).code, Some(0));
    folder
}

fn without_ids(text: &str) -> String {
    let mut settled = String::new();
    for word in text.split_inclusive([' ', '"', '`', '\n', ',']) {
        let bare = word.trim_end_matches([' ', '"', '`', '\n', ',']);
        let is_id = bare.len() == 36 && bare.matches('-').count() == 4;
        settled.push_str(&if is_id { word.replace(bare, "[run]") } else { word.to_owned() });
    }
    settled
}

#[test]
fn init_writes_an_example_that_runs_and_overwrites_nothing() {
    let folder = example();
    let said = folder.run(&["run"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    insta::assert_snapshot!("table", said.stdout);
    let again = folder.run(&["init"]);
    assert_eq!(again.code, Some(2));
    assert!(again.stderr.contains("exists already"));
}

#[test]
fn every_format_says_the_same() {
    let folder = example();
    folder.run(&["run", "--quiet"]);
    for format in ["csv", "jsonl", "markdown", "junit", "github"] {
        let said = folder.run(&["show", "--output", format]);
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        insta::assert_snapshot!(format, without_ids(&said.stdout));
    }
    let json = folder.run(&["show", "--output", "json"]).json();
    assert_eq!(json["models"][0]["scores"][0]["count"], 24);
}

#[test]
fn groups_add_up_to_the_whole() {
    let folder = example();
    let report = folder.run(&["run", "--by", "category", "--output", "json"]).json();
    let groups = report["groups"]["values"].as_array().unwrap();
    assert_eq!(groups.len(), 3);
    let count: u64 =
        groups.iter().map(|group| group[1][0]["scores"][0]["count"].as_u64().unwrap()).sum();
    assert_eq!(count, report["models"][0]["scores"][0]["count"].as_u64().unwrap());
    assert_eq!(folder.run(&["show", "--by", "categroy"]).code, Some(2));
    assert_eq!(folder.run(&["run", "--by", "categroy"]).code, Some(2));
    let runs = folder.run(&["list", "--output", "json"]).json();
    assert_eq!(runs.as_array().unwrap().len(), 1, "a refused run leaves nothing behind");
}

#[test]
fn a_failed_gate_is_exit_code_1() {
    let folder = example();
    let text = std::fs::read_to_string(folder.path().join("fullbench.yaml")).unwrap();
    folder.file(
        "fullbench.yaml",
        text.replace("numeric_match.mean >= 0.5", "numeric_match.mean >= 0.99"),
    );
    let said = folder.run(&["run"]);
    assert_eq!(said.code, Some(1));
    assert!(
        said.stderr.contains("gate failed: numeric_match.mean >= 0.99 · hasty"),
        "{}",
        said.stderr
    );
}

#[test]
fn the_same_sample_every_time() {
    let folder = example();
    let text = std::fs::read_to_string(folder.path().join("fullbench.yaml")).unwrap();
    folder.file(
        "fullbench.yaml",
        text + "sample: { size: 9, strategy: stratified, by: category, seed: 4 }\n",
    );
    let cases = |folder: &Folder| -> Vec<String> {
        assert_eq!(folder.run(&["run", "--quiet"]).code, Some(0));
        let results = folder.run(&["export"]).json_lines();
        results.iter().map(|result| result["case"].as_str().unwrap().to_owned()).collect()
    };
    let first = cases(&folder);
    assert_eq!(first.len(), 18);
    assert_eq!(first, cases(&folder));
}

#[test]
fn a_diff_names_what_was_fixed_and_what_broke() {
    let folder = example();
    folder.run(&["run", "--quiet"]);
    let data = std::fs::read_to_string(folder.path().join("data/questions.jsonl")).unwrap();
    let changed: Vec<String> = data
        .lines()
        .map(|line| {
            let mut case: serde_json::Value = serde_json::from_str(line).unwrap();
            if case["id"] == "q01" {
                case["answers"]["careful"] = "999999".into();
            }
            case.to_string()
        })
        .collect();
    folder.file("data/questions.jsonl", changed.join("\n"));
    folder.run(&["run", "--quiet"]);
    let runs = folder.run(&["list", "--output", "json"]).json();
    let before = runs[1]["id"].as_str().unwrap().to_owned();
    let diff = folder.run(&["diff", &before, "--output", "json"]).json();
    assert_eq!(diff["changes"].as_array().unwrap().len(), 1, "{diff}");
    assert_eq!(diff["changes"][0]["case"], "q01");
    assert_eq!(diff["changes"][0]["change"], "broken");
    assert!(diff["notes"][0].as_str().unwrap().contains("different data"));
    assert_eq!(folder.run(&["diff", &before]).code, Some(0));
}

#[test]
fn model_output_in_the_report_is_text() {
    let folder = Folder::new();
    folder.file("cases.jsonl", "{\"input\": \"x\", \"output\": \"</script><img src=x onerror=alert(1)>\", \"reference\": \"y\"}\n");
    folder.file(
        "fullbench.yaml",
        "name: \"<b>\"\ndataset: cases.jsonl\nmodels: [recorded]\nscorers: [exact_match]\n",
    );
    assert_eq!(folder.run(&["run", "--html", "report.html"]).code, Some(0));
    let page = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(!page.contains("<img src=x") && !page.contains("<b>"));
    assert!(!page.contains("{{"), "every part is filled in");
}

#[test]
fn missing_references_and_answers_are_unscored() {
    let folder = Folder::new();
    let cases = "{\"id\": 1, \"input\": \"x\", \"output\": \"y\", \"reference\": \"y\"}\n{\"id\": 2, \"input\": \"x\", \"output\": \"y\"}\n{\"id\": 3, \"input\": \"x\", \"reference\": \"y\"}\n";
    folder.file("cases.jsonl", cases);
    folder.file(
        "fullbench.yaml",
        "dataset: cases.jsonl\nmodels: [recorded]\nscorers: [exact_match]\n",
    );
    let said = folder.run(&["run", "--output", "json"]);
    assert_eq!(said.code, Some(3));
    let scores = said.json()["models"][0]["scores"][0].clone();
    assert_eq!(scores["mean"], 1.0);
    assert_eq!(
        scores["unscored"],
        serde_json::json!({"missing_reference": 1, "provider_error": 1})
    );
    assert!((scores["worst_mean"].as_f64().unwrap() - 1.0 / 3.0).abs() < 1e-12);
    assert_eq!(scores["best_mean"], 1.0);
}

#[test]
fn estimates_cost_nothing_and_doctor_shows_no_key() {
    let folder = Folder::new();
    folder.file("cases.jsonl", support::arithmetic(10));
    folder.file("fullbench.yaml", support::evaluation("http://127.0.0.1:9", 5, ""));
    let estimate = folder.run(&["estimate", "--output", "json"]).json();
    assert_eq!(estimate["units"], 10);
    assert!(estimate["usd"][0].as_f64().unwrap() < estimate["usd"][1].as_f64().unwrap());
    let doctor = support::said(
        folder
            .command(&["doctor", "--offline"])
            .env("OPENAI_API_KEY", "sk-secret")
            .output()
            .unwrap(),
    );
    assert!(!doctor.stdout.contains("sk-secret"));
}

#[test]
fn two_scorers_of_one_definition_both_have_their_numbers() {
    let folder = Folder::new();
    folder.file("cases.jsonl", "{\"input\": \"x\", \"output\": \"y\", \"reference\": \"y\"}\n");
    let scorers = "[{ type: exact_match, name: first }, { type: exact_match, name: second }]";
    folder.file(
        "fullbench.yaml",
        format!("dataset: cases.jsonl\nmodels: [recorded]\nscorers: {scorers}\n"),
    );
    let report = folder.run(&["run", "--output", "json"]).json();
    let means: Vec<&serde_json::Value> = report["models"][0]["scores"]
        .as_array()
        .unwrap()
        .iter()
        .map(|scores| &scores["mean"])
        .collect();
    assert_eq!(means, [&serde_json::json!(1.0), &serde_json::json!(1.0)]);
}

#[test]
fn escape_sequences_of_a_model_do_not_reach_the_terminal() {
    let folder = Folder::new();
    folder.file(
        "cases.jsonl",
        "{\"id\": \"a\", \"input\": \"x\", \"output\": \"\\u001b[2Jgone\", \"reference\": \"y\"}\n",
    );
    folder.file(
        "fullbench.yaml",
        "dataset: cases.jsonl\nmodels: [recorded]\nscorers: [exact_match]\n",
    );
    folder.run(&["run", "--quiet"]);
    let said = folder.run(&["show", "--case", "a"]);
    assert!(said.stdout.contains("gone") && !said.stdout.contains('\u{1b}'), "{}", said.stdout);
}
