//! A run that is killed again and again loses nothing and pays nothing twice.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

mod support;

use std::collections::HashSet;
use std::process::{Child, Stdio};
use std::time::Duration;

use fullbench_simllm::SimulatorConfig;
use support::moments::Moments;
use support::{Folder, arithmetic, evaluation, simulator};

const UNITS: usize = 2500;
const CONCURRENCY: u64 = 20;

fn faulty() -> SimulatorConfig {
    SimulatorConfig {
        latency_ms: 20.0,
        rate_limit: 0.03,
        retry_after_ms: 20,
        error: 0.03,
        drop: 0.01,
        malform: 0.01,
        seed: 5,
        ..SimulatorConfig::default()
    }
}

fn start(folder: &Folder, arguments: &[&str]) -> Child {
    folder.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn fifty_kills_lose_nothing_and_pay_nothing_twice() {
    let wanted = if std::env::var_os("FULLBENCH_SOAK").is_some() { 500 } else { 50 };
    let mut moments = Moments(20_261_115);
    let mut kills = 0;
    while kills < wanted {
        kills += kill_one_run(&mut moments, wanted - kills);
    }
}

/// Kills one run until it is complete, checks it, and says how often it was killed.
fn kill_one_run(moments: &mut Moments, limit: u64) -> u64 {
    let simulator = simulator(faulty());
    let folder = Folder::new();
    folder.file("cases.jsonl", arithmetic(UNITS));
    folder.file("fullbench.yaml", evaluation(&simulator.url(), CONCURRENCY as usize, ""));
    let mut kills = 0;
    let mut process = start(&folder, &["run", "--no-cache"]);
    loop {
        if kills < limit {
            std::thread::sleep(Duration::from_millis(moments.next_milliseconds(60, 300)));
        }
        let finished =
            if kills < limit { process.try_wait().unwrap() } else { Some(process.wait().unwrap()) };
        if let Some(status) = finished {
            if status.success() {
                break;
            }
            assert_eq!(status.code(), Some(2), "a run ended in an unexpected way");
        } else {
            process.kill().unwrap();
            process.wait().unwrap();
            kills += 1;
        }
        let no_run_yet = folder.run(&["list"]).code == Some(2)
            || folder.run(&["list", "--output", "json"]).json() == serde_json::json!([]);
        let next: &[&str] =
            if no_run_yet { &["run", "--no-cache"] } else { &["resume", "--no-cache"] };
        process = start(&folder, next);
    }
    let results = folder.run(&["export"]).json_lines();
    let cases: HashSet<&str> =
        results.iter().map(|result| result["case"].as_str().unwrap()).collect();
    assert_eq!((results.len(), cases.len()), (UNITS, UNITS), "every unit has exactly one result");
    for result in &results {
        assert!(result["scores"]["numeric_match"]["value"].is_number(), "scored: {result}");
        assert!(result["scores"]["length"]["value"].is_number(), "scored: {result}");
    }
    let shown = folder.run(&["show", "--output", "json"]).json();
    assert_eq!(shown["state"], "completed");
    assert_eq!(shown["models"][0]["answered"], UNITS);

    let stats = simulator.stop();
    assert_eq!(stats.distinct_prompts, UNITS as u64);
    let uncommitted_at_kills = kills * 2 * CONCURRENCY;
    assert!(
        stats.repeats_after_success <= uncommitted_at_kills,
        "{} answers were paid for again after {kills} kills",
        stats.repeats_after_success
    );
    eprintln!(
        "{kills} kills: {} calls for {UNITS} units, {} paid again",
        stats.calls, stats.repeats_after_success
    );
    kills
}
