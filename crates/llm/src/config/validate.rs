//! What a model's configuration may not be.

use std::collections::HashSet;

use reqwest::Url;
use serde_json::Value;

use super::{ConfigError, LOCAL_SETTINGS, ModelConfig, Provider};

/// Words in the name of an `extra` parameter that give a key away.
const SECRET_WORDS: [&str; 6] =
    ["api_key", "apikey", "authorization", "secret", "password", "access_token"];

/// What `extra` cannot set, since budgets are reserved by it, and what sets it.
const COUNTED: [(&str, &str); 6] = [
    ("n", "n"),
    ("best_of", "n"),
    ("max_tokens", "max_tokens"),
    ("max_completion_tokens", "max_tokens"),
    ("max_output_tokens", "max_tokens"),
    ("max_tokens_to_sample", "max_tokens"),
];
/// The same inside of Gemini's `generationConfig`, which takes both spellings of its names.
const COUNTED_BY_GEMINI: [(&str, &str); 4] = [
    ("maxOutputTokens", "max_tokens"),
    ("max_output_tokens", "max_tokens"),
    ("candidateCount", "n"),
    ("candidate_count", "n"),
];

/// The longest name of a model, and the longest address: more than any provider has.
const LONGEST_NAME: usize = 255;
const LONGEST_ADDRESS: usize = 2_048;
/// The longest path of a local model's file that systems take.
const LONGEST_PATH: usize = 4_096;

/// The largest of these counts: more tokens than any context has.
const MAX_LOCAL_SETTING: u64 = 16_777_216;

/// Answers to choose from, at most: each is read by the model.
const MAX_CHOICES: usize = 1_000;

impl ModelConfig {
    /// Refuses what no provider could accept, before any call is made.
    ///
    /// # Errors
    /// Names the first setting that cannot be, and what to do about it.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.name.as_deref().is_some_and(|name| name.trim().is_empty()) {
            return Err(ConfigError::new("name", "`name` is blank"));
        }
        let is_local = self.provider == Provider::Local;
        let longest_model = if is_local { LONGEST_PATH } else { LONGEST_NAME };
        for (field, name, longest) in
            [("name", &self.name, LONGEST_NAME), ("model", &self.model, longest_model)]
        {
            if name.as_deref().is_some_and(|name| name.len() > longest) {
                let message = format!("`{field}` has more than {longest} bytes");
                return Err(ConfigError::new(field, message));
            }
        }
        if self.provider == Provider::Recorded {
            return self.validate_recorded();
        }
        self.require_model()?;
        if self.field.is_some() {
            return Err(ConfigError::new("field", "`field` is only for recorded answers")
                .hint("set `provider: recorded`, or remove `field`"));
        }
        self.validate_address()?;
        self.validate_sampling()?;
        self.validate_extra()?;
        self.validate_choices()?;
        self.validate_endpoints()?;
        if !self.has_endpoints() {
            self.validate_for_provider()?;
        }
        if let Some(price) = &self.price {
            price.validate()?;
        }
        self.limits.as_ref().map_or(Ok(()), |limits| {
            limits
                .validate()
                .map_err(|error| ConfigError { field: format!("limits.{}", error.field), ..error })
        })
    }

    pub(super) fn require_model(&self) -> Result<(), ConfigError> {
        if self.provider == Provider::Local && self.model.is_none() {
            return Ok(());
        }
        if self.model.as_deref().is_none_or(|model| model.trim().is_empty()) {
            let message = format!("a model of {} needs its name at the provider", self.provider);
            return Err(ConfigError::new("model", message)
                .hint(format!("write `{}:<model>`, or set `model`", self.provider)));
        }
        Ok(())
    }

    fn validate_recorded(&self) -> Result<(), ConfigError> {
        let Self { name, provider, field, .. } = self;
        let allowed =
            Self { name: name.clone(), field: field.clone(), ..Self::new(*provider, None) };
        if field.as_deref().is_some_and(|field| field.trim().is_empty()) {
            return Err(ConfigError::new("field", "`field` is blank"));
        }
        if *self == allowed {
            return Ok(());
        }
        let set = match serde_json::to_value(self) {
            Ok(Value::Object(map)) => {
                map.into_iter().map(|(key, _)| key).find(|key| !is_recorded_setting(key))
            }
            _ => None,
        };
        let set = set.unwrap_or_else(|| "model".to_owned());
        let message = format!("`{set}` means nothing for recorded answers: no model is called");
        Err(ConfigError::new(&set, message).hint("keep only `name` and `field`"))
    }

    pub(super) fn validate_address(&self) -> Result<(), ConfigError> {
        if let Some(variable) = &self.api_key_env {
            validate_key_variable(variable)?;
        }
        let Some(base_url) = &self.base_url else { return Ok(()) };
        let wrong = |reason: &str| {
            ConfigError::new("base_url", format!("`base_url` {reason}"))
                .hint("write an address such as http://127.0.0.1:8000/v1")
        };
        if base_url.len() > LONGEST_ADDRESS {
            return Err(wrong(&format!("has more than {LONGEST_ADDRESS} bytes")));
        }
        let url = Url::parse(base_url).map_err(|error| wrong(&format!("is not a URL: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("must begin with http:// or https://"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(ConfigError::new(
                "base_url",
                "`base_url` contains a user name or password",
            )
            .hint("put the key into an environment variable and name it in `api_key_env`"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(wrong("must not have a query or a fragment"));
        }
        Ok(())
    }

    fn validate_sampling(&self) -> Result<(), ConfigError> {
        in_range("temperature", self.temperature, 0.0, 2.0)?;
        in_range("frequency_penalty", self.frequency_penalty, -2.0, 2.0)?;
        in_range("presence_penalty", self.presence_penalty, -2.0, 2.0)?;
        in_range("top_p", self.top_p, 0.0, 1.0)?;
        if self.top_p == Some(0.0) {
            return Err(ConfigError::new("top_p", "`top_p` must be above 0"));
        }
        for (field, value) in
            [("top_k", self.top_k), ("max_tokens", self.max_tokens), ("n", self.n)]
        {
            if value == Some(0) {
                return Err(ConfigError::new(field, format!("`{field}` must be at least 1")));
            }
        }
        if self.n.is_some_and(|n| n > 128) {
            return Err(ConfigError::new("n", "`n` must be at most 128"));
        }
        if self.top_logprobs.is_some_and(|count| count > 20) {
            return Err(ConfigError::new("top_logprobs", "`top_logprobs` must be at most 20"));
        }
        if self.stop.iter().any(String::is_empty) {
            return Err(ConfigError::new("stop", "`stop` contains an empty text"));
        }
        if self.reasoning_effort.as_deref().is_some_and(|effort| effort.trim().is_empty()) {
            return Err(ConfigError::new("reasoning_effort", "`reasoning_effort` is blank"));
        }
        if self.json_schema.as_ref().is_some_and(|schema| !schema.is_object()) {
            return Err(ConfigError::new(
                "json_schema",
                "`json_schema` must be a JSON Schema object",
            ));
        }
        Ok(())
    }

    fn validate_extra(&self) -> Result<(), ConfigError> {
        if let Some(key) = self.extra.iter().find_map(|(key, value)| secret_key(key, value)) {
            let message = format!("`extra.{key}` looks like a key or a secret");
            return Err(ConfigError::new("extra", message)
                .hint("put the key into an environment variable and name it in `api_key_env`"));
        }
        for key in ["model", "messages", "contents", "stream"] {
            if self.extra.contains_key(key) {
                let message = format!("`extra.{key}` would replace what Fullbench sends");
                return Err(ConfigError::new("extra", message));
            }
        }
        let inner = ["generationConfig", "generation_config"].map(|name| self.extra.get(name));
        let inner = || inner.iter().flatten().filter_map(|value| value.as_object());
        let is_inside = |key: &str| inner().any(|inner| inner.contains_key(key));
        let outside = COUNTED.iter().find(|(key, _)| self.extra.contains_key(*key));
        let inside = COUNTED_BY_GEMINI.iter().find(|(key, _)| is_inside(key));
        let Some((key, field)) = outside.or(inside) else { return Ok(()) };
        let message = format!("`extra` sets `{key}`, which budgets are reserved by");
        Err(ConfigError::new("extra", message).hint(format!("set `{field}` of the model instead")))
    }

    fn validate_local_settings(&self) -> Result<(), ConfigError> {
        for (key, value) in &self.extra {
            if !LOCAL_SETTINGS.contains(&key.as_str()) {
                let message = format!("a local model has no `extra.{key}`");
                let known = LOCAL_SETTINGS.join("`, `");
                return Err(ConfigError::new("extra", message).hint(format!("there are `{known}`")));
            }
            let is_count =
                value.as_u64().is_some_and(|count| (1..=MAX_LOCAL_SETTING).contains(&count));
            if !is_count {
                let message =
                    format!("`extra.{key}` must be a whole number from 1 to {MAX_LOCAL_SETTING}");
                return Err(ConfigError::new("extra", message));
            }
        }
        Ok(())
    }

    fn validate_choices(&self) -> Result<(), ConfigError> {
        let wrong = |message: &str| Err(ConfigError::new("choices", message));
        if self.choices.is_empty() {
            return Ok(());
        }
        if self.provider != Provider::Local {
            let message = format!("{} has no `choices`", self.provider.title());
            return Err(ConfigError::new("choices", message).hint(
                "only `local` models tell the probability of given answers; elsewhere list them in the prompt",
            ));
        }
        if self.choices.iter().any(String::is_empty) {
            return wrong("`choices` contains an empty text");
        }
        if self.choices.len() > MAX_CHOICES {
            return wrong(&format!("`choices` has more than {MAX_CHOICES} answers"));
        }
        let distinct: HashSet<&String> = self.choices.iter().collect();
        if distinct.len() < self.choices.len() {
            return wrong("`choices` has an answer twice");
        }
        let unused = [
            ("json_schema", self.json_schema.is_some()),
            ("stop", !self.stop.is_empty()),
            ("max_tokens", self.max_tokens.is_some()),
            ("n", self.n.is_some_and(|n| n > 1)),
        ];
        match unused.iter().find(|(_, set)| *set) {
            Some((field, _)) => {
                let message = format!("`{field}` means nothing with `choices`: nothing is written");
                Err(ConfigError::new(field, message).hint(format!("remove `{field}`")))
            }
            None => Ok(()),
        }
    }

    pub(super) fn validate_for_provider(&self) -> Result<(), ConfigError> {
        let unsupported: &[(&str, bool)] = match self.provider {
            Provider::Anthropic => &[
                ("n", self.n.is_some_and(|n| n > 1)),
                ("seed", self.seed.is_some()),
                ("top_logprobs", self.top_logprobs.is_some()),
                ("frequency_penalty", self.frequency_penalty.is_some()),
                ("presence_penalty", self.presence_penalty.is_some()),
            ],
            Provider::Local => &[
                ("base_url", self.base_url.is_some()),
                ("api_key_env", self.api_key_env.is_some()),
                ("reasoning_effort", self.reasoning_effort.is_some()),
            ],
            Provider::Openai | Provider::Xai if self.uses_default_base_url() => {
                &[("top_k", self.top_k.is_some())]
            }
            _ => &[],
        };
        if let Some((field, _)) = unsupported.iter().find(|(_, set)| *set) {
            let title = self.provider.title();
            let message = format!("{title} has no `{field}`");
            let error = ConfigError::new(field, message);
            return Err(match *field {
                "n" => error.hint("use `repetitions` to ask several times"),
                _ => error.hint(format!("remove `{field}`")),
            });
        }
        if self.provider == Provider::Local {
            return self.validate_local_settings();
        }
        if self.provider == Provider::Gemini {
            self.validate_gemini_name()?;
        }
        if self.provider == Provider::Anthropic && self.temperature.is_some_and(|value| value > 1.0)
        {
            return Err(ConfigError::new(
                "temperature",
                "Anthropic takes a `temperature` from 0 to 1",
            ));
        }
        Ok(())
    }
}

impl ModelConfig {
    /// Gemini has the name of the model in the path of its address: it must lead nowhere else.
    fn validate_gemini_name(&self) -> Result<(), ConfigError> {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.@".contains(letter);
        let is_name = |part: &str| {
            part.chars().all(is_plain) && part.chars().any(|letter| letter.is_ascii_alphanumeric())
        };
        let name = self.model.as_deref().unwrap_or_default();
        if name.split('/').all(is_name) {
            return Ok(());
        }
        let message = format!("`{}` is no name of a model of Gemini", name.escape_debug());
        Err(ConfigError::new("model", message).hint(
            "write a name such as gemini-2.5-flash or tunedModels/mine: letters, digits and - _ . @",
        ))
    }
}

fn is_recorded_setting(key: &str) -> bool {
    matches!(key, "name" | "provider" | "field")
}

fn validate_key_variable(variable: &str) -> Result<(), ConfigError> {
    let is_name = !variable.is_empty()
        && !variable.starts_with(|first: char| first.is_ascii_digit())
        && variable.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if is_name {
        return Ok(());
    }
    // The value is not shown: it may be the key itself.
    let message = "`api_key_env` must be the name of an environment variable";
    Err(ConfigError::new("api_key_env", message)
        .hint("write the variable's name, such as OPENAI_API_KEY, never the key itself"))
}

fn secret_key(key: &str, value: &Value) -> Option<String> {
    let word = key.to_lowercase().replace('-', "_");
    if SECRET_WORDS.iter().any(|secret| word.contains(secret)) {
        return Some(key.to_owned());
    }
    let nested = value.as_object()?.iter().find_map(|(key, value)| secret_key(key, value))?;
    Some(format!("{key}.{nested}"))
}

fn in_range(field: &str, value: Option<f64>, low: f64, high: f64) -> Result<(), ConfigError> {
    match value {
        Some(value) if !(low..=high).contains(&value) => {
            let message = format!("`{field}` must be from {low} to {high}, and is {value}");
            Err(ConfigError::new(field, message))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use super::*;
    use serde_json::json;

    fn refused_field(setting: Value) -> String {
        let mut value = json!({"provider": "openai", "model": "m"});
        for (key, setting) in setting.as_object().unwrap() {
            value[key] = setting.clone();
        }
        let config: ModelConfig = serde_json::from_value(value).unwrap();
        config.validate().map_or_else(|error| error.field, |()| "accepted".to_owned())
    }

    #[test]
    fn a_name_of_gemini_leads_nowhere_else() {
        let model = |name: &str| ModelConfig::new(Provider::Gemini, Some(name.to_owned()));
        for name in ["gemini-2.5-flash", "models/gemini-2.5-pro", "tunedModels/mine_1", "a@001"] {
            assert_eq!(model(name).validate(), Ok(()), "{name}");
        }
        for name in [
            "../../admin#",
            "a/../../admin",
            "..",
            "a/..",
            "./a",
            "a//b",
            "/a",
            "a?b",
            "a#b",
            "a%2f..%2fb",
            "a\\b",
            "a\t",
            "a:b",
            "ä",
        ] {
            let refused = model(name).validate().unwrap_err();
            assert_eq!(refused.field, "model", "{name}");
            assert!(refused.hint.is_some());
        }
    }

    #[test]
    fn settings_that_no_provider_accepts_are_refused_before_any_call() {
        for (setting, field) in [
            (json!({"model": " "}), "model"),
            (json!({"name": ""}), "name"),
            (json!({"temperature": -0.1}), "temperature"),
            (json!({"temperature": 2.1}), "temperature"),
            (json!({"top_p": 0}), "top_p"),
            (json!({"top_p": 1.1}), "top_p"),
            (json!({"max_tokens": 0}), "max_tokens"),
            (json!({"n": 0}), "n"),
            (json!({"top_logprobs": 21}), "top_logprobs"),
            (json!({"stop": [""]}), "stop"),
            (json!({"json_schema": "text"}), "json_schema"),
            (json!({"field": "output"}), "field"),
            (json!({"price": {"input": -1.0, "output": 1.0}}), "price.input"),
            (json!({"limits": {"concurrency": 0}}), "limits.concurrency"),
            (json!({"base_url": "localhost:8000"}), "base_url"),
            (json!({"base_url": "ftp://host/v1"}), "base_url"),
            (json!({"base_url": "no url"}), "base_url"),
            (json!({"base_url": "http://user:pass@host/v1"}), "base_url"),
            (json!({"base_url": "http://host/v1?key=abc"}), "base_url"),
            (json!({"api_key_env": "sk-abc-123"}), "api_key_env"),
            (json!({"extra": {"api_key": "x"}}), "extra"),
            (json!({"extra": {"headers": {"Authorization": "x"}}}), "extra"),
            (json!({"extra": {"messages": []}}), "extra"),
            (json!({"extra": {"n": 128}}), "extra"),
            (json!({"extra": {"max_completion_tokens": 1_000_000}}), "extra"),
            (json!({"extra": {"generationConfig": {"maxOutputTokens": 9}}}), "extra"),
            (json!({"extra": {"generation_config": {"candidate_count": 9}}}), "extra"),
            (json!({"model": "m".repeat(256)}), "model"),
            (json!({"name": "n".repeat(256)}), "name"),
            (json!({"base_url": format!("http://host/{}", "v".repeat(2_048))}), "base_url"),
            (json!({"provider": "anthropic", "n": 2}), "n"),
            (json!({"provider": "anthropic", "seed": 2}), "seed"),
            (json!({"provider": "anthropic", "temperature": 1.5}), "temperature"),
            (json!({"top_k": 5}), "top_k"),
            (json!({"choices": ["A", "B"]}), "choices"),
            (json!({"provider": "local", "choices": ["A", ""]}), "choices"),
            (json!({"provider": "local", "choices": ["A", "A"]}), "choices"),
            (json!({"provider": "local", "choices": ["A", "B"], "max_tokens": 1}), "max_tokens"),
            (json!({"provider": "local", "base_url": "http://127.0.0.1:1/v1"}), "base_url"),
            (json!({"provider": "local", "api_key_env": "KEY"}), "api_key_env"),
            (json!({"provider": "local", "extra": {"min_p": 0.1}}), "extra"),
            (json!({"provider": "local", "extra": {"threads": 0}}), "extra"),
            (json!({"provider": "local", "model": ""}), "model"),
            (json!({"provider": "recorded"}), "model"),
            (json!({"provider": "recorded", "model": null, "temperature": 1}), "temperature"),
        ] {
            assert_eq!(refused_field(setting.clone()), field, "{setting}");
        }
    }

    #[test]
    fn ordinary_settings_are_accepted() {
        for setting in [
            json!({"temperature": 0, "top_p": 1, "max_tokens": 1, "n": 3, "seed": -1, "stop": "x"}),
            json!({"base_url": "http://127.0.0.1:8000/v1", "top_k": 5, "api_key_env": "MY_KEY"}),
            json!({"extra": {"service_tier": "flex", "max_tokens_of_thought": 5}}),
            json!({"provider": "recorded", "model": null, "field": "answers.m2", "name": "m2"}),
            json!({"provider": "anthropic", "n": 1, "top_k": 3}),
            json!({"provider": "local", "model": null, "extra": {"threads": 2, "context_tokens": 512}}),
            json!({"provider": "local", "model": "tiny.gguf", "top_k": 3, "n": 2, "seed": 1}),
            json!({"provider": "local", "model": format!("{}/tiny.gguf", "deep/".repeat(100))}),
            json!({"provider": "local", "choices": ["A", "B"], "temperature": 0}),
        ] {
            assert_eq!(refused_field(setting.clone()), "accepted", "{setting}");
        }
    }

    #[test]
    fn a_non_finite_temperature_is_refused() {
        let mut config = ModelConfig::parse("openai:m").unwrap();
        config.temperature = Some(f64::NAN);
        assert_eq!(config.validate().unwrap_err().field, "temperature");
    }

    #[test]
    fn a_key_written_in_place_of_its_variable_is_not_repeated() {
        let mut config = ModelConfig::parse("openai:m").unwrap();
        config.api_key_env = Some("sk-very-secret".to_owned());
        let error = config.validate().unwrap_err();
        assert!(!format!("{error:?}").contains("sk-very-secret"));
    }
}
