//! The master key: shown, changed while servers are asked for secrets all the time, and forgotten.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../../../store/tests/backend/mod.rs"]
mod backend;
mod environment;
mod load;
#[path = "../support/mod.rs"]
mod support;

use std::sync::Mutex;
use std::time::Duration;

use load::Load;
use serde_json::{Value, json};
use support::serving::{Serving, Wish};
use support::{Folder, simulator};

/// Longer than a server uses keys without a look at the database.
const UNTIL_LOOKED: Duration = Duration::from_secs(6);

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
    let simulator = load::models();
    let folder = Folder::new();
    let server = Serving::start(&folder, &simulator.url());
    load::keep_own_key(&server, &simulator);
    let (_, before) = server.client().get("/v1/organization/webhook-secret");
    let load = Load::start(&[&server], &simulator);
    for _ in 0..3 {
        let said = folder.run(&["secrets", "rotate"]);
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        renew(&server, load.key());
        std::thread::sleep(UNTIL_LOOKED);
    }
    let said = folder.run(&["secrets", "forget-old"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(said.stderr.matches("removed the master key").count(), 3, "{}", said.stderr);
    std::thread::sleep(UNTIL_LOOKED);
    let key = load.key().lock().unwrap().clone();
    load.end();
    let client = server.client().with_key(key);
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
        // Nobody could name it among the older ones.
        (&[("FULLBENCH_SECRET_KEY", "too-short,to-be-two-of-32-letters-each")], "with a comma"),
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
