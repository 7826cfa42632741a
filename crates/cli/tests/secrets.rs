//! The master key: shown, changed while a server is asked for secrets all the time, and forgotten.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use support::serving::{Serving, Wish};
use support::{Folder, simulator};

const KEY: &str = "sk-of-the-organization-0123456789";

/// Somebody who asks all the time, with connections that live as long as the asking.
struct Caller {
    http: reqwest::Client,
    url: String,
    /// The key, which is renewed meanwhile.
    key: Arc<Mutex<String>>,
    number: usize,
}

impl Caller {
    /// The answer to a request; an error where there is none, or where it is not the one that is expected.
    async fn answer(
        &self,
        request: reqwest::RequestBuilder,
        expected: u16,
    ) -> Result<Value, String> {
        let key = self.key.lock().unwrap().clone();
        let response =
            request.bearer_auth(key).send().await.map_err(|error| format!("{error:?}"))?;
        let status = response.status().as_u16();
        let text = response.text().await.map_err(|error| format!("{error:?}"))?;
        match status == expected {
            true => serde_json::from_str(&text).map_err(|error| error.to_string()),
            false => Err(format!("{status}: {text}")),
        }
    }

    /// Asks for what needs secrets until it is over, and says how often that was answered.
    async fn load(&self, models: &str, is_over: &AtomicBool) -> Result<usize, String> {
        let model =
            json!({"provider": "openai", "model": "sim-80", "base_url": format!("{models}/v1")});
        let mut answers = 0;
        while !is_over.load(Ordering::Relaxed) {
            let secret = self.http.get(format!("{}/v1/organization/webhook-secret", self.url));
            self.answer(secret, 200).await?;
            let body = json!({"input": format!("{}: {answers}?", self.number), "output": "4",
                "metrics": ["coherence"], "config": {"evaluator_model": model}});
            let request = self.http.post(format!("{}/v1/evaluations", self.url));
            let request = request.header("content-type", "application/json").body(body.to_string());
            let judged = self.answer(request, 201).await?;
            if judged["status"] != "completed" {
                return Err(judged.to_string());
            }
            answers += 1;
        }
        Ok(answers)
    }
}

/// Gives the callers a new key; the one before goes on for as long as an answer may take.
fn renew(server: &Serving, key: &Mutex<String>) {
    let client = server.client().with_key(key.lock().unwrap().clone());
    let (_, keys) = client.get("/v1/api-keys");
    let is_used = |one: &&Value| key.lock().unwrap().starts_with(one["prefix"].as_str().unwrap());
    let id =
        keys["api_keys"].as_array().unwrap().iter().find(is_used).unwrap()["api_key_id"].clone();
    let path = format!("/v1/api-keys/{}/renew", id.as_str().unwrap());
    let renewal = Wish::post(&path, json!({"grace_seconds": 5}), format!("renew {id}"));
    let (status, renewed) = client.send(&renewal).unwrap();
    assert_eq!(status, 201, "{renewed}");
    *key.lock().unwrap() = renewed["key"].as_str().unwrap().to_owned();
}

#[test]
fn keys_are_changed_under_load_without_a_failed_request() {
    let config = fullbench_simllm::SimulatorConfig {
        require_key: Some(KEY.to_owned()),
        ..Default::default()
    };
    let simulator = simulator(config);
    let folder = Folder::new();
    let server = Serving::start(&folder, &simulator.url());
    let own = json!({"key": KEY, "base_url": format!("{}/v1", simulator.url())});
    let (status, kept) = server.client().put("/v1/provider-keys/openai", &own);
    assert_eq!(status, 200, "{kept}");
    let (_, before) = server.client().get("/v1/organization/webhook-secret");
    let is_over = Arc::new(AtomicBool::new(false));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let key = Arc::new(Mutex::new(server.key()));
    let callers: Vec<_> = (0..3)
        .map(|number| {
            let (url, key) = (server.url().to_owned(), key.clone());
            let caller = Caller { http: http.clone(), url, key, number };
            let (models, is_over) = (simulator.url(), is_over.clone());
            runtime.spawn(async move { caller.load(&models, &is_over).await })
        })
        .collect();
    for _ in 0..3 {
        let said = folder.run(&["secrets", "rotate"]);
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        renew(&server, &key);
        // Longer than a server uses keys without a look at the database, so that it meets what is new.
        std::thread::sleep(Duration::from_secs(6));
    }
    let said = folder.run(&["secrets", "forget-old"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(said.stderr.matches("removed the master key").count(), 3, "{}", said.stderr);
    std::thread::sleep(Duration::from_secs(6));
    is_over.store(true, Ordering::Relaxed);
    for caller in callers {
        let answers = runtime.block_on(caller).unwrap().unwrap();
        assert!(answers > 3, "only {answers} answers");
    }
    let client = server.client().with_key(key.lock().unwrap().clone());
    let (_, after) = client.get("/v1/organization/webhook-secret");
    assert_eq!(before, after, "secrets of webhooks stay what they are");
    let keys = folder.run(&["secrets", "status", "-o", "json"]);
    assert_eq!((keys.code, keys.json().as_array().unwrap().len()), (Some(0), 1));
    let file = std::fs::read_to_string(folder.path().join(".fullbench/secret.key")).unwrap();
    assert_eq!(file.lines().count(), 1);
}

#[test]
fn a_missing_master_key_is_told_and_nothing_is_made_in_its_place() {
    let simulator = simulator(fullbench_simllm::SimulatorConfig::default());
    let folder = Folder::new();
    let none = folder.run(&["secrets", "status"]);
    assert_eq!(none.code, Some(2), "{}", none.stderr);
    let mut server = Serving::start(&folder, &simulator.url());
    server.client().get("/v1/organization/webhook-secret");
    server.kill();
    let file = folder.path().join(".fullbench/secret.key");
    std::fs::remove_file(&file).unwrap();
    for arguments in [&["secrets", "status"][..], &["serve", "--listen", "127.0.0.1:0"]] {
        let said = folder.run(arguments);
        assert_eq!(said.code, Some(2), "{}", said.stderr);
        assert!(said.stderr.contains("FULLBENCH_SECRET_KEY"), "{}", said.stderr);
    }
    assert!(!file.exists());
    let asked = folder.run(&["secrets", "delete-keys", "default"]);
    assert_eq!(asked.code, Some(2), "{}", asked.stderr);
    for keys in ["default", "system"] {
        let deleted = folder.run(&["secrets", "delete-keys", keys, "--yes"]);
        assert_eq!(deleted.code, Some(0), "{}", deleted.stderr);
        assert!(deleted.stderr.contains("the audit log cannot tell"), "{}", deleted.stderr);
    }
    assert_eq!(folder.run(&["secrets", "status"]).code, Some(0));
}

#[test]
fn a_wrong_key_in_the_environment_is_refused_without_being_repeated() {
    let folder = Folder::new();
    for (variables, named) in [
        (&[("FULLBENCH_SECRET_KEY", "too-short")][..], "FULLBENCH_SECRET_KEY"),
        (&[("FULLBENCH_SECRET_KEY_OLD", "too-short")], "FULLBENCH_SECRET_KEY_OLD"),
    ] {
        let mut command = folder.command(&["list"]);
        command.envs(variables.iter().copied());
        let said = support::said(command.output().unwrap());
        assert_eq!(said.code, Some(2), "{}", said.stderr);
        assert!(
            said.stderr.contains(named) && !said.stderr.contains("too-short"),
            "{}",
            said.stderr
        );
    }
}
