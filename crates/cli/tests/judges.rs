//! Judges on the command line: criteria, thresholds, judges, runs with them, and what their judgements show.
#![allow(clippy::unwrap_used)]

mod support;

use fullbench_simllm::SimulatorConfig;
use serde_json::{Value, json};
use support::{Folder, simulator};

const CASES: &str = "\
{\"id\": \"a\", \"input\": \"What is the capital of France?\", \"output\": \"Paris.\"}
{\"id\": \"b\", \"input\": \"What is the capital of Italy?\", \"output\": \"I do not know.\"}
{\"id\": \"c\", \"input\": \"What is the capital of Peru?\", \"output\": \"Lima, of course.\"}
";

fn done(folder: &Folder, arguments: &[&str]) -> String {
    let said = folder.run(arguments);
    assert_eq!(said.code, Some(0), "{arguments:?}: {}{}", said.stdout, said.stderr);
    said.stdout
}

fn refused(folder: &Folder, arguments: &[&str], told: &str) {
    let said = folder.run(arguments);
    assert_eq!(said.code, Some(2), "{arguments:?}: {}{}", said.stdout, said.stderr);
    assert!(said.stderr.contains(told), "{arguments:?}: {}", said.stderr);
}

fn json(folder: &Folder, arguments: &[&str]) -> Value {
    serde_json::from_str(&done(folder, &[arguments, &["-o", "json"]].concat())).unwrap()
}

fn model(url: &str) -> String {
    json!({ "provider": "openai", "model": "sim-80", "base_url": format!("{url}/v1"),
        "price": { "input": 1.0, "output": 2.0 } })
    .to_string()
}

#[test]
fn from_a_criterion_to_what_its_judges_show() {
    let simulated = simulator(SimulatorConfig::default());
    let folder = Folder::new();
    folder.file("cases.jsonl", CASES);
    folder.file(
        "politeness.yaml",
        "\
name: politeness
task_introduction: You will be given a question and an answer.
evaluation_criteria: Whether the answer is polite.
scale: { min: 1, max: 3 }
levels:
  - { score: 1, description: Rude. }
  - { score: 3, description: Kind. }
",
    );
    done(&folder, &["criterion", "add", "politeness.yaml"]);
    refused(&folder, &["criterion", "add", "politeness.yaml"], "politeness");
    let names = json(&folder, &["criterion", "list"]);
    assert_eq!(names.as_array().unwrap().len(), 14);
    assert!(done(&folder, &["criterion", "show", "faithfulness"]).contains("needs the context"));
    refused(&folder, &["criterion", "show", "fidelity"], "faithfulness");

    done(&folder, &["threshold", "add", "politeness", "0.5", "--note", "to begin with"]);
    done(&folder, &["threshold", "add", "politeness", "0.25"]);
    refused(&folder, &["threshold", "add", "politeness", "5"], "0 to 1");
    assert_eq!(json(&folder, &["threshold", "show", "politeness"])[0]["score"], json!(0.25));
    assert_eq!(json(&folder, &["threshold", "history", "politeness"]).as_array().unwrap().len(), 2);

    let model = model(&simulated.url());
    let add = |name: &str, more: &[&str]| {
        [&["judge", "add", name, "--criterion", "politeness", "--model", &model][..], more]
            .concat()
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<String>>()
    };
    let run = |arguments: Vec<String>| {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        folder.run(&arguments)
    };
    for (name, more) in
        [("kind", &["--set", "samples=3"][..]), ("quick", &["--method", "rubric"][..])]
    {
        let said = run(add(name, more));
        assert_eq!(said.code, Some(0), "{}", said.stderr);
    }
    assert_eq!(run(add("wrong", &["--set", "sample=3"])).code, Some(2));
    assert_eq!(run(add("kind", &[])).code, Some(2));
    assert_eq!(run(add("kind", &["--succeed", "--set", "samples=2"])).code, Some(0));
    let history = json(&folder, &["judge", "history", "kind"]);
    assert_eq!(
        (history.as_array().unwrap().len(), &history[0]["parameters"]["samples"]),
        (2, &json!(2))
    );
    assert!(done(&folder, &["judge", "prompt", "kind"]).contains("Whether the answer is polite."));

    folder.file(
        "fullbench.yaml",
        "\
dataset: cases.jsonl
models: [recorded]
scorers:
  - { type: judge, judge: kind }
  - { type: judge, judge: quick }
",
    );
    let mut command = folder.command(&["run", "--quiet", "-o", "json"]);
    let said = support::said(command.env("OPENAI_API_KEY", "sk-test").output().unwrap());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(said.json()["scorers"][0]["name"], "kind");
    let exported = folder.run(&["export", "--raw"]).json_lines();
    let kind = &exported[0]["scores"]["kind"];
    let judgement = &kind["judgement"];
    assert_eq!(
        (&judgement["criterion"], &judgement["judge"]["name"]),
        (&json!("politeness"), &json!("kind"))
    );
    assert_eq!(judgement["threshold"].as_f64(), Some(0.25));
    // Two samples, and the evaluation steps where this output was the first to need them.
    assert!(judgement["replies"].as_array().unwrap().len() >= 2);
    assert!(judgement["prompt"].as_str().unwrap().contains("Paris."));
    assert!(["passed", "failed"].contains(&kind["outcome"].as_str().unwrap()));

    let performance = json(&folder, &["judge", "performance"]);
    assert_eq!(
        (&performance[0]["name"], &performance[0]["judgements"]),
        (&json!("kind"), &json!(3))
    );
    assert!(performance[0]["cost_usd"].as_f64().unwrap() > 0.0);
    let agreement = json(&folder, &["judge", "agreement"]);
    assert_eq!(
        (&agreement[0]["documents"], agreement[0]["judges"].as_array().unwrap().len()),
        (&json!(3), 2)
    );
    assert_eq!(json(&folder, &["judge", "difficulty"]).as_array().unwrap().len(), 3);
    assert_eq!(json(&folder, &["judge", "errors"]), json!([]));
    assert_eq!(json(&folder, &["judge", "cost"]).as_array().unwrap().len(), 2);
    let effect = json(&folder, &["threshold", "effect", "1", "--criterion", "politeness"]);
    assert_eq!(effect[0]["scored"], json!(6));
}

#[test]
fn judgements_are_budgeted_cached_and_go_on() {
    let simulated = simulator(SimulatorConfig::default());
    let folder = Folder::new();
    folder.file("cases.jsonl", CASES);
    let model = format!(
        "{{ provider: openai, model: sim-80, base_url: '{}/v1', price: {{ input: 1000, output: 2000 }} }}",
        simulated.url()
    );
    folder.file(
        "fullbench.yaml",
        format!(
            "\
dataset: cases.jsonl
models: [recorded]
scorers: [{{ type: rubric, criterion: clarity, model: {model} }}]
"
        ),
    );
    let with_key = |arguments: &[&str]| {
        let mut command = folder.command(arguments);
        support::said(command.env("OPENAI_API_KEY", "sk-test").output().unwrap())
    };
    let stopped = with_key(&["run", "--quiet", "--budget", "0.001", "-o", "json"]);
    assert_eq!(stopped.code, Some(3), "{}", stopped.stderr);
    assert!(stopped.stderr.contains("budget"), "{}", stopped.stderr);
    assert_eq!(stopped.json()["models"][0]["scores"][0]["count"], json!(0));
    let done = with_key(&["resume", "--quiet", "--budget", "100", "-o", "json"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert_eq!(done.json()["models"][0]["scores"][0]["count"], json!(3));
    assert!(done.json()["scoring_cost_usd"].as_f64().unwrap() > 0.0);
    let again = with_key(&["run", "--quiet", "-o", "json"]);
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    let exported = folder.run(&["export"]).json_lines();
    assert!(exported.iter().all(|unit| unit["scores"]["rubric"]["cached"] == json!(true)));
}

#[test]
fn what_is_judged_is_not_asked_for_again() {
    let simulated = simulator(SimulatorConfig::default());
    let folder = Folder::new();
    folder.file("cases.jsonl", CASES);
    let model = |price: u32| {
        let url = simulated.url();
        format!(
            "{{ provider: openai, model: sim-80, base_url: '{url}/v1', price: {{ input: {price}, output: {price} }} }}"
        )
    };
    // The first judge is within the budget, the second is not.
    let (cheap, dear) = (model(1), model(100_000));
    folder.file(
        "fullbench.yaml",
        format!(
            "dataset: cases.jsonl\nmodels: [recorded]\nscorers:\n  - {{ type: rubric, criterion: clarity, model: {cheap} }}\n  - {{ type: binary, criterion: safety, model: {dear} }}\n"
        ),
    );
    let stopped = folder.run(&["run", "--quiet", "--no-cache", "--budget", "5"]);
    assert_eq!(stopped.code, Some(3), "{}", stopped.stderr);
    let asked = simulated.stats().calls;
    assert_eq!(asked, 3);
    let resumed = folder.run(&["resume", "--quiet", "--no-cache", "--budget", "100000"]);
    assert_eq!(resumed.code, Some(0), "{}", resumed.stderr);
    assert_eq!(simulated.stats().calls, 6);
}

#[test]
fn a_stored_judge_and_a_panel_take_no_parameters_that_would_be_ignored() {
    let folder = Folder::new();
    folder.file("cases.jsonl", CASES);
    let head = "dataset: cases.jsonl\nmodels: [recorded]\nscorers:\n";
    let member = "{ method: g_eval, judge: { criterion: clarity, model: openai:gpt-4o-mini } }";
    folder.file(
        "judge.yaml",
        format!("{head}  - {{ type: judge, judge: strict, threshold: 0.9 }}\n"),
    );
    refused(&folder, &["run", "judge.yaml"], "threshold");
    let other =
        "{ method: g_eval, judge: { criterion: clarity, replies: [{ id: a, reply: '4' }] } }";
    folder
        .file("panel.yaml", format!("{head}  - {{ type: panel, members: [{other}, {member}] }}\n"));
    refused(&folder, &["run", "panel.yaml"], "replies");
    assert!(!folder.path().join(".fullbench").exists());
    assert!(done(&folder, &["criterion", "list"]).contains("faithfulness"));
    assert!(!folder.path().join(".fullbench").exists());
}

#[test]
fn functions_of_the_user_score_in_a_sandbox() {
    let folder = Folder::new();
    folder.file("cases.jsonl", CASES);
    folder.file(
        "short.ts",
        "\
type Case = { output: string, metadata: { id: string } };
export default ({ output, metadata }: Case) => {
  const words: number = output.split(' ').length;
  if (metadata.id === 'c') throw new Error('no opinion');
  return { score: words < 3 ? 1 : 0, reason: `${words} words`, evidence: [output] };
};
",
    );
    folder.file(
        "fullbench.yaml",
        "\
dataset: cases.jsonl
models: [recorded]
scorers:
  - { type: javascript, name: short, file: short.ts, threshold: 0.5 }
  - { type: javascript, name: endless, code: 'export default () => { for (;;) {} }', time_ms: 200 }
",
    );
    done(&folder, &["run", "--quiet"]);
    let exported = folder.run(&["export"]).json_lines();
    let short = |unit: usize| &exported[unit]["scores"]["short"];
    assert_eq!(
        (&short(0)["outcome"], &short(0)["reasoning"]),
        (&json!("passed"), &json!("1 words"))
    );
    assert_eq!(short(1)["outcome"], "failed");
    let thrown = short(2)["reasoning"].as_str().unwrap();
    assert!(thrown.contains("short.ts:4") && thrown.contains("no opinion"), "{thrown}");
    assert_eq!(exported[0]["scores"]["endless"]["reason"], "scorer_error");

    folder.file(
        "broken.yaml",
        "\
dataset: cases.jsonl
models: [recorded]
scorers: [{ type: javascript, code: 'export default ({ output }) => { return output.' }]
",
    );
    refused(&folder, &["run", "broken.yaml"], "scorers[0].code");
}

#[test]
fn programs_run_only_where_they_are_allowed() {
    let folder = Folder::new();
    folder.file("cases.jsonl", CASES);
    folder.file(
        "fullbench.yaml",
        "\
dataset: cases.jsonl
models: [recorded]
scorers: [{ type: command, command: [sh, -c, 'grep -q Paris && echo 1 || echo 0'] }]
",
    );
    refused(&folder, &["run"], "FULLBENCH_ALLOW_COMMANDS");
    let mut command = folder.command(&["run", "--quiet", "-o", "json"]);
    command.env("FULLBENCH_ALLOW_COMMANDS", "1").env("OPENAI_API_KEY", "secret");
    let said = support::said(command.output().unwrap());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let mean = said.json()["models"][0]["scores"][0]["mean"].as_f64().unwrap();
    assert!((mean - 1.0 / 3.0).abs() < 1e-9);
}

#[test]
fn replies_of_a_file_are_scored_again_without_a_call() {
    let folder = Folder::new();
    folder.file("cases.jsonl", CASES);
    folder.file(
        "replies.jsonl",
        "\
{\"id\": \"a\", \"replies\": [\"5\", \"4\", \"5\"]}
{\"id\": \"b\", \"replies\": [\"1\", \"2\", \"1\"]}
{\"id\": \"c\", \"replies\": [\"3\", \"great\", \"3\"]}
",
    );
    folder.file(
        "fullbench.yaml",
        "\
dataset: cases.jsonl
models: [recorded]
scorers: [{ type: g_eval, criterion: relevance, samples: 3, replies: replies.jsonl }]
",
    );
    done(&folder, &["run", "--quiet"]);
    let exported = folder.run(&["export"]).json_lines();
    let raw: Vec<f64> =
        exported.iter().map(|unit| unit["scores"]["g_eval"]["raw"].as_f64().unwrap()).collect();
    assert!(
        (raw[0] - 14.0 / 3.0).abs() < 1e-9 && (raw[1] - 4.0 / 3.0).abs() < 1e-9 && raw[2] == 3.0,
        "{raw:?}"
    );
    assert_eq!(json(&folder, &["judge", "performance"])[0]["judgements"], json!(3));
}
