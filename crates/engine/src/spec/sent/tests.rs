//! What an evaluation of somebody else must not be able to do.
#![allow(clippy::unwrap_used)]

use fullbench_store::FieldMapping;
use fullbench_types::ContentHash;

use super::*;

fn dataset() -> DatasetVersion {
    DatasetVersion {
        texts_deleted: false,
        hash: ContentHash::of(b""),
        source: "questions".to_owned(),
        cases: 1,
        fields: ["input", "reference", "output"].map(str::to_owned).to_vec(),
        mapping: FieldMapping { input: Some("input".to_owned()), references: Vec::new() },
        blocks: Vec::new(),
        inline: Vec::new(),
    }
}

fn problems(document: Value, rules: &SentRules) -> Vec<InputProblem> {
    match load_sent(document, dataset(), &Definitions::default(), rules) {
        Err(EngineError::Input(problems)) => problems,
        Err(other) => panic!("{other}"),
        Ok(_) => Vec::new(),
    }
}

fn fields(document: Value) -> Vec<String> {
    let problems = problems(document, &SentRules::default());
    problems.into_iter().filter_map(|problem| problem.field).collect()
}

#[test]
fn a_plain_evaluation_is_taken() {
    let sent = json!({"models": ["recorded"], "scorers": ["exact_match"]});
    let loaded = load_sent(sent, dataset(), &Definitions::default(), &SentRules::default());
    assert_eq!(loaded.unwrap().spec.name, "questions");
}

#[test]
fn files_keys_programs_and_addresses_of_the_server_are_out_of_reach() {
    let judge = json!({"type": "g_eval", "criterion": "coherence",
        "model": {"provider": "openai", "model": "m", "base_url": "http://169.254.169.254/"}});
    let keyed = json!({"provider": "openai", "model": "m", "api_key_env": "DATABASE_URL"});
    let endpoints = json!({"provider": "openai", "model": "m",
        "endpoints": [{"base_url": "http://127.0.0.1:1"}]});
    let embedding = json!({"type": "semantic_similarity", "model": "openai:e",
        "base_url": "http://127.0.0.1:1"});
    let similar = json!({"type": "g_eval", "criterion": "coherence", "model": "openai:m",
        "similar": {"model": "/etc/model"}});
    for (document, field) in [
        (json!({"models": ["recorded"], "scorers": [similar]}), "scorers[0].similar.model"),
        (
            json!({"models": ["recorded"], "scorers": [{"type": "judge_check", "judge": similar}]}),
            "scorers[0].judge.similar.model",
        ),
        (json!({"models": ["recorded"], "prompt": "/etc/passwd"}), "prompt"),
        (json!({"models": ["recorded"], "dataset": "/etc/passwd"}), "dataset"),
        (json!({"models": [{"provider": "local", "model": "/etc/passwd"}]}), "models[0].model"),
        (json!({"models": [keyed]}), "models[0].api_key_env"),
        (json!({"models": [endpoints]}), "models[0].endpoints[0].base_url"),
        (json!({"models": ["recorded"], "scorers": [judge]}), "scorers[0].model.base_url"),
        (json!({"models": ["recorded"], "scorers": [embedding]}), "scorers[0].base_url"),
        (
            json!({"models": ["recorded"],
                "scorers": [{"type": "semantic_similarity", "model": "./weights"}]}),
            "scorers[0].model",
        ),
        (
            json!({"models": ["recorded"],
                "scorers": [{"type": "command", "command": ["id"]}]}),
            "scorers[0].type",
        ),
        (
            json!({"models": ["recorded"],
                "scorers": [{"type": "javascript", "file": "/etc/passwd"}]}),
            "scorers[0].file",
        ),
        (
            json!({"models": ["recorded"],
                "scorers": [{"type": "json_schema", "schema": "/etc/passwd"}]}),
            "scorers[0].schema",
        ),
        (
            json!({"models": ["recorded"], "scorers": [{"type": "g_eval", "criterion": "coherence",
                "model": "openai:m", "stored": {"id": "0198a000-0000-7000-8000-000000000000",
                "name": "strict"}}]}),
            "scorers[0].stored",
        ),
        (json!({"models": [{"provider": "recorded", "field": "nothing"}]}), "models[0]"),
    ] {
        let found = fields(document.clone());
        assert!(found.iter().any(|found| found == field), "{document}: {found:?}");
    }
}

#[test]
fn embeddings_of_the_own_machine_are_out_of_reach() {
    let similarity = json!({"type": "semantic_similarity", "model": "ollama:e"});
    let similar = json!({"type": "g_eval", "criterion": "coherence", "model": "openai:m",
        "similar": {"model": "ollama:e"}});
    for scorer in [similarity, similar] {
        let sent = json!({"models": ["recorded"], "scorers": [scorer]});
        let refused = problems(sent, &SentRules::default());
        let is_told = |problem: &InputProblem| problem.message.contains("may not reach");
        assert!(refused.iter().any(is_told), "{scorer}: {refused:?}");
    }
}

#[test]
fn an_allowed_address_gets_its_own_key_and_nothing_beside_it_is_allowed() {
    let allowed: AllowedAddress = "http://127.0.0.1:900=SIM_KEY".parse().unwrap();
    let rules = SentRules { addresses: vec![allowed] };
    let model = |url: &str| json!({"provider": "openai", "model": "m", "base_url": url});
    let sent = |url: &str| json!({"models": [model(url)], "prompt": "{{ input }}"});
    let loaded =
        load_sent(sent("http://127.0.0.1:900/v1"), dataset(), &Definitions::default(), &rules)
            .unwrap();
    assert_eq!(loaded.spec.models[0].api_key_env.as_deref(), Some("SIM_KEY"));
    for other in
        ["http://127.0.0.1:9000", "http://127.0.0.1:900.evil.com", "http://127.0.0.1:900.evil.com"]
    {
        let refused = problems(sent(other), &rules);
        assert!(refused.iter().any(|problem| problem.message.contains("may not reach")), "{other}");
    }
}

#[test]
fn a_model_by_itself_is_held_to_the_same_rules() {
    let rules = SentRules { addresses: vec!["http://127.0.0.1:900=SIM_KEY".parse().unwrap()] };
    assert_eq!(rules.check_model(json!("openai:m")).unwrap().model.as_deref(), Some("m"));
    let sent = json!({"provider": "openai", "model": "m", "base_url": "http://127.0.0.1:900/v1"});
    assert_eq!(rules.check_model(sent).unwrap().api_key_env.as_deref(), Some("SIM_KEY"));
    for (sent, field) in [
        (json!({"provider": "openai", "model": "m", "base_url": "http://10.0.0.1"}), ".base_url"),
        (json!({"provider": "openai", "model": "m", "api_key_env": "HOME"}), ".api_key_env"),
        (json!({"provider": "openai", "model": "m", "temperature": 9}), ".temperature"),
        (json!({"provider": "openai", "model": "m", "color": 9}), ".color"),
        (json!({"provider": "local", "model": "/etc/passwd"}), ".model"),
        (json!({"provider": "recorded"}), ".provider"),
        (json!("nobody:m"), ""),
        (json!(7), ""),
    ] {
        let Err(EngineError::Input(problems)) = rules.check_model(sent.clone()) else {
            panic!("{sent} was taken");
        };
        assert_eq!(problems[0].field.as_deref(), Some(format!("model{field}").as_str()), "{sent}");
    }
}

#[test]
fn no_path_climbs_out_of_an_allowed_address() {
    let rules = SentRules { addresses: vec!["http://models.test/v1=KEY".parse().unwrap()] };
    assert!(rules.allows("http://models.test/v1") && rules.allows("http://models.test/v1/a/b..c"));
    for url in [
        "http://models.test/v1/../admin",
        "http://models.test/v1/a/../../admin",
        "http://models.test/v1/%2e%2E/admin",
        "http://models.test/v1/.%2e/admin",
        "http://models.test/v1/..\\admin",
        "http://models.test/v1/..",
        "http://models.test/v12",
        "http://models.test/v1/.\t./admin",
        "http://models.test/v1/.\n./admin",
        "http://models.test/v1/%2\te./admin",
        "http://models.test/v1/a?b",
        "http://models.test/v1/a#b",
    ] {
        assert!(!rules.allows(url), "{url}");
    }
}
