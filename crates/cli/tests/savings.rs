//! Judging at less than the full price, through the binary: cascades, batches of items, routes, the semantic cache, endpoints.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

mod support;

use std::fmt::Write as _;
use std::path::Path;

use fullbench_simllm::SimulatorConfig;
use serde_json::Value;
use support::{Folder, Said, said, simulator};

/// Prices of the strong and the fast model, in dollars per million tokens.
const STRONG: &str = "price: { input: 2.5, output: 10.0 }";
const FAST: &str = "price: { input: 0.15, output: 0.60 }";

/// Answers of some length, every 40th of them broken.
fn answers(count: usize) -> String {
    let filler = "The tower was built for a fair and stayed. ".repeat(80);
    let mut lines = String::new();
    for number in 0..count {
        let output =
            if number % 40 == 7 { String::new() } else { format!("Answer {number}. {filler}") };
        writeln!(
            lines,
            "{{\"id\":\"q{number}\",\"input\":\"Question {number}?\",\"output\":\"{output}\"}}"
        )
        .unwrap();
    }
    lines
}

fn cascade(url: &str) -> String {
    format!(
        "\
name: cascade
dataset: cases.jsonl
models: [recorded]
scorers:
  - type: cascade
    name: quality
    tiers:
      - name: checks
        scorers: [{{ type: length, min: 1, name: not_empty }}]
        hard_fail: checks.failed
      - name: fast
        sample: 0.1
        scorers: [{{ type: binary, criterion: helpfulness, model: {{ provider: openai, model: sim-95, base_url: \"{url}/v1\", {FAST} }} }}]
      - name: full
        sample: 0.1
        scorers: [{{ type: g_eval, criterion: helpfulness, steps: [Read it.], threshold: 0.5, model: {{ provider: openai, model: strong, base_url: \"{url}/v1\", {STRONG} }} }}]
"
    )
}

fn scores(said: &Said) -> Value {
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    said.json()["models"][0]["scores"][0].clone()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

#[test]
fn a_cascade_costs_a_twentieth_of_judging_everything_and_says_how_sure_it_is() {
    let simulated = simulator(SimulatorConfig::default());
    let folder = Folder::new();
    folder.file("cases.jsonl", answers(10_000));
    folder.file("fullbench.yaml", cascade(&simulated.url()));
    let estimated = folder.run(&["estimate", "-o", "json"]).json();
    let first = folder.run(&["run", "--quiet", "-o", "json"]);
    let report = first.json();
    let scores = scores(&first);
    let cascade = &scores["cascade"];
    assert_eq!(cascade["outputs"], 10_000);
    let tiers = cascade["tiers"].as_array().unwrap();
    assert_eq!(tiers[0]["scored"], 10_000);
    // 250 hard fails of which a twentieth is audited; a tenth of the others.
    assert!((900..1_100).contains(&tiers[1]["scored"].as_u64().unwrap()), "{}", tiers[1]);
    assert!((110..260).contains(&tiers[2]["scored"].as_u64().unwrap()), "{}", tiers[2]);
    let (cost, all) =
        (number(&cascade["cost_usd"]), number(&cascade["cost_of_all_usd"]["estimate"]));
    assert!(cost <= 0.05 * all, "{cost} of {all}");
    // What everything costs, by its own tokens: about 1,100 of them in the prompt.
    assert!((20.0..60.0).contains(&all), "{all}");
    // The judge draws 1 to 5 at random: 0.5 on average.
    let mean = &cascade["mean_of_all"];
    assert!(number(&mean["low"]) < 0.5 && 0.5 < number(&mean["high"]), "{mean}");
    assert!(number(&scores["low"]) <= number(&mean["low"]) + 1e-9, "{scores}");
    assert_eq!((&scores["interval"], &scores["mean"]), (&"weighted".into(), &mean["estimate"]));
    assert_eq!(cascade["hard_fails"][0], 250);
    assert!(tiers[1]["agreement"]["share"]["estimate"].is_f64());
    let usd = &estimated["usd"];
    let paid = number(&report["scoring_cost_usd"]);
    assert!(number(&usd[0]) <= paid && paid <= number(&usd[1]), "{paid} is not in {usd}");

    let calls = simulated.stats().calls;
    let again = folder.run(&["run", "--quiet", "-o", "json"]);
    assert_eq!(simulated.stats().calls, calls, "everything comes from the cache");
    assert_eq!(number(&self::scores(&again)["mean"]), number(&scores["mean"]));
    assert_eq!(
        number(&self::scores(&again)["cascade"]["cost_usd"]),
        cost,
        "what it would have cost"
    );
    let shown = folder.run(&["show"]).stdout;
    for word in ["judging all of them by it would give", "hard fails", "same verdict as the last"] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    let compared =
        folder.run(&["diff", report["id"].as_str().unwrap(), "latest", "-o", "json"]).json();
    assert_eq!(compared["counts"][0]["weighted"], true);
    assert_eq!(compared["counts"][0]["evidence"]["verdict"], "identical");
    assert_eq!(number(&compared["counts"][0]["before_mean"]), number(&scores["mean"]));
}

#[test]
fn a_batch_is_cheaper_and_its_second_run_asks_nothing() {
    let simulated = simulator(SimulatorConfig::default());
    let folder = Folder::new();
    folder.file("cases.jsonl", answers(60));
    let evaluation = |batch: u32| {
        format!(
            "dataset: cases.jsonl\nmodels: [recorded]\nscorers:\n  - {{ type: g_eval, criterion: clarity, steps: [Read it.], batch: {batch}, model: {{ provider: openai, model: judge, base_url: \"{}/v1\", {STRONG} }} }}\n",
            simulated.url()
        )
    };
    folder.file("fullbench.yaml", evaluation(20));
    let together = folder.run(&["run", "--quiet", "-o", "json"]);
    assert_eq!(scores(&together)["count"], 60);
    let calls = simulated.stats().calls;
    assert!(calls <= 6, "{calls} calls for 60 outputs");
    folder.run(&["run", "--quiet"]);
    assert_eq!(simulated.stats().calls, calls);
    let reply = folder.run(&["export", "--raw"]).json_lines()[0].to_string();
    assert!(reply.contains("batch of"), "{reply}");
}

#[test]
fn routes_are_told_apart_and_never_compared_with_each_other() {
    let simulated = simulator(SimulatorConfig::default());
    let folder = Folder::new();
    let url = simulated.url();
    let mut lines = String::new();
    for number in 0..200 {
        let input = if number % 4 == 0 { "Which dosage for the patient?" } else { "How are you?" };
        writeln!(
            lines,
            "{{\"id\":\"q{number}\",\"input\":\"{input}\",\"output\":\"Answer {number}\"}}"
        )
        .unwrap();
    }
    folder.file("cases.jsonl", lines);
    let judge = |model: &str, price: &str| {
        format!(
            "{{ type: rubric, criterion: helpfulness, model: {{ provider: openai, model: {model}, base_url: \"{url}/v1\", {price} }} }}"
        )
    };
    let evaluation = |from: f64| {
        format!(
            "dataset: cases.jsonl\nmodels: [recorded]\nscorers:\n  - {{ type: routed, name: quality, ambiguity: 0, strong_from: {from}, audit: 0.3, cheap: {}, strong: {} }}\n",
            judge("small", FAST),
            judge("large", STRONG)
        )
    };
    folder.file("fullbench.yaml", evaluation(1.0));
    let first = folder.run(&["run", "--quiet", "-o", "json"]);
    assert_eq!(scores(&first)["interval"], "mixed_judges");
    let routes = &scores(&first)["routes"];
    assert_eq!(
        (&routes["routes"][0]["outputs"], &routes["routes"][1]["outputs"]),
        (&150.into(), &50.into())
    );
    assert!((25..70).contains(&routes["audited"].as_u64().unwrap()), "{routes}");
    assert!(routes["difference"]["low"].is_f64() && routes["strong_on_all"]["low"].is_f64());
    assert!(folder.run(&["show"]).stdout.contains("mixes two judges"));
    folder.file("fullbench.yaml", evaluation(9.0));
    assert_eq!(folder.run(&["run", "--quiet"]).code, Some(0));
    let report = first.json();
    let before = report["id"].as_str().unwrap();
    let compared = folder.run(&["diff", before, "latest", "-o", "json"]).json();
    assert_eq!(compared["counts"][0]["other_judge"], 50, "{compared}");
    assert_eq!(compared["counts"][0]["pairs"], 150);
}

/// Pairs of outputs: the first is judged in one run, the second is looked up in the next.
fn semantic(folder: &Folder, weights: &Path, url: &str, outputs: &[&str], audit: f64) -> Value {
    let mut lines = String::new();
    for (number, output) in outputs.iter().enumerate() {
        let output = serde_json::to_string(output).unwrap();
        writeln!(lines, "{{\"id\":\"q{number}\",\"input\":\"Tell me.\",\"output\":{output}}}")
            .unwrap();
    }
    folder.file("cases.jsonl", lines);
    folder.file(
        "fullbench.yaml",
        format!("dataset: cases.jsonl\nmodels: [recorded]\nscorers:\n  - {{ type: rubric, criterion: helpfulness, similar: {{ threshold: 0.8, audit: {audit} }}, model: {{ provider: openai, model: judge, base_url: \"{url}/v1\", {STRONG} }} }}\n"),
    );
    let mut command = folder.command(&["run", "--quiet", "-o", "json"]);
    scores(&said(command.env("FULLBENCH_WEIGHTS", weights).output().unwrap()))
}

#[test]
fn only_what_says_the_same_is_taken_and_the_audit_finds_what_is_not() {
    let Some(model) = std::env::var_os("FULLBENCH_MINILM") else {
        eprintln!("SKIPPED: FULLBENCH_MINILM is not set");
        return;
    };
    let weights = Path::new(&model).parent().unwrap();
    let simulated = simulator(SimulatorConfig::default());
    let before = [
        "The dose is 42 mg per day, taken with water.",
        "The contract does end in March 2021.",
        "Alice Smith beat Bob Jones in the final.",
        "The bridge is 3 km long.",
        "You should take the medicine.",
        "The invoice is due on 12 May 2024.",
    ];
    let changed = [
        "The dose is 43 mg per day, taken with water.",
        "The contract does not end in March 2021.",
        "Bob Jones beat Alice Smith in the final.",
        "The bridge is 3 miles long.",
        "You should never take the medicine.",
        "The invoice is due on 13 May 2024.",
    ];
    let same = [
        "The dose is 42 mg per day taken with water.",
        "The contract does end in March 2021",
        "Alice Smith beat Bob Jones in the final .",
        "The bridge is  3 km long.",
    ];
    let folder = Folder::new();
    let url = simulated.url();
    assert!(semantic(&folder, weights, &url, &before, 0.0)["similar"].is_null());
    let wrong = semantic(&folder, weights, &url, &changed, 0.0);
    assert!(wrong["similar"].is_null(), "a changed fact was taken for the same: {wrong}");
    let calls = simulated.stats().calls;
    let taken = semantic(&folder, weights, &url, &same, 0.0);
    assert!(number(&taken["similar"]["hits"]) >= 3.0, "{taken}");
    assert!(simulated.stats().calls <= calls + 1);
    assert!(number(&taken["similar"]["saved_usd"]) > 0.0);
    let shown = folder.run(&["show", "--case", "q1"]).stdout;
    assert!(shown.contains("similar output of case"), "{shown}");
    // The simulated judge draws anew for every text: an audit of all must find that.
    let other = same.map(|text| text.replace("The ", "the "));
    let other: Vec<&str> = other.iter().map(String::as_str).collect();
    let audited = semantic(&folder, weights, &url, &other, 1.0);
    let similar = &audited["similar"];
    assert!(number(&similar["audited"]) >= 2.0, "{similar}");
    assert!(number(&similar["disagreements"]) >= 1.0, "{similar}");
}

/// The folder of examples that the guide works through.
const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/cutting-cost");

#[test]
fn every_example_costs_what_its_estimate_says() {
    let simulated = simulator(SimulatorConfig::default());
    for name in ["everything", "cascade", "batch", "routed"] {
        let folder = Folder::new();
        let answers = std::fs::read(format!("{EXAMPLES}/answers.jsonl")).unwrap();
        folder.file("answers.jsonl", answers);
        let evaluation = std::fs::read_to_string(format!("{EXAMPLES}/{name}.yaml")).unwrap();
        folder
            .file("fullbench.yaml", evaluation.replace("http://127.0.0.1:8091", &simulated.url()));
        let usd = folder.run(&["estimate", "-o", "json"]).json()["usd"].clone();
        let done = folder.run(&["run", "--quiet", "-o", "json"]);
        assert_eq!(done.code, Some(0), "{name}: {}", done.stderr);
        let paid = number(&done.json()["scoring_cost_usd"]);
        assert!(
            number(&usd[0]) <= paid && paid <= number(&usd[1]),
            "{name}: {paid} is not in {usd}"
        );
        let half =
            folder.run(&["estimate", "--provider-batch", "-o", "json"]).json()["usd"].clone();
        assert!((number(&half[1]) * 2.0 - number(&usd[1])).abs() < 1e-6, "{name}: {half} of {usd}");
    }
}

#[test]
fn a_judge_behind_several_endpoints_names_the_one_that_answered() {
    let simulated = [0, 1].map(|_| simulator(SimulatorConfig::default()));
    let folder = Folder::new();
    folder.file("cases.jsonl", answers(30));
    let endpoints: Vec<String> = simulated
        .iter()
        .zip(["east", "west"])
        .map(|(one, name)| format!("{{ name: {name}, base_url: \"{}/v1\" }}", one.url()))
        .collect();
    folder.file(
        "fullbench.yaml",
        format!("dataset: cases.jsonl\nmodels: [recorded]\nlimits: {{ concurrency: 4 }}\nscorers:\n  - {{ type: rubric, criterion: clarity, model: {{ provider: openai, model: judge, endpoints: [{}], {STRONG} }} }}\n", endpoints.join(", ")),
    );
    let done = folder.run(&["run", "--quiet", "-o", "json"]);
    assert_eq!(scores(&done)["count"], 30);
    let exported = folder.run(&["export", "--raw"]).stdout;
    for name in ["east", "west"] {
        assert!(exported.contains(&format!("\"endpoint\":\"{name}\"")), "{name}");
    }
    let calls = simulated[0].stats().calls + simulated[1].stats().calls;
    folder.run(&["run", "--quiet"]);
    assert_eq!(simulated[0].stats().calls + simulated[1].stats().calls, calls);
}
