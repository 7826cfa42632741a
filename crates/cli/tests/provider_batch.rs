//! Provider batches: half the price, and nothing is submitted twice, however a run ends.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use fullbench_llm::BatchState;
use fullbench_simllm::{BatchConfig, Simulator, SimulatorConfig};
use fullbench_store::Store;
use fullbench_types::DEFAULT_ORGANIZATION;
use support::{Folder, arithmetic, said, simulator};

const UNITS: usize = 40;

fn with_batches(batch: BatchConfig) -> Simulator {
    simulator(SimulatorConfig { batch, ..SimulatorConfig::default() })
}

/// One model of a provider, with scorers as further lines.
fn prepare(folder: &Folder, provider: &str, simulator: &Simulator, scorers: &str) {
    let url = simulator.url();
    folder.file("cases.jsonl", arithmetic(UNITS));
    folder.file(
        "fullbench.yaml",
        format!(
            "name: test\ndataset: cases.jsonl\nprompt: \"Solve: {{{{ input }}}}\"\nmodels:\n  - {{ name: m, provider: {provider}, model: sim-80, base_url: \"{url}/v1\", price: {{ input: 1, output: 2 }} }}\nscorers:\n  - numeric_match\n{scorers}"
        ),
    );
}

fn start(folder: &Folder, arguments: &[&str]) -> Child {
    folder.command(arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until the provider has so many batches.
fn until_batches(simulator: &Simulator, count: u64) {
    let mut waited = 0;
    while simulator.stats().batches < count {
        std::thread::sleep(Duration::from_millis(20));
        waited += 1;
        assert!(waited < 3_000, "no batch came");
    }
}

/// Waits until this is noted of the batches of the newest run.
fn until_states(folder: &Folder, expected: &[BatchState]) {
    for _ in 0..300 {
        if states(folder) == expected {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("{:?} instead of {expected:?}", states(folder));
}

fn kill(mut process: Child) {
    assert!(process.try_wait().unwrap().is_none(), "the run should still be waiting");
    process.kill().unwrap();
    process.wait().unwrap();
}

/// The states of the batches of the newest run.
fn states(folder: &Folder) -> Vec<BatchState> {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = Store::open(&folder.path().join(".fullbench")).await.unwrap();
        let store = store.scoped(DEFAULT_ORGANIZATION);
        let run = store.find_run("latest").await.unwrap();
        let kept = store.provider_batches(run.id).kept().await.unwrap();
        kept.into_iter().map(|batch| batch.state).collect()
    })
}

#[test]
fn answers_and_judgements_survive_a_kill_and_are_submitted_once() {
    let simulator = with_batches(BatchConfig { delay_ms: 5_000, ..BatchConfig::default() });
    let folder = Folder::new();
    let judge = |kind: &str, criterion: &str| {
        let url = simulator.url();
        format!(
            "  - {{ type: {kind}, criterion: {criterion}, model: {{ provider: anthropic, model: sim-90, base_url: \"{url}/v1\", price: {{ input: 1, output: 2 }} }} }}\n"
        )
    };
    let judges = judge("rubric", "clarity") + &judge("binary", "safety");
    prepare(&folder, "openai", &simulator, &judges);

    let first = start(&folder, &["run", "--no-cache", "--provider-batch"]);
    until_batches(&simulator, 1);
    until_states(&folder, &[BatchState::Submitted]);
    kill(first);

    let second = start(&folder, &["resume", "--no-cache", "--provider-batch"]);
    until_batches(&simulator, 2);
    until_states(&folder, &[BatchState::Done, BatchState::Submitted]);
    kill(second);
    let seen = simulator.stats();
    assert_eq!((seen.batches, seen.batched_requests), (2, 3 * UNITS as u64), "answers, two judges");

    let third = folder.run(&["resume", "--no-cache", "--provider-batch"]);
    assert_eq!(third.code, Some(0), "{}", third.stderr);
    assert!(states(&folder).iter().all(|state| *state == BatchState::Done));
    // Judges may ask again for what they cannot read, in a batch of its own; nothing is asked twice.
    let seen = simulator.stop();
    assert_eq!((seen.calls, seen.repeated_prompts), (0, 0));
    assert!(seen.batches <= 3 && seen.batched_requests == seen.distinct_prompts, "{seen:?}");

    let results = folder.run(&["export"]).json_lines();
    assert_eq!(results.len(), UNITS);
    for (number, result) in results.iter().enumerate() {
        let asked = format!("{number} + {} =", number * 7);
        assert!(result["generation"]["text"].as_str().unwrap().starts_with(&asked), "{result}");
        assert!(result["scores"]["numeric_match"]["value"].is_number(), "{result}");
        for judge in ["rubric", "binary"] {
            assert!(result["scores"][judge]["cost"].as_u64().unwrap() > 0, "{judge}: {result}");
        }
    }
    let shown = folder.run(&["show", "--output", "json"]).json();
    assert_eq!(
        (&shown["state"], &shown["models"][0]["answered"]),
        (&"completed".into(), &UNITS.into())
    );
}

#[test]
fn a_run_killed_before_it_knew_of_its_batch_finds_it_at_the_provider() {
    let simulator =
        with_batches(BatchConfig { delay_ms: 2_000, lost_replies: 1, ..BatchConfig::default() });
    let folder = Folder::new();
    prepare(&folder, "anthropic", &simulator, "");
    let first = start(&folder, &["run", "--no-cache", "--provider-batch"]);
    until_batches(&simulator, 1);
    kill(first);
    assert_eq!(states(&folder), [BatchState::Submitting], "nobody was told that it arrived");
    let second = folder.run(&["resume", "--no-cache", "--provider-batch"]);
    assert_eq!(second.code, Some(0), "{}", second.stderr);
    assert_eq!(simulator.stop().batches, 1);
}

#[test]
fn a_stopped_run_says_where_its_batch_is_and_resume_fetches_it_unasked() {
    let simulator = with_batches(BatchConfig { delay_ms: 5_000, ..BatchConfig::default() });
    let folder = Folder::new();
    prepare(&folder, "openai", &simulator, "");
    let first = start(&folder, &["run", "--no-cache", "--provider-batch"]);
    until_batches(&simulator, 1);
    until_states(&folder, &[BatchState::Submitted]);
    let process = first.id().to_string();
    Command::new("kill").args(["-TERM", &process]).status().unwrap();
    let stopped = said(first.wait_with_output().unwrap());
    assert_eq!(stopped.code, Some(3), "{}", stopped.stderr);
    let note = "note: a batch is at the provider, or on its way: `fullbench resume` fetches it";
    assert!(stopped.stderr.contains(note), "{}", stopped.stderr);
    let second = folder.run(&["resume", "--no-cache"]);
    assert_eq!(second.code, Some(0), "{}", second.stderr);
    let seen = simulator.stop();
    assert_eq!((seen.batches, seen.calls), (1, 0));
}

#[test]
fn batches_cost_half_and_fill_the_cache() {
    let simulator = with_batches(BatchConfig::default());
    let folder = Folder::new();
    prepare(&folder, "openai", &simulator, "");
    let cost = |arguments: &[&str]| {
        let done = folder.run(&[arguments, &["--quiet", "-o", "json"]].concat());
        assert_eq!(done.code, Some(0), "{}", done.stderr);
        done.json()["models"][0]["cost_usd"].as_f64().unwrap()
    };
    let single = cost(&["run", "--no-cache"]);
    let batched = cost(&["run", "--provider-batch"]);
    assert!(batched > 0.0 && (batched * 2.0 - single).abs() < 1e-9, "{batched} of {single}");
    assert_eq!(cost(&["run", "--provider-batch"]), 0.0, "the answers are in the cache");
    assert_eq!(simulator.stop().batches, 1);
}

#[test]
fn providers_without_batches_are_called_as_usual() {
    let simulator = with_batches(BatchConfig::default());
    let folder = Folder::new();
    prepare(&folder, "xai", &simulator, "");
    let done = folder.run(&["run", "--no-cache", "--provider-batch"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let note = "note: m is called as usual: there are no batches for xAI";
    assert!(done.stderr.contains(note), "{}", done.stderr);
    let seen = simulator.stop();
    assert_eq!((seen.batches, seen.calls), (0, UNITS as u64));
}
