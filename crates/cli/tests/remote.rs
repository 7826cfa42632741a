//! The command line against a server says the same as against this machine.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use serde_json::Value;
use support::serving::Serving;
use support::{Folder, Said, arithmetic, evaluation, simulator};

/// A server with a provider that answers at once, and a folder of a user.
struct Team {
    _simulator: fullbench_simllm::Simulator,
    _home: Folder,
    server: Serving,
    user: Folder,
}

impl Team {
    fn new(more: &str) -> Self {
        let simulator = simulator(fullbench_simllm::SimulatorConfig::default());
        let (home, user) = (Folder::new(), Folder::new());
        let server = Serving::start(&home, &simulator.url());
        user.file("cases.jsonl", arithmetic(40));
        user.file("fullbench.yaml", evaluation(&simulator.url(), 8, more));
        Self { _simulator: simulator, _home: home, server, user }
    }

    /// Runs the binary against the server.
    fn run(&self, arguments: &[&str]) -> Said {
        let mut command = self.user.command(arguments);
        command.env("FULLBENCH_SERVER", self.server.url());
        support::said(command.env("FULLBENCH_API_KEY", self.server.key()).output().unwrap())
    }
}

/// The numbers of a report that do not depend on who ran it.
fn numbers(report: &Value) -> Vec<Value> {
    let scores = report["models"][0]["scores"].as_array().unwrap();
    let of = |score: &Value| ["scorer", "count", "mean", "low", "high"].map(|n| score[n].clone());
    scores.iter().flat_map(of).collect()
}

#[test]
fn a_run_on_a_server_has_the_numbers_of_one_on_this_machine() {
    let team = Team::new("gates:\n  - numeric_match.mean >= 0.5\n");
    let there = team.run(&["run", "-o", "json"]);
    assert_eq!(there.code, Some(0), "{}", there.stderr);
    let here = team.user.run(&["run", "-o", "json"]);
    assert_eq!(numbers(&there.json()), numbers(&here.json()));
    assert_eq!(there.json()["gates"][0]["passed"], true);

    let list = team.run(&["list", "-o", "json"]).json();
    assert_eq!(list.as_array().unwrap().len(), 1);
    assert_eq!((&list[0]["name"], &list[0]["done"]), (&"test".into(), &40.into()), "{list}");
    let id = list[0]["id"].as_str().unwrap();
    for wanted in ["latest", id, &id[28..], "test"] {
        let shown = team.run(&["show", wanted, "-o", "json"]);
        assert_eq!(numbers(&shown.json()), numbers(&there.json()), "{wanted}");
    }
    let table = team.run(&["show"]);
    assert!(table.stdout.contains("numeric_match"), "{}", table.stdout);
    let exported = team.run(&["export"]);
    assert_eq!(exported.json_lines().len(), 40, "{}", exported.stderr);
    assert!(team.run(&["export", "-o", "csv"]).stdout.lines().count() > 40);

    let again = team.run(&["run", "-o", "json"]);
    assert!(!again.stderr.contains("sending"), "the same file is sent once: {}", again.stderr);
    let finished = team.run(&["resume"]);
    assert_eq!(finished.code, Some(0), "as on this machine: {}", finished.stderr);
}

#[test]
fn a_gate_that_fails_there_fails_here() {
    let team = Team::new("gates:\n  - numeric_match.mean > 1\n");
    let said = team.run(&["run"]);
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    assert!(said.stderr.contains("gate failed"), "{}", said.stderr);
}

#[test]
fn what_the_server_refuses_is_told_at_its_place_in_the_file() {
    let team = Team::new("gates:\n  - nothing.mean >= 0.5\n");
    let said = team.run(&["run"]);
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    assert!(said.stderr.contains("fullbench.yaml:11"), "{}", said.stderr);
    team.user.file("cases.jsonl", "{\"input\": \"a\"}\n{\"inp\": 1}\n");
    let said = team.run(&["run"]);
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    assert!(said.stderr.contains("row 2"), "{}", said.stderr);
    assert!(team.run(&["list", "-o", "json"]).json().as_array().unwrap().is_empty());
    for (arguments, part) in [
        (vec!["diff", "a", "b"], "does not work with --server"),
        (vec!["run", "--provider-batch"], "--provider-batch"),
        (vec!["run", "-o", "junit"], "-o junit"),
        (vec!["show", "nobody"], "no run `nobody`"),
        (vec!["--server", "nonsense", "list"], "--server `nonsense`"),
    ] {
        let said = team.run(&arguments);
        assert_eq!(said.code, Some(2), "{arguments:?}: {}", said.stderr);
        assert!(said.stderr.contains(part), "{arguments:?}: {}", said.stderr);
    }
    let mut command = team.user.command(&["list"]);
    let said = support::said(
        command
            .env("FULLBENCH_SERVER", team.server.url())
            .env_remove("FULLBENCH_API_KEY")
            .output()
            .unwrap(),
    );
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("FULLBENCH_API_KEY"), "{}", said.stderr);
    let mut command = team.user.command(&["list"]);
    command.env("FULLBENCH_SERVER", team.server.url()).env("FULLBENCH_API_KEY", "fb_wrong");
    let said = support::said(command.output().unwrap());
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    assert!(!said.stderr.contains("fb_wrong"), "{}", said.stderr);
}
