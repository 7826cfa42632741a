//! Models of one run compared with each other, evaluation steps that are kept, and what judges would cost.
#![allow(clippy::unwrap_used)]

mod support;

use fullbench_simllm::SimulatorConfig;
use serde_json::json;
use support::{Folder, Said, said, simulator};

const CASES: &str = "\
{\"id\": \"a\", \"input\": \"Capital of France?\", \"old\": \"Lyon.\", \"new\": \"Paris.\"}
{\"id\": \"b\", \"input\": \"Capital of Italy?\", \"old\": \"Rome.\", \"new\": \"Rome, on the Tiber.\"}
{\"id\": \"c\", \"input\": \"Capital of Peru?\", \"old\": \"Lima.\", \"new\": \"Lima.\"}
";

fn evaluation(url: &str, scorers: &str) -> String {
    format!(
        "dataset: cases.jsonl
models:
  - {{ provider: recorded, field: old, name: old }}
  - {{ provider: recorded, field: new, name: new }}
scorers:
{}",
        scorers.replace(
            "MODEL",
            &format!(
                "{{ provider: openai, model: sim-80, base_url: \"{url}/v1\", price: {{ input: 1, output: 2 }} }}"
            )
        )
    )
}

fn run(folder: &Folder, arguments: &[&str]) -> Said {
    said(folder.command(arguments).env("OPENAI_API_KEY", "sk-test").output().unwrap())
}

#[test]
fn a_model_is_compared_with_another_of_the_run() {
    let simulated = simulator(SimulatorConfig::default());
    let folder = Folder::new();
    folder.file("cases.jsonl", CASES);
    let scorer = "  - { type: pairwise, name: duel, opponent: old, judge: { criterion: helpfulness, model: MODEL } }\n";
    folder.file("fullbench.yaml", evaluation(&simulated.url(), scorer));
    let report = run(&folder, &["run", "--quiet", "-o", "json"]);
    assert_eq!(report.code, Some(0), "{}", report.stderr);
    let exported = folder.run(&["export", "--raw"]).json_lines();
    assert_eq!(exported.len(), 6);
    for one in &exported {
        let duel = &one["scores"]["duel"];
        if one["model"] == "old" {
            assert_eq!(duel["outcome"], "not_sampled", "{duel}");
            continue;
        }
        assert!(duel["value"].is_number(), "{duel}");
        let prompt = duel["judgement"]["prompt"].as_str().unwrap();
        let [old, new] = match one["case"].as_str().unwrap() {
            "a" => ["Lyon.", "Paris."],
            "b" => ["Rome.", "Rome, on the Tiber."],
            _ => ["Lima.", "Lima."],
        };
        assert!(prompt.contains(old) && prompt.contains(new), "{prompt}");
    }
    // The opponent itself has no mean: it is not compared with itself.
    let models = report.json();
    let of = |name: &str| {
        let list = models["models"].as_array().unwrap().clone();
        list.into_iter().find(|model| model["model"] == name).unwrap()
    };
    assert!(of("old")["scores"][0]["mean"].is_null(), "{models}");
    assert_eq!(of("new")["scores"][0]["scored"], 3, "{models}");

    folder.file("fullbench.yaml", evaluation(&simulated.url(), &scorer.replace("old", "odl")));
    let wrong = run(&folder, &["run", "--quiet"]);
    assert_eq!(wrong.code, Some(2));
    assert!(
        wrong.stderr.contains("no model `odl`") && wrong.stderr.contains("`old`"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn a_comparison_can_be_added_to_a_run_that_is_over() {
    let simulated = simulator(SimulatorConfig::default());
    let folder = Folder::new();
    folder.file("cases.jsonl", CASES);
    folder.file("fullbench.yaml", evaluation(&simulated.url(), "  - { type: length, max: 100 }\n"));
    assert_eq!(run(&folder, &["run", "--quiet"]).code, Some(0));
    let scorer = "  - { type: pairwise, name: duel, opponent: new, judge: { criterion: helpfulness, model: MODEL } }\n";
    folder.file("duel.yaml", evaluation(&simulated.url(), scorer));
    let report = run(&folder, &["rescore", "latest", "--scorers", "duel.yaml", "--quiet"]);
    assert_eq!(report.code, Some(0), "{}", report.stderr);
    let exported = folder.run(&["export"]).json_lines();
    let judged = exported.iter().filter(|one| one["scores"]["duel"]["value"].is_number());
    assert_eq!(judged.count(), 3);
    folder.file("duel.yaml", evaluation(&simulated.url(), &scorer.replace("new", "newer")));
    let wrong = run(&folder, &["rescore", "latest", "--scorers", "duel.yaml", "--quiet"]);
    assert_eq!((wrong.code, wrong.stderr.contains("`newer`")), (Some(2), true), "{}", wrong.stderr);
}

#[test]
fn evaluation_steps_are_written_once_for_all_runs() {
    let simulated = simulator(SimulatorConfig::default());
    let folder = Folder::new();
    folder.file("cases.jsonl", CASES);
    let scorer = "  - { type: g_eval, criterion: clarity, model: MODEL }\n";
    folder.file("fullbench.yaml", evaluation(&simulated.url(), scorer));
    let steps_asked = || {
        let exported = folder.run(&["export", "--raw"]).json_lines();
        let replies = exported.iter().flat_map(|one| {
            one["scores"]["g_eval"]["judgement"]["replies"].as_array().unwrap().clone()
        });
        replies.filter(|reply| reply["part"] == "steps").count()
    };
    assert_eq!(run(&folder, &["run", "--quiet", "--no-cache"]).code, Some(0));
    assert_eq!(steps_asked(), 1);
    assert_eq!(run(&folder, &["run", "--quiet", "--no-cache"]).code, Some(0));
    assert_eq!(steps_asked(), 0, "a later run has them from the store, without the cache too");
}

#[test]
fn an_estimate_counts_and_prices_what_judges_ask() {
    let folder = Folder::new();
    folder.file("cases.jsonl", CASES);
    let scorers = "  - { type: g_eval, criterion: clarity, samples: 4, model: MODEL }
  - { type: pairwise, against: old, judge: { criterion: clarity, model: MODEL } }
";
    folder.file("fullbench.yaml", evaluation("http://127.0.0.1:1", scorers));
    let said = folder.run(&["estimate", "-o", "json"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let estimate = said.json();
    let calls: Vec<_> =
        estimate["judges"].as_array().unwrap().iter().map(|one| one["calls"].clone()).collect();
    assert_eq!(calls, [json!([24, 24]), json!([12, 12])], "{estimate}");
    let usd = estimate["usd"].as_array().unwrap();
    assert!(usd[0].as_f64().unwrap() > 0.0 && usd[1].as_f64() > usd[0].as_f64(), "{estimate}");
    let table = folder.run(&["estimate"]).stdout;
    assert!(table.contains("g_eval: openai:sim-80"), "{table}");
}
