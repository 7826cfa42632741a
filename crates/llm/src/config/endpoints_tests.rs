//! Endpoints as they are written in a file: their names, keys, prices and limits.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use serde_json::{Value, json};

use super::{Limits, ModelConfig};
use crate::keys::ProviderKeys;
use crate::price::price_of;

fn read(settings: &Value) -> ModelConfig {
    let mut value = json!({"provider": "openai", "model": "m"});
    for (key, setting) in settings.as_object().unwrap() {
        value[key] = setting.clone();
    }
    serde_json::from_value(value).unwrap()
}

fn names(config: &ModelConfig) -> Vec<String> {
    config.deployments().into_iter().map(|(name, _)| name).collect()
}

#[test]
fn endpoints_are_named_by_host_and_by_key_where_hosts_repeat() {
    let config = read(&json!({"endpoints": [
        {"api_key_env": "FIRST"},
        {"api_key_env": "SECOND"},
        {"base_url": "http://127.0.0.1:8001/v1"},
        {"base_url": "https://llm.example.com/v1", "name": "own"},
    ]}));
    assert_eq!(config.validate(), Ok(()));
    let expected = ["api.openai.com (FIRST)", "api.openai.com (SECOND)", "127.0.0.1:8001", "own"];
    assert_eq!(names(&config), expected);
    let text = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<ModelConfig>(&text).unwrap(), config);
    let plain = serde_json::to_value(ModelConfig::parse("openai:m").unwrap()).unwrap();
    assert_eq!(plain, json!({"provider": "openai", "model": "m"}), "nothing new is written");
}

#[test]
fn a_key_goes_only_to_the_address_it_belongs_to() {
    let config = read(&json!({
        "base_url": "https://one.example.com/v1", "api_key_env": "ONE",
        "endpoints": [
            {},
            {"base_url": "https://one.example.com/v1/", "api_key_env": "ONE_MORE"},
            {"base_url": "https://two.example.com/v1"},
            {"base_url": "https://api.openai.com/v1"},
        ],
    }));
    assert_eq!(config.validate(), Ok(()));
    let deployments = config.deployments();
    let keys: Vec<_> = deployments.iter().map(|(_, model)| model.key_variable()).collect();
    assert_eq!(keys, [Some("ONE"), Some("ONE_MORE"), None, Some("OPENAI_API_KEY")]);
    let implied = read(&json!({
        "endpoints": [{"base_url": "http://127.0.0.1:1/v1"}, {"base_url": "http://127.0.0.1:2/v1"}],
    }));
    assert_eq!(
        ProviderKeys::default().missing_variable(&implied),
        None,
        "the model's own key is sent nowhere"
    );
    let missing = read(&json!({"endpoints": [
        {"base_url": "http://127.0.0.1:1/v1"},
        {"base_url": "http://127.0.0.1:2/v1", "api_key_env": "FULLBENCH_TEST_KEY_THAT_IS_NOT_SET"},
    ]}));
    assert_eq!(
        ProviderKeys::default().missing_variable(&missing).as_deref(),
        Some("FULLBENCH_TEST_KEY_THAT_IS_NOT_SET")
    );
}

#[test]
fn endpoints_that_cannot_be_told_apart_or_called_are_refused() {
    let (one, two) = ("http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1");
    for (settings, field) in [
        (json!({"endpoints": [{}, {}]}), "endpoints[1].base_url"),
        (
            json!({"endpoints": [{"base_url": one}, {"base_url": "http://127.0.0.1:1/v1/"}]}),
            "endpoints[1].base_url",
        ),
        (
            json!({"endpoints": [{"name": "a"}, {"name": "a", "base_url": one}]}),
            "endpoints[1].name",
        ),
        (
            json!({"endpoints": [{"base_url": one}, {"base_url": "http://127.0.0.1:1/v2"}]}),
            "endpoints[1].name",
        ),
        (json!({"endpoints": [{"name": " "}]}), "endpoints[0].name"),
        (json!({"endpoints": [{"base_url": "nowhere"}]}), "endpoints[0].base_url"),
        (json!({"endpoints": [{"api_key_env": "sk-1"}]}), "endpoints[0].api_key_env"),
        (json!({"endpoints": [{"price": {"input": -1, "output": 0}}]}), "endpoints[0].price.input"),
        (json!({"endpoints": [{"limits": {"concurrency": 0}}]}), "endpoints[0].limits.concurrency"),
        (json!({"endpoints": [{"limits": {"attempts": 2}}]}), "endpoints[0].limits.attempts"),
        (json!({"endpoints": [{}, {"base_url": one}], "top_k": 3}), "top_k"),
        (json!({"route": "cost"}), "route"),
        (json!({"provider": "local", "model": null, "endpoints": [{}]}), "endpoints"),
        (json!({"provider": "recorded", "model": null, "endpoints": [{}]}), "endpoints"),
    ] {
        let error = read(&settings).validate().expect_err(field);
        assert_eq!(error.field, field, "{settings}");
    }
    let served =
        json!({"endpoints": [{"base_url": one}, {"base_url": two}], "top_k": 3, "route": "cost"});
    assert_eq!(read(&served).validate(), Ok(()), "neither is OpenAI itself, which has no top_k");
}

#[test]
fn prices_and_limits_are_the_models_unless_the_endpoint_has_its_own() {
    let mut config = read(&json!({
        "price": {"input": 1, "output": 2}, "limits": {"concurrency": 4, "timeout_seconds": 5},
        "endpoints": [
            {"base_url": "https://one.example.com/v1"},
            {"base_url": "https://two.example.com/v1", "price": {"input": 3, "output": 1},
             "limits": {"concurrency": 6, "requests_per_minute": 60}},
        ],
    }));
    let limits: Vec<Limits> = config
        .deployments()
        .iter()
        .map(|(_, model)| model.effective_limits(&Limits::default()))
        .collect();
    assert_eq!((limits[0].concurrency, limits[1].concurrency), (4, 6));
    assert_eq!((limits[0].timeout_seconds, limits[1].timeout_seconds), (5.0, 5.0));
    let all = config.effective_limits(&Limits::default());
    assert_eq!((all.concurrency, all.requests_per_minute), (10, None), "the first has no pace");
    let dearest = price_of(&config).unwrap();
    assert_eq!((dearest.input, dearest.output), (3.0, 2.0));
    config.price = None;
    assert_eq!(price_of(&config), None, "the first endpoint's price is unknown");
}
