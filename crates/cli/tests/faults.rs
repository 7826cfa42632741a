//! Faults of the provider change nothing but the time.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::collections::BTreeMap;

use fullbench_simllm::SimulatorConfig;
use serde_json::Value;
use support::{Folder, Said, arithmetic, evaluation, simulator};

fn run(config: SimulatorConfig, cases: usize, more: &str, arguments: &[&str]) -> (Folder, Said) {
    let simulator = simulator(config);
    let folder = Folder::new();
    folder.file("cases.jsonl", arithmetic(cases));
    folder.file("fullbench.yaml", evaluation(&simulator.url(), 50, more));
    let said = folder.run(arguments);
    (folder, said)
}

fn scores(folder: &Folder) -> BTreeMap<String, Value> {
    let results = folder.run(&["export"]).json_lines();
    results
        .into_iter()
        .map(|result| (result["case"].as_str().unwrap().to_owned(), result["scores"].clone()))
        .collect()
}

#[test]
fn every_unit_is_scored_the_same_with_and_without_faults() {
    let faults = SimulatorConfig {
        rate_limit: 0.10,
        retry_after_ms: 10,
        error: 0.05,
        drop: 0.02,
        malform: 0.02,
        seed: 3,
        ..SimulatorConfig::default()
    };
    let calm = SimulatorConfig { seed: 3, ..SimulatorConfig::default() };
    let (with, said) = run(faults, 2000, "", &["run", "--output", "json"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let report = said.json();
    assert_eq!(report["models"][0]["answered"], 2000);
    assert!(report["models"][0]["retries"].as_u64().unwrap() > 200);
    assert_eq!(report["notes"], serde_json::json!([]), "the breaker stays closed");
    assert_eq!(report["models"][0]["scores"][0]["unscored"], serde_json::json!({}));
    let (without, said) = run(calm, 2000, "", &["run", "--quiet"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(scores(&with), scores(&without));
}

#[test]
fn a_bad_key_stops_the_run_early_and_says_so() {
    let simulator = simulator(SimulatorConfig {
        require_key: Some("right".to_owned()),
        ..SimulatorConfig::default()
    });
    let folder = Folder::new();
    folder.file("cases.jsonl", arithmetic(5000));
    let text =
        evaluation(&simulator.url(), 10, "").replace("price:", "api_key_env: TEST_KEY, price:");
    folder.file("fullbench.yaml", text);
    let said = support::said(
        folder.command(&["run"]).env("TEST_KEY", "sk-wrong-secret").output().unwrap(),
    );
    assert_eq!(said.code, Some(3));
    assert!(
        said.stderr.contains("was given up: every call failed the same way"),
        "{}",
        said.stderr
    );
    assert!(!said.stderr.contains("sk-wrong-secret") && !said.stdout.contains("sk-wrong-secret"));
    let calls = simulator.stop().calls;
    assert!(calls < 100, "{calls} calls with a bad key");
    for entry in std::fs::read_dir(folder.path().join(".fullbench")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            assert!(
                !bytes.windows(15).any(|window| window == b"sk-wrong-secret"),
                "a key in {}",
                path.display()
            );
        }
    }
}

#[test]
fn units_that_fail_are_unscored_and_resume_tries_them_again() {
    let broken = simulator(SimulatorConfig { error: 1.0, ..SimulatorConfig::default() });
    let port = broken.port();
    let folder = Folder::new();
    folder.file("cases.jsonl", arithmetic(5));
    let text =
        evaluation(&broken.url(), 5, "").replace("concurrency: 5", "concurrency: 5, attempts: 2");
    folder.file("fullbench.yaml", text);
    let said = folder.run(&["run", "--output", "json"]);
    assert_eq!(said.code, Some(3), "{}", said.stderr);
    let report = said.json();
    assert_eq!(report["state"], "incomplete");
    let scores = &report["models"][0]["scores"][0];
    assert_eq!(scores["unscored"], serde_json::json!({"provider_error": 5}));
    assert_eq!(
        (&scores["mean"], &scores["worst_mean"], &scores["best_mean"]),
        (&Value::Null, &0.0.into(), &1.0.into())
    );
    broken.stop();
    let _healthy = simulator(SimulatorConfig { port, ..SimulatorConfig::default() });
    let said = folder.run(&["resume", "--output", "json"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(said.json()["state"], "completed");
    assert_eq!(said.json()["models"][0]["answered"], 5);
}

#[test]
fn the_budget_is_never_exceeded_and_a_larger_one_goes_on() {
    budget_holds("budget: { usd: 0.005 }\n", &["run", "--output", "json"]);
    budget_holds("", &["run", "--budget", "0.005", "--output", "json"]);
}

fn budget_holds(in_file: &str, start: &[&str]) {
    let calm = simulator(SimulatorConfig { latency_ms: 2.0, ..SimulatorConfig::default() });
    let folder = Folder::new();
    folder.file("cases.jsonl", arithmetic(300));
    let text = evaluation(&calm.url(), 20, in_file).replace("price:", "max_tokens: 40, price:");
    folder.file("fullbench.yaml", text);
    let said = folder.run(start);
    assert_eq!(said.code, Some(3), "{}", said.stderr);
    let model = said.json()["models"][0].clone();
    assert!(model["cost_usd"].as_f64().unwrap() <= 0.005, "{model}");
    assert!(
        model["remaining"].as_u64().unwrap() > 0 && model["answered"].as_u64().unwrap() > 10,
        "{model}"
    );
    assert!(model["scores"][0]["unscored"]["budget_exhausted"].as_u64().unwrap() > 0);
    assert!(said.stderr.contains("stopped at the budget of $0.0050"), "{}", said.stderr);
    let again = folder.run(&["resume", "--output", "json"]);
    assert_eq!(again.code, Some(3), "the budget holds when the run goes on: {}", again.stderr);
    assert!(again.json()["models"][0]["cost_usd"].as_f64().unwrap() <= 0.005);
    let said = folder.run(&["resume", "--budget", "1", "--output", "json"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(said.json()["models"][0]["answered"], 300);
    assert_eq!(calm.stop().repeats_after_success, 0, "nothing is paid twice");
}

#[test]
fn a_second_run_is_answered_by_the_cache() {
    let calm = simulator(SimulatorConfig::default());
    let folder = Folder::new();
    folder.file("cases.jsonl", arithmetic(100));
    folder.file("fullbench.yaml", evaluation(&calm.url(), 20, ""));
    assert_eq!(
        folder.run(&["run", "--cache-only", "--quiet"]).code,
        Some(3),
        "nothing is cached yet"
    );
    assert_eq!(calm.stats().calls, 0);
    let first = folder.run(&["run", "--output", "json"]).json();
    let second = folder.run(&["run", "--cache-only", "--output", "json"]).json();
    assert_eq!(
        (&first["models"][0]["from_cache"], &second["models"][0]["from_cache"]),
        (&0.into(), &100.into())
    );
    assert_eq!(second["models"][0]["cost_usd"], 0.0);
    assert_eq!(first["models"][0]["scores"], second["models"][0]["scores"]);
    assert_eq!(calm.stats().calls, 100);
    folder.run(&["run", "--no-cache", "--quiet"]);
    assert_eq!(calm.stop().calls, 200);
}

#[test]
fn repetitions_are_separate_calls_and_clustered() {
    let calm = simulator(SimulatorConfig::default());
    let folder = Folder::new();
    folder.file("cases.jsonl", arithmetic(20));
    folder.file("fullbench.yaml", evaluation(&calm.url(), 20, "repetitions: 3\n"));
    let report = folder.run(&["run", "--output", "json"]).json();
    assert_eq!(report["models"][0]["answered"], 60);
    assert_eq!(report["models"][0]["scores"][0]["interval"], "t_clustered");
    assert_eq!(calm.stop().calls, 60);
}

#[test]
fn a_provider_that_never_answers_is_given_up() {
    let folder = Folder::new();
    folder.file("cases.jsonl", arithmetic(500));
    folder.file("fullbench.yaml", evaluation("http://127.0.0.1:9", 10, ""));
    let said = folder.run(&["run", "--output", "json"]);
    assert_eq!(said.code, Some(3), "{}", said.stderr);
    assert_eq!(said.json()["models"][0]["answered"], 0);
    assert!(said.stderr.contains("m was given up: it never answered"), "{}", said.stderr);
}

#[test]
fn a_budget_on_the_command_line_needs_prices() {
    let folder = Folder::new();
    folder.file("cases.jsonl", arithmetic(5));
    let text =
        evaluation("https://llm.example", 10, "").replace(", price: { input: 1, output: 2 }", "");
    folder.file("fullbench.yaml", text);
    let said = folder.run(&["run", "--budget", "1"]);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("no price is known for `m`"), "{}", said.stderr);
}

#[test]
fn one_interrupt_drains_and_the_run_can_be_resumed() {
    let slow = simulator(SimulatorConfig { latency_ms: 50.0, ..SimulatorConfig::default() });
    let folder = Folder::new();
    folder.file("cases.jsonl", arithmetic(400));
    folder.file("fullbench.yaml", evaluation(&slow.url(), 10, ""));
    let mut command = folder.command(&["run", "--no-cache"]);
    let process = command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    while slow.stats().successes < 40 {
        std::thread::yield_now();
    }
    let killed = std::process::Command::new("kill")
        .args(["-INT", &process.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    let said = support::said(process.wait_with_output().unwrap());
    assert_eq!(said.code, Some(3), "{}", said.stderr);
    assert!(said.stderr.contains("stopped on request"), "{}", said.stderr);
    let paid = slow.stats().successes;
    let answered =
        folder.run(&["show", "--output", "json"]).json()["models"][0]["answered"].as_u64().unwrap();
    assert_eq!(answered, paid, "every answer in flight was kept");
    assert_eq!(folder.run(&["resume", "--quiet"]).code, Some(0));
    assert_eq!(slow.stop().repeats_after_success, 0);
}
