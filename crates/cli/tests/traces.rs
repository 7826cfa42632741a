//! Traces: what a collector gets of a run and of requests, and that nothing else depends on it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use fullbench_simllm::{Simulator, SimulatorConfig};
use serde_json::{Value, json};
use support::collector::{Collector, Seen};
use support::serving::{Serving, Wish};
use support::{Folder, Said, arithmetic, evaluation, simulator};

/// OTLP's word for a span that calls somebody, and for one that was called.
const CLIENT: i32 = 3;
const SERVER: i32 = 2;
/// OTLP's word for a span that failed.
const ERROR: i32 = 2;

/// Questions of persons, named by their keys.
const CASES: &str = "\
{\"id\": \"ada@example.org\", \"input\": \"What is 1 + 7?\", \"reference\": 8}
{\"id\": \"bob@example.org\", \"input\": \"What is 2 + 14?\", \"reference\": 16}
{\"id\": \"eve@example.org\", \"input\": \"What is 3 + 21?\", \"reference\": 24}
";

/// Three cases for two models, with a judge, at a provider of which the first answer fails once.
fn judged(folder: &Folder, answering: &Simulator, judging: &Simulator) {
    folder.file("cases.jsonl", CASES);
    let model = |url: &str, name: &str| {
        format!(
            "{{ name: m{name}, provider: openai, model: sim-{name}, base_url: \"{url}/v1\", api_key_env: SIM_KEY, price: {{ input: 1, output: 2 }} }}"
        )
    };
    let (good, fair) = (model(&answering.url(), "90"), model(&answering.url(), "60"));
    let judge = model(&judging.url(), "95");
    folder.file(
        "fullbench.yaml",
        format!(
            "name: sums\ndataset: cases.jsonl\nprompt: \"Solve: {{{{ input }}}}\"\nmodels:\n  - {good}\n  - {fair}\nscorers:\n  - numeric_match\n  - {{ type: binary, name: kind, criterion: helpfulness, model: {judge} }}\n"
        ),
    );
}

fn run_with(folder: &Folder, arguments: &[&str], variables: &[(&str, &str)]) -> Said {
    let mut command = folder.command(arguments);
    command.env("SIM_KEY", "sk-provider-secret").envs(variables.iter().copied());
    support::said(command.output().unwrap())
}

fn faulty() -> SimulatorConfig {
    SimulatorConfig { error: 0.2, seed: FAULTY_SEED, ..SimulatorConfig::default() }
}

/// With it, one of the six answers fails at the first try, and none at the second.
const FAULTY_SEED: u64 = 1;

#[test]
fn a_run_is_traced_down_to_every_try_of_a_call() {
    let (answering, judging) = (simulator(faulty()), simulator(SimulatorConfig::default()));
    let (folder, collector) = (Folder::new(), Collector::start());
    judged(&folder, &answering, &judging);
    let endpoint = collector.url().replace("http://", "http://me:url-secret@");
    let said = run_with(
        &folder,
        &["run", "--no-cache", "-o", "json", "--otlp-endpoint", &endpoint],
        &[
            ("OTEL_EXPORTER_OTLP_HEADERS", "x-team=a%20b%3Dc, x-key=collector-secret"),
            ("FULLBENCH_LOG", "debug"),
        ],
    );
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let calls = (answering.stop().calls, judging.stop().calls);
    assert_eq!(calls, (7, 6), "another seed makes one of the answers fail once");

    let spans = collector.spans();
    let named = |name: &str| -> Vec<&Seen> { spans.iter().filter(|s| s.name == name).collect() };
    let counts = spans.iter().fold(BTreeMap::new(), |mut counts, span| {
        *counts.entry(span.name.as_str()).or_insert(0) += 1;
        counts
    });
    let answers = counts["chat sim-90"] + counts["chat sim-60"];
    assert_eq!((counts["run"], counts["unit"], counts["score"], answers), (1, 6, 12, 7));
    assert_eq!((counts["chat sim-95"], spans.len()), (6, 32), "{counts:?}");

    // Every span is in the one that it belongs to, in time as well.
    let by_id: BTreeMap<&str, &Seen> = spans.iter().map(|span| (span.id.as_str(), span)).collect();
    let run = named("run")[0];
    assert_eq!((run.parent.as_str(), &run.links), ("", &Vec::new()));
    for span in spans.iter().filter(|span| span.name != "run") {
        let parent = by_id[span.parent.as_str()];
        let expected = match span.name.as_str() {
            "unit" => "run",
            "chat sim-95" => "score",
            _ => "unit",
        };
        assert_eq!(parent.name, expected, "{span:?}");
        assert!(parent.start <= span.start && span.end <= parent.end, "{span:?} in {parent:?}");
        assert_eq!(span.trace, run.trace);
    }

    check_run(run, &folder);
    check_units(&named("unit"), run);
    check_scores(&named("score"));
    for judgement in named("chat sim-95") {
        assert_eq!(by_id[judgement.parent.as_str()].get("gen_ai.evaluation.name"), "kind");
    }
    check_tries(&spans, &by_id, answering_port(&folder));

    // What was paid is what the report says.
    let paid = spans.iter().filter_map(|span| span.get("fullbench.cost_nanodollars").as_i64());
    let report = said.json();
    let models = report["models"].as_array().unwrap().iter();
    let answering = models.map(|model| model["cost_usd"].as_f64().unwrap()).sum::<f64>();
    let reported = answering + report["scoring_cost_usd"].as_f64().unwrap();
    assert_eq!(paid.sum::<i64>(), (reported * 1e9).round() as i64);

    check_nothing_told(&collector, &folder);
    let resource = collector.resource();
    assert_eq!(resource["service.name"], "fullbench");
    assert_eq!(resource["service.version"], env!("CARGO_PKG_VERSION"));
    let head = collector.posts()[0].head.clone();
    assert!(head.starts_with("post /v1/traces http/1.1"), "{head}");
    for header in [
        "content-type: application/x-protobuf",
        "authorization: basic bwu6dxjslxnly3jlda==",
        "x-team: a b=c",
        "x-key: collector-secret",
    ] {
        assert!(head.contains(header), "{header} in {head}");
    }
    // The log is as it was, whatever is asked of it.
    for told in ["unit{", "run{", "score{", "call{", "-secret"] {
        assert!(!said.stderr.contains(told), "{}", said.stderr);
    }
}

fn check_run(run: &Seen, folder: &Folder) {
    let kept = folder.run(&["list", "-o", "json"]).json();
    assert_eq!(run.get("fullbench.run.id"), kept[0]["id"]);
    assert_eq!(run.get("fullbench.run.name"), "sums");
    assert_eq!(run.get("fullbench.run.models"), "m90, m60");
    assert_eq!(run.number("fullbench.run.units"), 6);
    assert_eq!(run.get("fullbench.run.state"), "completed");
    assert_eq!(run.number("fullbench.run.units_failed"), 0);
    assert_eq!(run.number("fullbench.run.units_open"), 0);
}

fn check_units(units: &[&Seen], run: &Seen) {
    let mut keys: Vec<(String, i64, i64)> = Vec::new();
    for unit in units {
        assert_eq!(unit.get("fullbench.run.id"), run.get("fullbench.run.id"));
        assert_eq!((unit.get("fullbench.cached"), unit.status), (json!(false), 0));
        let model = unit.get("fullbench.model").as_str().unwrap().to_owned();
        keys.push((
            model,
            unit.number("fullbench.case.index"),
            unit.number("fullbench.repetition"),
        ));
    }
    keys.sort();
    let expected =
        ["m60", "m90"].into_iter().flat_map(|model| (0..3).map(move |case| (model, case)));
    let expected: Vec<_> = expected.map(|(model, case)| (model.to_owned(), case, 0)).collect();
    assert_eq!(keys, expected);
}

fn check_scores(scores: &[&Seen]) {
    for scorer in ["numeric_match", "kind"] {
        let of_scorer = scores.iter().filter(|span| span.get("gen_ai.evaluation.name") == scorer);
        let of_scorer: Vec<_> = of_scorer.collect();
        let units: std::collections::BTreeSet<&str> =
            of_scorer.iter().map(|span| span.parent.as_str()).collect();
        assert_eq!((of_scorer.len(), units.len()), (6, 6), "{scorer}");
        for span in of_scorer {
            let value = span.get("gen_ai.evaluation.score.value").as_f64().unwrap();
            let label = span.get("gen_ai.evaluation.score.label");
            assert!((0.0..=1.0).contains(&value), "{span:?}");
            assert!(label == "passed" || label == "failed" || label == "scored", "{span:?}");
            assert_eq!(span.number("fullbench.scorer.outputs"), 1);
        }
    }
}

/// The port of the provider that answers, as the evaluation has it.
fn answering_port(folder: &Folder) -> i64 {
    let text = std::fs::read_to_string(folder.path().join("fullbench.yaml")).unwrap();
    let after = text.split("http://127.0.0.1:").nth(1).unwrap();
    after.split('/').next().unwrap().parse().unwrap()
}

fn check_tries(spans: &[Seen], by_id: &BTreeMap<&str, &Seen>, port: i64) {
    let calls = spans.iter().filter(|span| span.kind == CLIENT);
    let mut attempts: BTreeMap<&str, Vec<(i64, bool)>> = BTreeMap::new();
    for call in calls {
        assert_eq!(call.get("gen_ai.operation.name"), "chat");
        assert_eq!(call.get("gen_ai.provider.name"), "openai");
        assert_eq!(call.get("server.address"), "127.0.0.1");
        let model = call.get("gen_ai.request.model").as_str().unwrap().to_owned();
        assert_eq!(call.name, format!("chat {model}"));
        let parent = by_id[call.parent.as_str()];
        if parent.name == "unit" {
            let name = parent.get("fullbench.model").as_str().unwrap().replace('m', "sim-");
            assert_eq!(model, name);
            assert_eq!(call.number("server.port"), port);
        }
        let has_failed = call.status == ERROR;
        if has_failed {
            assert_eq!(call.get("error.type"), "server");
            assert_eq!(call.get("http.response.status_code"), 500);
            assert_eq!(call.get("fullbench.cost_nanodollars"), Value::Null);
        } else {
            let (read, written) = ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens");
            let cost = call.number(read) * 1_000 + call.number(written) * 2_000;
            assert_eq!(call.number("fullbench.cost_nanodollars"), cost);
            assert_eq!(call.get("error.type"), Value::Null);
        }
        let of_parent = attempts.entry(call.parent.as_str()).or_default();
        of_parent.push((call.number("fullbench.attempt"), has_failed));
    }
    let mut tries: Vec<_> = attempts.into_values().collect();
    tries.iter_mut().for_each(|of_one| of_one.sort_unstable());
    tries.sort_by_key(Vec::len);
    let mut expected = vec![vec![(1, false)]; 11];
    expected.push(vec![(1, true), (2, false)]);
    assert_eq!(tries, expected);
}

/// No text of a case, a prompt, an answer or a judgement, no key of a case and no secret is in what was sent.
fn check_nothing_told(collector: &Collector, folder: &Folder) {
    assert!(collector.spans().iter().all(|span| span.texts == 0));
    let mut texts: Vec<String> =
        ["Solve", "What is", "example.org", "secret"].map(str::to_owned).into();
    for result in folder.run(&["export", "--raw"]).json_lines() {
        texts.push(result["generation"]["text"].as_str().unwrap().to_owned());
        let reasoning = &result["scores"]["kind"]["reasoning"];
        texts.extend(reasoning.as_str().map(str::to_owned));
    }
    assert!(texts.len() >= 10, "{texts:?}");
    for post in collector.posts() {
        for text in texts.iter().filter(|text| text.len() > 3) {
            let is_there = post.body.windows(text.len()).any(|part| part == text.as_bytes());
            assert!(!is_there, "{text}");
        }
    }
}

/// The numbers of a run that do not depend on when it was.
fn numbers(said: &Said) -> Value {
    let report = said.json();
    let of = |model: &Value| json!([model["answered"], model["cost_usd"], model["scores"]]);
    json!(report["models"].as_array().unwrap().iter().map(of).collect::<Vec<_>>())
}

/// Forty questions to one model, and nobody to judge.
fn plain(folder: &Folder, simulator: &Simulator) {
    folder.file("cases.jsonl", arithmetic(40));
    folder.file("fullbench.yaml", evaluation(&simulator.url(), 8, ""));
}

#[test]
fn a_collector_that_is_down_changes_nothing_and_is_told_once() {
    let simulator = simulator(SimulatorConfig::default());
    let folder = Folder::new();
    plain(&folder, &simulator);
    let arguments = ["run", "-o", "json", "--no-cache"];
    let without = run_with(&folder, &arguments, &[]);
    // A port that nobody listens on: it was free a moment ago.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let endpoint = format!("http://{free}");
    let with = run_with(&folder, &arguments, &[("OTEL_EXPORTER_OTLP_ENDPOINT", &endpoint)]);
    assert_eq!((with.code, without.code), (Some(0), Some(0)), "{}", with.stderr);
    assert_eq!(numbers(&with), numbers(&without));
    assert_eq!(with.stderr.matches("takes no traces").count(), 1, "{}", with.stderr);
    // A run, and for each unit itself, its call and its two scores.
    assert!(with.stderr.contains("161 of 161 spans"), "{}", with.stderr);
}

#[test]
fn a_collector_that_says_nothing_is_waited_for_some_seconds_only() {
    let simulator = simulator(SimulatorConfig::default());
    let folder = Folder::new();
    plain(&folder, &simulator);
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", silent.local_addr().unwrap());
    let started = Instant::now();
    let said = run_with(&folder, &["run", "--quiet", "--otlp-endpoint", &endpoint], &[]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(started.elapsed() < Duration::from_secs(9), "{:?}", started.elapsed());
    assert!(said.stderr.contains("161 of 161 spans"), "{}", said.stderr);
}

#[test]
fn nothing_is_sent_where_nothing_is_wanted() {
    let simulator = simulator(SimulatorConfig::default());
    let (folder, collector) = (Folder::new(), Collector::start());
    plain(&folder, &simulator);
    let general = ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url());
    for variables in [
        vec![],
        vec![("OTEL_EXPORTER_OTLP_ENDPOINT", "")],
        vec![general, ("OTEL_SDK_DISABLED", "true")],
        vec![general, ("OTEL_TRACES_EXPORTER", "none")],
        vec![general, ("OTEL_TRACES_SAMPLER", "always_off")],
    ] {
        let said = run_with(&folder, &["run", "--quiet"], &variables);
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        assert!(said.stderr.is_empty(), "{variables:?}: {}", said.stderr);
    }
    assert!(collector.posts().is_empty());
    // The variable for traces has the whole address, and goes before the one for everything.
    let whole = format!("{}/my/own", collector.url());
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", whole.as_str()),
        ("OTEL_SERVICE_NAME", "nightly"),
    ];
    let said = run_with(&folder, &["run", "--quiet"], &variables);
    assert!(said.stderr.is_empty(), "{}", said.stderr);
    assert!(collector.posts()[0].head.starts_with("post /my/own http/1.1"));
    assert_eq!(collector.resource()["service.name"], "nightly");
    let cached =
        collector.spans().iter().filter(|span| span.get("fullbench.cached") == true).count();
    let calls = collector.spans().iter().filter(|span| span.kind == CLIENT).count();
    assert_eq!((cached, calls), (40, 0), "answers from the cache are no calls");
}

#[test]
fn settings_that_are_wrong_are_told_without_what_is_secret_in_them() {
    let folder = Folder::new();
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");
    for (variables, told) in [
        (vec![("OTEL_EXPORTER_OTLP_ENDPOINT", "me:hunter2@host")], "--otlp-endpoint is not"),
        (
            vec![("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "ftp://me:hunter2@host")],
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is not",
        ),
        (vec![endpoint, ("OTEL_EXPORTER_OTLP_HEADERS", "a=b,hunter2")], "header 2 in"),
        (vec![endpoint, ("OTEL_TRACES_SAMPLER", "sometimes")], "`sometimes`"),
        (
            vec![
                endpoint,
                ("OTEL_TRACES_SAMPLER", "traceidratio"),
                ("OTEL_TRACES_SAMPLER_ARG", "2"),
            ],
            "OTEL_TRACES_SAMPLER_ARG",
        ),
        (vec![endpoint, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")], "OTEL_EXPORTER_OTLP_PROTOCOL"),
    ] {
        let said = run_with(&folder, &["run"], &variables);
        assert_eq!(said.code, Some(2), "{}", said.stderr);
        assert!(said.stderr.contains(told), "{told}: {}", said.stderr);
        assert!(said.stderr.contains("hint: "), "{}", said.stderr);
        assert!(!said.stderr.contains("hunter2"), "{}", said.stderr);
    }
    folder.file(
        "traces.toml",
        "[traces]\nendpoint = \"https://me:hunter2@traces.example.org/otlp?token=hunter3\"\nheaders = \"x-key=hunter4\"\n",
    );
    let shown = folder.run(&["config", "show", "--config", "traces.toml"]);
    assert!(shown.stdout.contains("https://traces.example.org/otlp "), "{}", shown.stdout);
    assert!(shown.stdout.contains("(hidden)"), "{}", shown.stdout);
    assert!(!shown.stdout.contains("hunter"), "{}", shown.stdout);
}

#[test]
fn a_request_is_in_the_callers_trace_and_its_run_is_linked_to_it() {
    let simulator = simulator(SimulatorConfig::default());
    let (folder, collector) = (Folder::new(), Collector::start());
    folder.file(
        ".fullbench/fullbench.toml",
        format!("[traces]\nendpoint = \"{}\"\n", collector.url()),
    );
    let mut server = Serving::start(&folder, &simulator.url());
    let dataset = server.dataset();
    let version = server.published(&dataset, 5);
    let model = json!({ "name": "m", "provider": "openai", "model": "sim-80",
        "base_url": format!("{}/v1", simulator.url()) });
    let evaluation = json!({ "name": "asked for", "prompt": "Solve: {{ input }}",
        "models": [model], "scorers": ["numeric_match"] });
    let wish = json!({ "dataset_version_id": version, "evaluation": evaluation });
    let (trace, caller) = ("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331");
    let wish = Wish::post("/v1/runs", wish, "run".to_owned())
        .with("traceparent", &format!("00-{trace}-{caller}-01"));
    let (status, made) = server.client().send(&wish).unwrap();
    assert_eq!(status, 202, "{made}");
    let id = made["run_id"].as_str().unwrap().to_owned();
    let path = format!("/v1/evaluations/batch/{id}");
    let is_done = || server.client().get(&path).1["status"] == "completed";
    assert!((0..600).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        is_done()
    }));
    assert_eq!(server.client().get("/v1/nothing/there?token=hunter2").0, 404);
    server.stop();

    let spans = collector.spans();
    let request = spans.iter().find(|span| span.name == "POST /v1/runs").unwrap();
    assert_eq!((request.trace.as_str(), request.parent.as_str()), (trace, caller));
    assert_eq!((request.kind, request.number("http.response.status_code")), (SERVER, 202));
    assert_eq!(request.get("http.request.method"), "POST");
    assert_eq!(request.get("http.route"), "/v1/runs");
    assert!(request.get("fullbench.request.id").as_str().is_some_and(|id| !id.is_empty()));
    let run = spans.iter().find(|span| span.name == "run").unwrap();
    assert_eq!((run.parent.as_str(), &run.links), ("", &vec![request.id.clone()]));
    assert_eq!(run.get("fullbench.run.id"), id.as_str());
    assert_ne!(run.trace, trace);
    let in_run = spans.iter().filter(|span| span.trace == run.trace).count();
    assert_eq!(in_run, 1 + 5 * 3, "a run, and for each unit itself, its call and its score");
    let missing = spans.iter().find(|span| span.name == "GET").unwrap();
    assert_eq!(missing.number("http.response.status_code"), 404);
    assert_eq!((missing.status, missing.get("http.route")), (0, Value::Null));
    let polled = "GET /v1/evaluations/batch/{job_id}";
    assert!(spans.iter().any(|span| span.name == polled), "the route, and not the path");
    for post in collector.posts() {
        let has = |text: &str| post.body.windows(text.len()).any(|part| part == text.as_bytes());
        assert!(!has("hunter2") && !has("Solve") && !has(&server.key()));
    }
}
