//! Scores after the run: further scorers, and people.
#![allow(clippy::unwrap_used)]

mod support;

use serde_json::json;
use support::Folder;

const EVALUATION: &str = "\
cases:
  - { id: a, input: 1 + 1, reference: '2', output: '2' }
  - { id: b, input: 2 + 2, reference: '4', output: 'four' }
models: [recorded]
scorers: [exact_match]
";

fn ran() -> Folder {
    let folder = Folder::new();
    folder.file("fullbench.yaml", EVALUATION);
    let said = folder.run(&["run", "--quiet"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    folder
}

#[test]
fn a_run_gets_further_scores_without_its_models() {
    let folder = ran();
    let said =
        folder.run(&["rescore", "--quiet", "--scorers", "token_f1,json_valid", "-o", "json"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let report = said.json();
    let names: Vec<&str> = report["scorers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["exact_match", "token_f1", "json_valid"]);
    let shown = folder.run(&["show", "-o", "json"]).json();
    assert_eq!(shown["models"], report["models"]);
    let scores = &report["models"][0]["scores"];
    assert_eq!((&scores[0]["mean"], &scores[2]["mean"]), (&json!(0.5), &json!(0.5)));
    // Again, with one that is there and one that is new.
    let again = folder.run(&["rescore", "--quiet", "--scorers", "token_f1,rouge_l", "-o", "json"]);
    assert_eq!(again.json()["scorers"].as_array().unwrap().len(), 4);
    let exported = folder.run(&["export"]).json_lines();
    assert_eq!(exported[1]["scores"].as_object().unwrap().len(), 4);
}

#[test]
fn scorers_of_a_file_are_checked_before_anything_changes() {
    let folder = ran();
    folder.file("more.yaml", "scorers:\n  - type: regex\n    patterns: ['(']\n");
    let said = folder.run(&["rescore", "--scorers", "more.yaml"]);
    assert_eq!(said.code, Some(2));
    assert!(
        said.stderr.contains("more.yaml:3") && said.stderr.contains("patterns"),
        "{}",
        said.stderr
    );
    folder.file("other.yaml", "scorers:\n  - { type: contains, values: [x], name: exact_match }\n");
    let said = folder.run(&["rescore", "--scorers", "other.yaml"]);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("exact_match"), "{}", said.stderr);
    let said = folder.run(&["rescore", "--scorers", "exact_mach"]);
    assert!(said.code == Some(2) && said.stderr.contains("exact_match"), "{}", said.stderr);
    assert_eq!(folder.run(&["show", "-o", "json"]).json()["scorers"].as_array().unwrap().len(), 1);
}

#[test]
fn embeddings_that_a_budget_does_not_see_are_refused_before_anything_changes() {
    let embedded = "\
scorers:
  - { type: semantic_similarity, model: \"openai:e\", base_url: \"http://models.example/v1\" }
";
    let folder = ran();
    folder.file("more.yaml", embedded);
    let refused = |folder: &Folder, arguments: &[&str]| {
        let said = folder.run(arguments);
        assert_eq!(said.code, Some(2), "{}", said.stderr);
        assert!(said.stderr.contains("is not counted"), "{}", said.stderr);
        let shown = folder.run(&["show", "-o", "json"]).json();
        assert_eq!(shown["scorers"].as_array().unwrap().len(), 1);
        assert_eq!(folder.run(&["resume", "--quiet"]).code, Some(0), "nothing is left to do");
    };
    refused(&folder, &["rescore", "--scorers", "more.yaml", "--budget", "1"]);
    folder.file("fullbench.yaml", format!("{EVALUATION}budget: {{ usd: 1 }}\n"));
    assert_eq!(folder.run(&["run", "--quiet"]).code, Some(0));
    refused(&folder, &["rescore", "--scorers", "more.yaml"]);
}

#[test]
fn a_person_scores_what_waits_for_one() {
    let folder = ran();
    folder.file(
        "people.yaml",
        "\
scorers:
  - { type: human_review, max_score: 5, threshold: 0.7 }
  - type: scorecard
    criteria:
      - { name: correct, weight: 3, scorer: exact_match }
      - { name: tone, weight: 1, scorer: exact_match, person_decides: true }
",
    );
    let said = folder.run(&["rescore", "--quiet", "--scorers", "people.yaml", "-o", "json"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let human = &said.json()["models"][0]["scores"][1];
    assert_eq!((&human["mean"], &human["unscored"]["pending_human"]), (&json!(null), &json!(2)));
    let pending = folder.run(&["review", "list", "-o", "json"]).json();
    assert_eq!(pending.as_array().unwrap().len(), 4);
    assert_eq!(pending[1]["criterion"], "tone");

    let score = |more: &[&str]| {
        let all = [&["review", "score", "--by", "ana"][..], more].concat();
        folder.run(&all)
    };
    let said =
        score(&["--case", "a", "--score", "4", "--scorer", "human_review", "--note", "fine"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let said =
        score(&["--case", "a", "--score", "40", "--scorer", "scorecard", "--criterion", "tone"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let exported = folder.run(&["export"]).json_lines();
    let scores = &exported[0]["scores"];
    assert_eq!(
        (&scores["human_review"]["value"], &scores["human_review"]["outcome"]),
        (&json!(0.8), &json!("passed"))
    );
    assert_eq!(
        (&scores["scorecard"]["raw"], &scores["scorecard"]["evidence"]["criteria"][1]["reviewer"]),
        (&json!(85.0), &json!("ana"))
    );
    assert_eq!(folder.run(&["review", "list", "-o", "json"]).json().as_array().unwrap().len(), 2);

    for (wrong, told) in [
        (&["--case", "a", "--score", "9", "--scorer", "human_review"][..], "0 to 5"),
        (&["--case", "z", "--score", "1", "--scorer", "human_review"][..], "`z`"),
        (&["--case", "a", "--score", "1"][..], "--scorer"),
        (&["--case", "a", "--score", "1", "--scorer", "scorecard"][..], "tone"),
        (&["--case", "a", "--score", "1", "--scorer", "exact_match"][..], "human_review"),
    ] {
        let said = score(wrong);
        assert!(said.code == Some(2) && said.stderr.contains(told), "{wrong:?}: {}", said.stderr);
    }
}

#[test]
fn people_who_score_at_the_same_time_lose_nothing() {
    let folder = ran();
    folder.run(&["rescore", "--quiet", "--scorers", "human_review"]);
    let points = ["0.1", "0.2", "0.3", "0.4", "0.5", "0.6"];
    let children: Vec<_> = points
        .iter()
        .map(|points| {
            let arguments = ["review", "score", "--case", "a", "--by", "ana", "--score", points];
            folder.command(&arguments).spawn().unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let database = folder.path().join(".fullbench/fullbench.db");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let revisions = runtime.block_on(async {
        let store = fullbench_store::Store::open(database.parent().unwrap()).await.unwrap();
        let store = store.scoped(fullbench_types::DEFAULT_ORGANIZATION);
        let run = store.find_run("latest").await.unwrap();
        let detail = fullbench_store::ResultDetail::Full;
        let page = store.results_after(run.id, None, 1, detail).await.unwrap();
        page[0].scores.iter().map(|entry| entry.revision).max().unwrap()
    });
    assert_eq!(revisions, points.len() as u32);
}
