//! A server that is killed again and again during uploads, batches and evaluations loses nothing that it acknowledged,
//! leaves nothing half made, and goes on with its runs by itself.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::moments::Moments;
use support::serving::{Serving, Wish};
use support::{Folder, simulator};

/// Rows of every file.
const ROWS: usize = 400;
/// How long everything has to be done after the last start.
const PATIENCE: Duration = Duration::from_secs(120);

/// Something that somebody asked for, with what was answered, if anything was.
struct Asked {
    wish: Wish,
    answer: Option<(u16, Value)>,
}

#[test]
fn kills_lose_nothing_that_was_acknowledged() {
    let kills = if std::env::var_os("FULLBENCH_SOAK").is_some() { 30 } else { 4 };
    let config = fullbench_simllm::SimulatorConfig { latency_ms: 5.0, ..Default::default() };
    let simulator = simulator(config);
    let folder = Folder::new();
    let mut moments = Moments(20_261_116);
    let mut server = Serving::start(&folder, &simulator.url());
    let dataset = server.dataset();
    let model = json!({"provider": "openai", "model": "sim-1",
        "base_url": format!("{}/v1", simulator.url())});
    let version = server.published(&dataset, ROWS);
    let mut asked: Vec<Asked> = Vec::new();
    for kill in 0..kills {
        let is_over = Arc::new(AtomicBool::new(false));
        let callers: Vec<_> = (0..3)
            .map(|caller| {
                let (caller_is_over, client) = (is_over.clone(), server.client());
                let wishes = wishes(&dataset, &version, &model, kill * 3 + caller);
                std::thread::spawn(move || {
                    let mut asked = Vec::new();
                    for wish in wishes {
                        if caller_is_over.load(Ordering::Relaxed) {
                            break;
                        }
                        let answer = client.send(&wish);
                        asked.push(Asked { wish, answer });
                    }
                    asked
                })
            })
            .collect();
        std::thread::sleep(Duration::from_millis(moments.next_milliseconds(100, 900)));
        server.kill();
        is_over.store(true, Ordering::Relaxed);
        for caller in callers {
            asked.extend(caller.join().unwrap());
        }
        server = Serving::start_again(&folder, &simulator.url(), server.key());
    }
    let acknowledged = asked.iter().filter(|one| one.answer.is_some()).count();
    eprintln!("{kills} kills, {} requests, {acknowledged} acknowledged", asked.len());
    assert!(acknowledged > 0 && acknowledged < asked.len(), "the kills were all too late or early");
    for one in &asked {
        check(&server, one);
    }
    check_versions(&server, &dataset, &asked);
}

/// What one caller asks for, one after the other: files, batches and single evaluations.
fn wishes(
    dataset: &str,
    version: &str,
    model: &Value,
    seed: u64,
) -> impl Iterator<Item = Wish> + use<> {
    let (dataset, version, model) = (dataset.to_owned(), version.to_owned(), model.clone());
    (0_u64..).map(move |number| {
        let key = format!("wish-{seed}-{number}");
        match number % 8 {
            0 => Wish::upload(&dataset, ROWS, key),
            4 => {
                let batch = json!({"dataset_version_id": version, "models": [model],
                    "metrics": ["exact_match"], "config": {"sample_rate": 0.1, "cache": false}});
                Wish::post("/v1/evaluations/batch", batch, key)
            }
            _ => {
                let single = json!({"input": "1+1?", "output": format!("{seed} {number}"),
                    "expected_output": format!("{seed} {number}"), "metrics": ["exact_match", "token_f1"]});
                Wish::post("/v1/evaluations", single, key)
            }
        }
    })
}

/// What was acknowledged is there; what was not is made once when it is asked for again, and then as it should be.
fn check(server: &Serving, asked: &Asked) {
    let client = server.client();
    let (status, body) = client.send(&asked.wish).expect("an answer");
    assert!((200..300).contains(&status), "{status} {body}");
    if let Some((before, told)) = &asked.answer {
        assert!((200..300).contains(before), "{before} {told}");
        assert_eq!(&body, told, "the same request has the same answer");
    }
    if let Some(id) = body["job_id"].as_str() {
        let path = format!("/v1/evaluations/batch/{id}");
        let done = wait(server, &path, |batch| batch["status"] == "completed");
        assert_eq!(done["progress"]["completed"], body["total_items"], "{done}");
        let (_, results) = client.get(&format!("{path}/results?limit=100"));
        assert_eq!(results["results"].as_array().unwrap().len() as u64, body["total_items"]);
    } else if let Some(id) = body["evaluation_id"].as_str() {
        let (status, found) = client.get(&format!("/v1/evaluations/{id}"));
        assert_eq!(status, 200, "{found}");
        assert_eq!(found["scores"]["exact_match"], 1.0, "{found}");
        assert_eq!(found["scores"]["token_f1"], 1.0, "{found}");
    }
}

/// Every version is whole and was asked for, each once.
fn check_versions(server: &Serving, dataset: &str, asked: &[Asked]) {
    let uploads = asked.iter().filter(|one| one.wish.is_upload()).count() as u64;
    let path = format!("/v1/datasets/{dataset}/versions?limit=100");
    let are_done = |list: &Value| {
        let versions = list["versions"].as_array().unwrap();
        versions.iter().all(|one| one["validation_status"] == "VALID")
    };
    let list = wait(server, &path, are_done);
    assert_eq!(list["total"], uploads + 1, "one version for each upload and the first");
    for version in list["versions"].as_array().unwrap() {
        assert_eq!(version["row_count"], ROWS, "{version}");
    }
}

fn wait(server: &Serving, path: &str, is_right: impl Fn(&Value) -> bool) -> Value {
    let started = Instant::now();
    loop {
        let (status, body) = server.client().get(path);
        assert_eq!(status, 200, "{path}: {body}");
        if is_right(&body) {
            return body;
        }
        assert!(started.elapsed() < PATIENCE, "{path} never came to what it should be: {body}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
