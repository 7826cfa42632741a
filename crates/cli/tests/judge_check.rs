//! The report card of a judge on the command line.
#![allow(clippy::unwrap_used)]

mod support;

use fullbench_simllm::SimulatorConfig;
use serde_json::{Value, json};
use support::{Folder, Said, said, simulator};

const QUESTIONS: u32 = 12;

/// Two systems answer each question: one well, one badly, as people see it.
fn labelled() -> String {
    let mut text = "id,system,input,output,human\n".to_owned();
    for question in 0..QUESTIONS {
        for (system, answer, human) in [("north", "A careful answer", 5), ("south", "No idea", 1)] {
            let human = if question == 11 { String::new() } else { human.to_string() };
            text.push_str(&format!(
                "{question}-{system},{system},Question {question}?,{answer} to {question}.,{human}\n"
            ));
        }
    }
    text
}

/// Replies of a judge that sees it as people do, but for one answer.
fn replies() -> String {
    let mut text = String::new();
    for question in 0..QUESTIONS {
        for (system, score) in [("north", 5), ("south", if question == 0 { 4 } else { 1 })] {
            let reply = json!({"reasoning": "so", "score": score}).to_string();
            let row = json!({"id": format!("{question}-{system}"), "replies": [reply]});
            text.push_str(&format!("{row}\n"));
        }
    }
    text
}

const RECORDED: &str = "\
scorers:
  - { type: g_eval, name: remembered, criterion: helpfulness, steps: [read it], replies: replies.jsonl }
  - exact_match
";

fn recorded() -> Folder {
    let folder = Folder::new();
    folder.file("labelled.csv", labelled());
    folder.file("replies.jsonl", replies());
    folder.file("scorers.yaml", RECORDED);
    folder
}

fn fine(said: &Said) {
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
}

#[test]
fn recorded_judgements_are_compared_with_people_without_a_call() {
    let folder = recorded();
    let check =
        ["judge", "check", "remembered", "--from", "scorers.yaml", "--data", "labelled.csv"];
    let said = folder.run(&[&check[..], &["-o", "json", "--correct", "--quiet"]].concat());
    fine(&said);
    let card = said.json();
    let agreement = &card["agreement"];
    assert_eq!(agreement["labelled"], 22, "{card}");
    // 21 of 22 verdicts are those of people: one that they find bad passes.
    assert_eq!(agreement["verdicts"]["table"], json!([[10, 1], [0, 11]]), "{agreement}");
    let corrected = &card["corrected"];
    assert!(!corrected.is_null(), "{card}");
    // Whatever is added to the run afterwards is no part of the card.
    fine(&folder.run(&["rescore", "latest", "--scorers", "json_valid", "--quiet"]));
    let again = folder.run(&["judge", "check", "--run", "latest", "-o", "json"]);
    assert_eq!(again.json()["agreement"], card["agreement"], "{}", again.stderr);
    let table = folder.run(&check);
    fine(&table);
    assert!(table.stdout.contains("Krippendorff"), "{}", table.stdout);
}

#[test]
fn a_judge_is_asked_again_padded_and_attacked_and_the_run_is_kept() {
    let simulated = simulator(SimulatorConfig::default());
    let folder = recorded();
    let model = json!({ "provider": "openai", "model": "sim-80", "price": { "input": 1.0, "output": 2.0 },
        "base_url": format!("{}/v1", simulated.url()) });
    let with_key = |arguments: &[&str]| {
        said(folder.command(arguments).env("OPENAI_API_KEY", "sk-test").output().unwrap())
    };
    let model = model.to_string();
    fine(&folder.run(&["judge", "add", "kind", "--criterion", "helpfulness", "--model", &model]));
    let html = folder.path().join("card.html");
    let check = ["judge", "check", "kind", "--data", "labelled.csv", "--sample", "4", "-o", "json"];
    let first = with_key(&[&check[..], &["--html", html.to_str().unwrap()]].concat());
    fine(&first);
    let card = first.json();
    assert!(card["retest"]["items"].as_u64().unwrap() >= 4, "{card}");
    assert!(card["position"]["flipped"]["n"].as_u64().unwrap() > 0, "{card}");
    assert!(card["replies"]["cost_usd"].as_f64().unwrap() > 0.0, "{card}");
    let page = std::fs::read_to_string(&html).unwrap();
    assert!(page.contains("Judge kind") && !page.contains("sk-test"));

    let again = folder.run(&["judge", "check", "--run", "latest", "-o", "json"]);
    fine(&again);
    assert_eq!(again.json()["agreement"], card["agreement"]);
    // Asked anew, not read from the cache: retests are questions of their own.
    let exported = folder.run(&["export", "--raw"]).json_lines();
    let retest =
        exported.iter().find(|one| one["metadata"]["judge_check"]["probe"]["kind"] == "retest");
    let replies = &retest.unwrap()["scores"]["kind"]["judgement"]["replies"];
    assert!(replies.as_array().unwrap().iter().all(|reply| reply["cached"] == false));
    // Only what was said of the answers themselves counts among the judge's judgements.
    let performance = folder.run(&["judge", "performance", "--judge", "kind", "-o", "json"]);
    let judge = performance.json()[0].clone();
    assert_eq!(judge["judgements"], 2 * QUESTIONS, "{judge}");
}

#[test]
fn mistakes_are_named_with_their_place() {
    let folder = recorded();
    let check = |arguments: &[&str]| folder.run(&[&["judge", "check"][..], arguments].concat());
    let refused = |arguments: &[&str], told: &[&str]| {
        let said = check(arguments);
        assert_eq!(said.code, Some(2), "{arguments:?}: {}{}", said.stdout, said.stderr);
        for told in told {
            assert!(said.stderr.contains(told), "{arguments:?}: {}", said.stderr);
        }
        assert!(
            !folder.path().join(".fullbench/fullbench.db").exists()
                || folder.run(&["list", "-o", "json"]).json() == json!([])
        );
    };
    refused(&["nobody", "--data", "labelled.csv"], &["there is no judge `nobody`"]);
    let from = ["--from", "scorers.yaml"];
    let with =
        |name: &'static str, data: &'static str| [&[name][..], &from, &["--data", data]].concat();
    refused(&with("nobody", "labelled.csv"), &["no scorer `nobody`", "remembered"]);
    refused(&with("exact_match", "labelled.csv"), &["asks no model"]);
    refused(&with("remembered", "missing.csv"), &["missing.csv"]);
    folder.file("wrong.csv", "input,output,human\nq,a,5\nq,a,9\n");
    refused(
        &with("remembered", "wrong.csv"),
        &["wrong.csv:3", "human", "9 is not from 1 to 5", "--scale"],
    );
    folder.file("unlabelled.csv", "input,output,rating\nq,a,5\n");
    refused(&with("remembered", "unlabelled.csv"), &["no row has the column `human`", "rating"]);
    folder.file("twice.csv", "id,input,output,human\na,q,x,5\na,q,x,4\n");
    refused(
        &with("remembered", "twice.csv"),
        &["twice.csv:3", "two rows have the id `a`", "annotator"],
    );
    folder.file("empty.csv", "input,output,human\n");
    refused(&with("remembered", "empty.csv"), &["there are no rows"]);
    let value: Value = json!(check(&["--run", "latest"]).code);
    assert_eq!(value, json!(2));
}

#[test]
fn several_people_may_rate_one_answer() {
    let folder = recorded();
    let mut text = "id,annotator,input,output,human\n".to_owned();
    for question in 0..QUESTIONS {
        for (annotator, human) in [("ada", 5), ("bob", if question < 3 { 4 } else { 5 })] {
            text.push_str(&format!(
                "{question}-north,{annotator},Q{question}?,A{question},{human}\n"
            ));
        }
        text.push_str(&format!("{question}-south,ada,Q{question}?,B{question},1\n"));
    }
    folder.file("labelled.csv", text);
    let said = folder.run(&[
        "judge",
        "check",
        "remembered",
        "--from",
        "scorers.yaml",
        "--data",
        "labelled.csv",
        "-o",
        "json",
    ]);
    fine(&said);
    let card = said.json();
    assert_eq!(card["agreement"]["labelled"], 24, "{card}");
    assert!(card["agreement"]["alpha_among_people"]["value"].is_number(), "{card}");
}
