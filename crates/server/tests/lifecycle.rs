//! An organization takes everything along, and leaves nothing behind.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../../store/tests/backend/bucket.rs"]
mod bucket;
mod common;

use std::path::PathBuf;

use bucket::Bucket;
use common::backend::{self, Place, on_every_backend};
use common::captured::Captured;
use common::{TestServer, assert_unmarked, marked};
use fullbench_simllm::{Simulator, SimulatorConfig};
use fullbench_store::{NewVersion, ObjectsLocation};
use fullbench_types::{DEFAULT_ORGANIZATION, FileFormat, RunId};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use uuid::Uuid;

on_every_backend!(
    a_removed_data_set_takes_its_results_along,
    a_file_with_a_problem_leaves_no_blocks,
    an_erased_organization_leaves_nothing_behind,
    an_erased_organization_leaves_nothing_in_a_bucket,
    nothing_is_removed_while_it_is_read,
    what_a_judge_says_later_does_not_come_back_after_an_erasure,
    an_organization_that_was_erased_elsewhere_is_no_failure,
);

/// A word that is in everything the organization has.
const MARK: &str = "zanzibarine";

/// A new version of a data set.
async fn uploaded(server: &TestServer, dataset: &str, rows: &str) -> Value {
    let form = format!(
        "--X\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.jsonl\"\r\n\r\n{rows}\r\n--X--\r\n"
    );
    let upload = server
        .request("POST", &format!("/v1/datasets/{dataset}/versions"))
        .header("content-type", "multipart/form-data; boundary=X")
        .body(form);
    let (status, version) = common::answer(upload).await;
    assert_eq!(status, 202, "{version}");
    version
}

/// A data set with a version that was evaluated, both with the word in them; its id, and that of the run.
async fn evaluated(server: &TestServer, word: &str) -> (String, String) {
    let new = json!({"name": word, "type": "EVALUATION", "description": word});
    let (status, dataset) = server.post("/v1/datasets", new).await;
    assert_eq!(status, 201, "{dataset}");
    let dataset = dataset["dataset_id"].as_str().unwrap().to_owned();
    let rows =
        format!("{{\"input\": \"{word}?\", \"reference\": \"a\", \"output\": \"{word}\"}}\n");
    let version = uploaded(server, &dataset, &rows).await;
    let path = format!("/v1/datasets/{dataset}/versions/1");
    server.wait(&path, |version| version["validation_status"] == "VALID").await;
    let body = json!({"name": word, "dataset_version_id": version["version_id"],
        "metrics": ["exact_match"]});
    let (status, batch) = server.post("/v1/evaluations/batch", body).await;
    assert_eq!(status, 202, "{batch}");
    let batch = batch["job_id"].as_str().unwrap().to_owned();
    let path = format!("/v1/evaluations/batch/{batch}");
    server.wait(&path, |batch| batch["status"] == "completed").await;
    (dataset, batch)
}

async fn a_removed_data_set_takes_its_results_along(place: Place) {
    let server = TestServer::start(place).await;
    let (dataset, batch) = evaluated(&server, MARK).await;
    let named = json!({"run_id": batch});
    assert_eq!(server.put("/v1/baselines/main", named).await.0, 200);
    let (status, problem) = server.delete(&format!("/v1/datasets/{dataset}")).await;
    assert_eq!(status, 204, "{problem}");
    assert_eq!(server.get(&format!("/v1/evaluations/batch/{batch}")).await.0, 404);
    assert_eq!(server.get("/v1/baselines/main").await.0, 404);
    let home = server.place.home();
    assert_eq!(marked(&home.join("objects"), MARK), Vec::<PathBuf>::new());
    assert_eq!(marked(&home.join("files"), MARK), Vec::<PathBuf>::new());
    let (_, log) = server.get("/v1/audit-log?action=delete_dataset").await;
    assert_eq!(log["entries"][0]["after"]["files"], 1, "{log}");
}

/// The problem comes after the first blocks were written.
async fn a_file_with_a_problem_leaves_no_blocks(place: Place) {
    let server = TestServer::start(place).await;
    let (_, dataset) =
        server.post("/v1/datasets", json!({"name": MARK, "type": "EVALUATION"})).await;
    let dataset = dataset["dataset_id"].as_str().unwrap().to_owned();
    let long = format!("{MARK} ").repeat(100);
    let rows: String = (0..1200).map(|row| format!("{{\"input\": \"{row} {long}\"}}\n")).collect();
    uploaded(&server, &dataset, &format!("{rows}{{}}\n")).await;
    let path = format!("/v1/datasets/{dataset}/versions/1");
    server.wait(&path, |version| version["validation_status"] == "INVALID").await;
    assert_eq!(marked(&server.place.home().join("objects"), MARK), Vec::<PathBuf>::new());
}

async fn nothing_is_removed_while_it_is_read(place: Place) {
    let mut server = TestServer::start(place).await;
    let store = server.store.scoped(DEFAULT_ORGANIZATION);
    let new = json!({"name": MARK, "type": "EVALUATION"});
    let (_, dataset) = server.post("/v1/datasets", new).await;
    let dataset: Uuid = dataset["dataset_id"].as_str().unwrap().parse().unwrap();
    // A version that another server looks through.
    let version = NewVersion {
        id: Uuid::now_v7(),
        dataset,
        description: None,
        file_uri: format!("file://datasets/{dataset}/{}/data.jsonl", Uuid::now_v7()),
        file_format: FileFormat::Jsonl,
        file_bytes: 1,
        file_hash: "0".repeat(64),
        reading: json!({}),
        created_by: None,
        quota: None,
    };
    let version = store.add_version(version).await.unwrap().id;
    let reading = store.lock_run(RunId(version)).await.unwrap();
    let path = format!("/v1/datasets/{dataset}");
    let (status, problem) = server.delete(&path).await;
    assert_eq!(status, 409, "{problem}");
    assert!(problem["hint"].as_str().unwrap().contains("validation_status"), "{problem}");
    assert_eq!(server.get(&path).await.0, 200, "nothing is gone");

    let (_, organization) = server.get("/v1/organization").await;
    let slug = organization["slug"].clone();
    let erasing = server.request("POST", "/v1/organization/erase");
    let erasing = tokio::spawn(common::answer(common::with_json(erasing, &json!({"slug": slug}))));
    tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    assert!(!erasing.is_finished(), "it waits");
    drop(reading);
    let (status, receipt) = erasing.await.unwrap();
    assert_eq!(status, 200, "{receipt}");
    server.stop().await;
    assert_unmarked(&server, MARK).await;
}

async fn what_a_judge_says_later_does_not_come_back_after_an_erasure(place: Place) {
    let config = SimulatorConfig { latency_ms: 1_500.0, ..SimulatorConfig::default() };
    let simulator = Simulator::start(config).unwrap();
    let mut server = TestServer::start_with_models(place, &simulator.url()).await;
    let judge = json!({"provider": "openai", "model": "sim-80",
        "base_url": format!("{}/v1", simulator.url())});
    let single = json!({"input": MARK, "output": MARK, "metrics": ["coherence"],
        "config": {"evaluator_model": judge, "timeout_ms": 100}});
    let (status, partial) = server.post("/v1/evaluations", single).await;
    assert_eq!((status, &partial["status"]), (201, &json!("partial")), "{partial}");
    let (_, organization) = server.get("/v1/organization").await;
    let erased = json!({"slug": organization["slug"]});
    let (status, receipt) = server.post("/v1/organization/erase", erased).await;
    assert_eq!(status, 200, "{receipt}");
    server.stop().await;
    assert_unmarked(&server, MARK).await;
    for table in ["runs", "generations", "scores", "run_progress", "dataset_contents"] {
        assert_eq!(server.place.count(table).await, 0, "{table}");
    }
}

/// The command line erases it while the server still believes in its key.
async fn an_organization_that_was_erased_elsewhere_is_no_failure(place: Place) {
    let server = TestServer::start(place).await;
    let other = server.as_other_organization().await;
    assert_eq!(other.get("/v1/datasets").await.0, 200);
    let key = server.store.audit_key().await.unwrap();
    server.store.erase_organization(other.organization, &key, "test").await.unwrap();
    for (path, body) in [
        ("/v1/documents", json!({"actual_output": MARK})),
        ("/v1/evaluations", json!({"input": MARK, "output": MARK, "metrics": ["exact_match"]})),
        ("/v1/datasets", json!({"name": MARK, "type": "EVALUATION"})),
        ("/v1/prompts", json!({"name": MARK, "template": MARK})),
        (
            "/v1/criteria",
            json!({"name": "zanzibar", "task_introduction": MARK, "evaluation_criteria": MARK,
                "scale": {"min": 1, "max": 5}}),
        ),
        ("/v1/models", json!({"provider": "openai", "model": MARK, "name": "zanzibar"})),
    ] {
        let (status, problem) = other.post(path, body).await;
        assert!((400..500).contains(&status), "{path}: {status} {problem}");
    }
    for table in ["criteria", "models"] {
        assert_eq!(server.place.count(table).await, 0, "{table}");
    }
    assert_unmarked(&server, MARK).await;
}

async fn an_erased_organization_leaves_nothing_behind(place: Place) {
    let (log, _captured) = Captured::start();
    let mut server = TestServer::start(place).await;
    let other = server.as_other_organization().await;
    let kept = json!({"name": "kept", "type": "EVALUATION"});
    assert_eq!(other.post("/v1/datasets", kept).await.0, 201);
    let other_key = other.key.clone();
    evaluated(&server, MARK).await;
    let single = json!({"input": MARK, "output": MARK, "metrics": ["exact_match"]});
    assert_eq!(server.post("/v1/evaluations", single).await.0, 201);
    assert_eq!(server.post("/v1/documents", json!({"actual_output": MARK})).await.0, 201);

    let exported = server.request("GET", "/v1/organization/export").send().await.unwrap();
    assert_eq!(exported.status(), 200);
    let told = exported.headers()["x-content-sha256"].to_str().unwrap().to_owned();
    let archive = exported.bytes().await.unwrap();
    let digest: String =
        Sha256::digest(&archive).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(told, digest);

    let (status, problem) = server.post("/v1/organization/erase", json!({"slug": "no"})).await;
    assert_eq!(status, 422, "{problem}");
    let (_, organization) = server.get("/v1/organization").await;
    let slug = organization["slug"].clone();
    let (status, receipt) = server.post("/v1/organization/erase", json!({"slug": slug})).await;
    assert_eq!(status, 200, "{receipt}");
    assert!(receipt["files"] == 1 && receipt["blobs"].as_u64().unwrap() >= 1, "{receipt}");
    assert_eq!(server.get("/v1/organization").await.0, 401, "the key opens nothing any more");
    server.key = other_key;
    assert_eq!(server.get("/v1/datasets").await.1["total"], 1, "the others lost something");
    let (_, verified) = server.get("/v1/audit-log/verify").await;
    assert_eq!(verified["intact"], true, "{verified}");
    // What looks for the word is logged too.
    let written = log.text();
    assert!(written.contains("answered"), "nothing was captured");
    assert!(!written.contains(MARK), "the log of the server has data in it");
    assert_unmarked(&server, MARK).await;
    server.stop().await;
    assert_unmarked(&server, MARK).await;
}

/// Neither what it had there nor a name of it; what others have there stays as it is.
async fn an_erased_organization_leaves_nothing_in_a_bucket(mut place: Place) {
    let Some(bucket) = Bucket::open() else { return };
    place.location.objects = ObjectsLocation::Url(bucket.url.clone());
    let mut server = TestServer::start(place).await;
    let other_key = server.as_other_organization().await.key;
    let key = std::mem::replace(&mut server.key, other_key.clone());
    let (kept, _) = evaluated(&server, "keepsake").await;
    let before = bucket.contents().await;
    server.key = key;
    evaluated(&server, MARK).await;
    let with_mark = bucket.contents().await;
    let is_marked =
        |content: &&Vec<u8>| content.windows(MARK.len()).any(|some| some == MARK.as_bytes());
    let marked = with_mark.values().filter(is_marked).count();
    assert!(marked >= 2, "the file and the block: {:?}", with_mark.keys());

    let (_, organization) = server.get("/v1/organization").await;
    let slug = organization["slug"].clone();
    let (status, receipt) = server.post("/v1/organization/erase", json!({"slug": slug})).await;
    assert_eq!(status, 200, "{receipt}");
    let after = bucket.contents().await;
    assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>());
    assert!(after == before, "what others have there was changed");
    server.stop().await;
    assert_unmarked(&server, MARK).await;
    server.key = other_key;
    server.restart().await;
    let path = format!("/v1/datasets/{kept}/versions/1/cases");
    let (status, cases) = server.get(&path).await;
    assert!(status == 200 && cases.to_string().contains("keepsake"), "{cases}");
}
