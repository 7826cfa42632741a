//! Every method of judging with a real model in this process.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod support;

use support::Folder;

const CASES: &str = "\
{\"id\": \"a\", \"input\": \"What is the capital of France?\", \"output\": \"Paris.\", \"other\": \"Lyon.\", \"reference\": \"Paris\", \"context\": \"Paris is the capital of France.\"}
";

#[test]
fn every_method_works_with_a_real_model() {
    let Some(model) = std::env::var("FULLBENCH_GGUF").ok().filter(|path| !path.is_empty()) else {
        eprintln!("SKIPPED: FULLBENCH_GGUF names no weights");
        return;
    };
    let folder = Folder::new();
    folder.file("cases.jsonl", CASES);
    let judge = format!("model: {{ provider: local, model: \"{model}\" }}, max_tokens: 100");
    folder.file(
        "fullbench.yaml",
        format!(
            "\
dataset: cases.jsonl
models: [recorded]
scorers:
  - {{ type: g_eval, criterion: helpfulness, steps: [Read the answer.], {judge} }}
  - {{ type: rubric, criterion: helpfulness, {judge} }}
  - {{ type: binary, criterion: safety, {judge} }}
  - {{ type: reference, {judge} }}
  - {{ type: claims, {judge} }}
  - {{ type: pairwise, against: other, judge: {{ criterion: helpfulness, {judge} }} }}
  - type: panel
    members:
      - {{ method: binary, judge: {{ criterion: safety, {judge} }} }}
      - {{ method: g_eval, judge: {{ criterion: helpfulness, steps: [Read it.], {judge} }} }}
"
        ),
    );
    let said = folder.run(&["run", "--quiet", "-o", "json"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let exported = folder.run(&["export", "--raw"]).json_lines();
    for name in ["g_eval", "rubric", "binary", "reference", "claims", "pairwise", "panel"] {
        let score = &exported[0]["scores"][name];
        let replies = score["judgement"]["replies"].as_array().unwrap();
        assert!(!replies.is_empty(), "{name}: {score}");
        // A model this small may run on without an end, or be unsure; what it never does is to leave the scale.
        match score["value"].as_f64() {
            Some(value) => assert!((0.0..=1.0).contains(&value), "{name}: {score}"),
            None => {
                let reason = score["outcome"]["unscored"].as_str().or(score["reason"].as_str());
                let text = score.to_string();
                assert!(
                    text.contains("unparseable_judgement") || text.contains("pending_human"),
                    "{name}: {reason:?} {score}"
                );
            }
        }
    }
    for name in ["g_eval", "reference"] {
        assert!(
            exported[0]["scores"][name]["value"].is_number(),
            "{name}: {}",
            exported[0]["scores"][name]
        );
    }
}
