//! Scores by embeddings and BERTScore, and near-duplicates of data sets, through the binary. A tiny model with made-up
//! weights is always there; the real one is where `FULLBENCH_MINILM` says, which `scripts/test` sets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

mod support;

use std::path::{Path, PathBuf};

use fullbench_simllm::SimulatorConfig;
use serde_json::{Value, json};
use support::{Folder, Said, said, simulator};

const TINY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../embed/tests/fixtures/tiny-roberta");

/// The folder of weights that has the real model.
fn weights() -> Option<PathBuf> {
    let model = std::env::var_os("FULLBENCH_MINILM");
    if model.is_none() {
        eprintln!("SKIPPED: FULLBENCH_MINILM is not set");
    }
    Some(Path::new(&model?).parent().unwrap().to_owned())
}

fn run(folder: &Folder, weights: &Path, arguments: &str) -> Said {
    let words: Vec<&str> = arguments.split_whitespace().collect();
    said(folder.command(&words).env("FULLBENCH_WEIGHTS", weights).output().unwrap())
}

fn near(value: &Value, expected: f64) {
    let value = value.as_f64().unwrap();
    assert!((value - expected).abs() < 1e-5, "{value} instead of {expected}");
}

fn texts() -> Folder {
    let folder = Folder::new();
    folder.file(
        "h.txt",
        "The cat sat on the mat.\nIt costs $1,000.50, doesn't it?\nHe went to school yesterday\nDer Hund läuft schnell.\n",
    );
    folder.file(
        "r1.txt",
        "The cat is sitting on the mat.\nIt costs $1,000.50, does it not?\nHe went to school yesterday.\nDer Hund läuft sehr schnell.\n",
    );
    folder.file(
        "r2.txt",
        "A cat sits on a mat.\nThe price is $1,000.50.\nYesterday, he went to school.\nSchnell läuft der Hund.\n",
    );
    folder
}

/// Expected numbers: bert-score 0.3.13 in batches of one, sentence-transformers 6.2.0.
#[test]
fn metrics_are_those_of_the_libraries() {
    let Some(weights) = weights() else { return };
    let folder = texts();
    let files = "--hyp h.txt --ref r1.txt --ref r2.txt --output json";
    let score = |options: &str| {
        let report = run(&folder, &weights, &format!("metric {options} {files}")).json();
        (report["systems"][0]["score"].clone(), report["signature"].as_str().unwrap().to_owned())
    };
    for (options, expected) in [
        ("bert_score", 0.945_003_8),
        ("bert_score --measure precision", 0.954_253),
        ("bert_score --measure recall", 0.941_494_1),
        ("bert_score --idf", 0.941_711_7),
        ("bert_score --layer 3", 0.942_454_2),
        ("semantic_similarity", 0.969_084_2),
    ] {
        near(&score(options).0, expected);
    }
    let signature = score("bert_score --idf --layer 3").1;
    assert!(signature.starts_with(
        "bert_score|nrefs:2|bs:1000|seed:12345|measure:f1|all-minilm-l6-v2_L3_idf_version=0.3.13"
    ));
    let lines =
        run(&folder, &weights, &format!("metric semantic_similarity {files} --level sentence"));
    near(&lines.json()["systems"][0]["scores"][1], 0.970_752_1);
}

#[test]
fn long_lines_are_told() {
    let folder = texts();
    folder.file("long.txt", format!("{}\n", "word ".repeat(300)));
    let said = folder.run(&[
        "metric",
        "bert_score",
        "--model",
        TINY,
        "--hyp",
        "long.txt",
        "--ref",
        "long.txt",
        "--output",
        "json",
    ]);
    assert_eq!(said.json()["systems"][0]["truncated"], 1);
    assert!(said.stderr.contains("longer than the model reads"), "{}", said.stderr);
}

/// An evaluation of recorded answers by a model in a folder beside it.
fn evaluation() -> Folder {
    let folder = Folder::new();
    for file in ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"] {
        folder.file(
            &format!("models/tiny/{file}"),
            std::fs::read(Path::new(TINY).join(file)).unwrap(),
        );
    }
    folder.file(
        "fullbench.yaml",
        "dataset: cases.jsonl\nmodels: [recorded]\nscorers:\n  - { type: semantic_similarity, model: models/tiny, threshold: 0.99999 }\n  - { type: bert_score, model: models/tiny }\n",
    );
    folder.file(
        "cases.jsonl",
        "{\"id\": \"a\", \"input\": \"1\", \"reference\": \"the cat\", \"output\": \"the cat\"}\n{\"id\": \"b\", \"input\": \"2\", \"reference\": \"the dog\", \"output\": \"seven rivers\"}\n{\"id\": \"c\", \"input\": \"3\", \"output\": \"x\"}\n",
    );
    folder
}

#[test]
fn a_run_is_scored_by_models_beside_the_evaluation_file() {
    let folder = evaluation();
    let elsewhere = Folder::new();
    let file = folder.path().join("fullbench.yaml");
    let said = elsewhere.run(&["run", file.to_str().unwrap(), "--output", "json", "--quiet"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let report = said.json();
    let scores = &report["models"][0]["scores"];
    assert_eq!((&scores[0]["passed"], &scores[0]["failed"]), (&json!(1), &json!(1)));
    assert_eq!(scores[0]["unscored"], json!({"missing_reference": 1}));
    assert_eq!(scores[1]["scorer"], "bert_score");
    assert_eq!(scores[1]["count"], 2);
    // Going on does not start without what it needs.
    std::fs::remove_dir_all(folder.path().join("models")).unwrap();
    let said = elsewhere.run(&["resume"]);
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    assert!(said.stderr.contains("the scorer semantic_similarity: `model`:"), "{}", said.stderr);
}

#[test]
fn a_default_model_that_is_not_here_is_refused_with_how_to_get_it() {
    let folder = evaluation();
    folder.file(
        "fullbench.yaml",
        "dataset: cases.jsonl\nmodels: [recorded]\nscorers: [semantic_similarity]\n",
    );
    let said = run(&folder, folder.path(), "run");
    assert_eq!(said.code, Some(2));
    assert_eq!(
        said.stderr,
        "error: fullbench.yaml:3:11: `scorers[0].model`: the weights of all-minilm-l6-v2 are not on this machine\n  hint: fetch them with `fullbench weights pull all-minilm-l6-v2`\n"
    );
}

fn cases(lines: &[&str]) -> String {
    let line = |(index, text): (usize, &&str)| {
        format!("{}\n", json!({"id": format!("c{index}"), "input": text}))
    };
    lines.iter().enumerate().map(line).collect()
}

#[test]
fn near_duplicates_and_leaks_are_found() {
    let Some(weights) = weights() else { return };
    let folder = Folder::new();
    let test = [
        "How many apples are left when I eat two of five?",
        "What is the capital of France?",
        "If I have five apples and eat two, how many apples are left?",
        "Who wrote Faust?",
        "What is  the capital of France?",
    ];
    folder.file("test.jsonl", cases(&test));
    folder.file(
        "train.csv",
        "question\nName the capital city of France.\nWhy is the sky blue?\nWho wrote Faust?\n",
    );
    let report =
        run(&folder, &weights, "dataset dedupe test.jsonl --threshold 0.85 --output json").json();
    let ids: Vec<Vec<&str>> = report["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| {
            let cases = group["cases"].as_array().unwrap().iter();
            cases.map(|case| case["id"].as_str().unwrap()).collect()
        })
        .collect();
    assert_eq!(ids, [vec!["c0", "c2"], vec!["c1", "c4"]]);
    assert_eq!(report["groups"][1]["cases"][0]["exact"], true);
    let leaks =
        "dataset dedupe test.jsonl --against train.csv --against-field question --threshold 0.8";
    let report = run(&folder, &weights, &format!("{leaks} --output json")).json();
    let ids: Vec<&str> = report["leaks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|leak| leak["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["c1", "c3", "c4"]);
    assert_eq!(report["leaks"][1]["sources"][0]["exact"], true);
    let said = run(&folder, &weights, leaks);
    assert!(said.stdout.contains("3 of 5 cases nearly in train.csv (3 cases; cosine 0.8 or more), 1 of them word for word"), "{}", said.stdout);
}

#[test]
fn copies_are_found_in_every_format_and_fail_a_check() {
    let folder = Folder::new();
    folder.file("cases.jsonl", cases(&["the cat", "seven rivers", "the  cat"]));
    let dedupe = |more: &[&str]| {
        let words = ["dataset", "dedupe", "cases.jsonl", "--model", TINY, "--threshold", "0.9999"];
        folder.run(&[&words, more].concat())
    };
    let said = dedupe(&["--output", "csv"]);
    assert_eq!(
        said.stdout,
        "group,id,line,cosine,exact,redundant,truncated,text\n1,c0,1,1,true,false,false,the cat\n1,c2,3,1,true,true,false,the  cat\n"
    );
    assert_eq!(said.code, Some(0));
    let said = dedupe(&["--check"]);
    assert_eq!(said.code, Some(1));
    assert!(
        said.stdout.contains("cases.jsonl: 3 cases, 1 group of nearly the same"),
        "{}",
        said.stdout
    );
    assert_eq!(dedupe(&["--check", "--field", "id"]).code, Some(0));
}

#[test]
fn data_that_cannot_be_compared_is_refused() {
    let folder = Folder::new();
    folder.file("cases.jsonl", cases(&["the cat"]));
    folder.file("odd.jsonl", "{\"question\": \"x\"}\n");
    folder.file("empty.jsonl", "");
    folder.file("cases.xlsx", "PK");
    for (arguments, message) in [
        ("nowhere.jsonl", "error: nowhere.jsonl: "),
        (
            "odd.jsonl",
            "error: odd.jsonl:1: `input`: the case has no `input`\n  hint: name the field with --field; ",
        ),
        ("empty.jsonl", "error: empty.jsonl: the data set has no cases\n"),
        (
            "cases.xlsx",
            "error: cases.xlsx: `xlsx` is no format of data sets\n  hint: data sets are csv, tsv, json, jsonl or parquet files\n",
        ),
        ("cases.jsonl --model nobody", "error: there is no model of embeddings `nobody`\n"),
        ("cases.jsonl --threshold 7", "error: invalid value '7' for '--threshold <COSINE>'"),
    ] {
        let words: Vec<&str> =
            ["dataset", "dedupe"].into_iter().chain(arguments.split(' ')).collect();
        let said = folder.run(&words);
        assert_eq!(said.code, Some(2), "{arguments}: {}", said.stderr);
        assert!(said.stderr.starts_with(message), "{arguments}: {}", said.stderr);
        assert!(said.stdout.is_empty());
    }
}

#[test]
fn embeddings_of_a_provider_score_as_well() {
    let provider = simulator(SimulatorConfig { rate_limit: 0.2, ..SimulatorConfig::default() });
    let folder = evaluation();
    folder.file(
        "fullbench.yaml",
        format!("dataset: cases.jsonl\nmodels: [recorded]\nscorers:\n  - {{ type: semantic_similarity, model: \"openai:sim-embed\", base_url: \"{}/v1\", dimensions: 64, threshold: 0.9 }}\n", provider.url()),
    );
    let said = folder.run(&["run", "--output", "json", "--quiet"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let score = &said.json()["models"][0]["scores"][0];
    assert_eq!((&score["passed"], &score["failed"]), (&json!(1), &json!(1)));
    assert!(said.stdout.contains("|dimensions:64|model:openai:sim-embed|"), "{}", said.stdout);
}

#[test]
fn what_a_provider_failed_to_embed_is_scored_when_the_run_goes_on() {
    let provider =
        simulator(SimulatorConfig { require_key: Some("right".into()), ..Default::default() });
    let folder = evaluation();
    folder.file(
        "fullbench.yaml",
        format!("dataset: cases.jsonl\nmodels: [recorded]\nscorers:\n  - json_valid\n  - {{ type: semantic_similarity, model: \"openai:sim-embed\", base_url: \"{}/v1\", api_key_env: SIM_KEY }}\n", provider.url()),
    );
    let with_key = |key: &str, verb: &str| {
        let mut command = folder.command(&[verb, "--output", "json", "--quiet"]);
        said(command.env("SIM_KEY", key).output().unwrap())
    };
    let said = with_key("wrong", "run");
    assert_eq!(said.code, Some(3), "{}", said.stderr);
    assert!(said.stderr.contains("2 answers lack a score ("), "{}", said.stderr);
    assert!(!said.stderr.contains("wrong"));
    let unscored = |said: &Said| said.json()["models"][0]["scores"][1]["unscored"].clone();
    assert_eq!(unscored(&said), json!({"missing_reference": 1, "provider_error": 2}));

    let said = with_key("right", "resume");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(unscored(&said), json!({"missing_reference": 1}));
    let scores = &said.json()["models"][0]["scores"];
    assert_eq!((&scores[0]["failed"], &scores[1]["count"]), (&json!(3), &json!(2)));
    assert_eq!(said.json()["models"][0]["answered"], 3);
}
