//! Real benchmark data, where it is at hand: GSM8K with recorded answers of four models.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

mod support;

use std::path::PathBuf;

use support::Folder;

fn data() -> Option<PathBuf> {
    let root = std::env::var_os("FULLBENCH_DATA").map(PathBuf::from);
    let root = root.unwrap_or_else(|| {
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"))
    });
    let file = root.join("gsm8k/example_model_solutions.jsonl");
    if !file.exists() {
        eprintln!("SKIPPED: {} is not here", file.display());
    }
    file.exists().then(|| file.canonicalize().unwrap())
}

#[test]
fn gsm8k_scores_agree_with_the_published_flags() {
    let Some(file) = data() else { return };
    let models = ["6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification"];
    let entries: String = models
        .iter()
        .map(|name| format!("  - {{ provider: recorded, name: {name}, field: {name}.solution }}\n"))
        .collect();
    let folder = Folder::new();
    folder.file("fullbench.yaml", format!("dataset: {}\ninput: question\nreference: ground_truth\nmodels:\n{entries}scorers: [numeric_match]\n", file.display()));
    let said = folder.run(&["run", "--output", "json"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let report = said.json();
    let text = std::fs::read_to_string(&file).unwrap();
    let cases: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (index, name) in models.iter().enumerate() {
        let flagged = cases.iter().filter(|case| case[name]["is_correct"] == true).count() as u64;
        let scores = &report["models"][index]["scores"][0];
        let passed = scores["passed"].as_u64().unwrap();
        assert_eq!(scores["count"], cases.len());
        assert_eq!(passed, flagged, "{name}");
    }
}
