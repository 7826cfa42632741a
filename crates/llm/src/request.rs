//! The complete request: what is asked, of whom, and the key under which its answer is cached.

use std::sync::Arc;

use fullbench_types::{ContentHash, Message, OrganizationId};
use serde_json::{Map, Value};

use crate::config::Provider;

/// Everything that decides an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct GenerationRequest {
    /// Whose request it is: tenants never share answers.
    pub organization: OrganizationId,
    /// Who serves the model.
    pub provider: Provider,
    /// Where the provider is served.
    pub base_url: String,
    /// The model's name at the provider.
    pub model: String,
    /// Which of the models that had this name; see [`LanguageModel::revision`](crate::LanguageModel::revision).
    pub revision: Option<String>,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// How the model is asked.
    pub parameters: Arc<Parameters>,
    /// Repetition of the unit, counted from 0.
    pub repetition: u32,
    /// Sample of a judge that asks several times, counted from 0.
    pub sample: u32,
}

/// The generation parameters of a model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parameters {
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Nucleus sampling.
    pub top_p: Option<f64>,
    /// Sample from this many of the most likely tokens.
    pub top_k: Option<u32>,
    /// Penalty on tokens by how often they have appeared.
    pub frequency_penalty: Option<f64>,
    /// Penalty on tokens that have appeared at all.
    pub presence_penalty: Option<f64>,
    /// Most tokens an answer may have.
    pub max_tokens: Option<u32>,
    /// Texts at which the model stops.
    pub stop: Vec<String>,
    /// Seed of repetition 0; see [`GenerationRequest::seed`].
    pub seed: Option<i64>,
    /// Choices to ask for in one call.
    pub n: Option<u32>,
    /// How much a reasoning model thinks.
    pub reasoning_effort: Option<String>,
    /// Log-probabilities of this many alternatives per token.
    pub top_logprobs: Option<u32>,
    /// Receive the answer as a stream.
    pub stream: bool,
    /// JSON Schema the answer must have.
    pub json_schema: Option<Value>,
    /// Answers to choose from.
    pub choices: Vec<String>,
    /// Parameters of the provider, passed on as they are.
    pub extra: Map<String, Value>,
}

impl GenerationRequest {
    /// The seed sent to the provider: seed + repetition, so that repetitions differ and each can be repeated.
    #[must_use]
    pub fn seed(&self) -> Option<i64> {
        self.parameters.seed.map(|seed| seed.wrapping_add(i64::from(self.repetition)))
    }

    /// BLAKE3 of the complete request; two requests share it exactly when every field is equal.
    ///
    /// Both structs are taken apart field by field, so that a new field does not compile until it is in the key.
    #[must_use]
    pub fn cache_key(&self) -> ContentHash {
        let Self {
            organization,
            provider,
            base_url,
            model,
            revision,
            messages,
            parameters,
            repetition,
            sample,
        } = self;
        let Parameters {
            temperature,
            top_p,
            top_k,
            frequency_penalty,
            presence_penalty,
            max_tokens,
            stop,
            seed,
            n,
            reasoning_effort,
            top_logprobs,
            stream,
            json_schema,
            choices,
            extra,
        } = parameters.as_ref();
        let mut key = KeyHasher::new();
        key.bytes(KEY_VERSION);
        key.bytes(organization.0.as_bytes());
        key.bytes(provider.as_str().as_bytes());
        key.bytes(base_url.as_bytes());
        key.bytes(model.as_bytes());
        key.number(messages.len() as u64);
        for Message { role, content } in messages {
            key.bytes(role.as_str().as_bytes());
            key.bytes(content.as_bytes());
        }
        key.number(u64::from(*repetition));
        key.number(u64::from(*sample));
        key.float(*temperature);
        key.float(*top_p);
        key.optional(top_k.map(u64::from));
        key.float(*frequency_penalty);
        key.float(*presence_penalty);
        key.optional(max_tokens.map(u64::from));
        key.number(stop.len() as u64);
        for text in stop {
            key.bytes(text.as_bytes());
        }
        key.optional(seed.map(i64::cast_unsigned));
        key.optional(n.map(u64::from));
        key.optional(reasoning_effort.as_ref().map(|_| 1));
        key.bytes(reasoning_effort.as_deref().unwrap_or_default().as_bytes());
        key.optional(top_logprobs.map(u64::from));
        key.number(u64::from(*stream));
        key.optional(json_schema.as_ref().map(|_| 1));
        if let Some(schema) = json_schema {
            key.json(schema);
        }
        key.object(extra);
        // What came later is added only where it is set, so that keys made before it still hold.
        if !choices.is_empty() {
            key.bytes(b"choices");
            key.number(choices.len() as u64);
            for choice in choices {
                key.bytes(choice.as_bytes());
            }
        }
        if let Some(revision) = revision {
            key.bytes(b"revision");
            key.bytes(revision.as_bytes());
        }
        key.finish()
    }
}

/// Changes when the way a key is made changes, so that old entries are never mistaken for new ones.
const KEY_VERSION: &[u8] = b"fullbench-generation-1";

/// Hashes values so that no two sequences of values give the same bytes: every text is preceded by its length.
struct KeyHasher(blake3::Hasher);

impl KeyHasher {
    fn new() -> Self {
        Self(blake3::Hasher::new())
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.update(bytes);
    }

    fn number(&mut self, number: u64) {
        self.0.update(&number.to_le_bytes());
    }

    fn optional(&mut self, number: Option<u64>) {
        self.0.update(&[u8::from(number.is_some())]);
        self.number(number.unwrap_or_default());
    }

    fn float(&mut self, number: Option<f64>) {
        // -0 and 0 ask for the same thing.
        self.optional(number.map(|number| (number + 0.0).to_bits()));
    }

    fn object(&mut self, map: &Map<String, Value>) {
        let mut entries: Vec<_> = map.iter().collect();
        entries.sort_unstable_by_key(|(key, _)| key.as_str());
        self.number(entries.len() as u64);
        for (key, value) in entries {
            self.bytes(key.as_bytes());
            self.json(value);
        }
    }

    fn json(&mut self, value: &Value) {
        match value {
            Value::Null => self.bytes(b"null"),
            Value::Bool(flag) => self.bytes(if *flag { b"true" } else { b"false" }),
            Value::Number(number) => {
                self.bytes(b"number");
                self.bytes(number.to_string().as_bytes());
            }
            Value::String(text) => {
                self.bytes(b"string");
                self.bytes(text.as_bytes());
            }
            Value::Array(items) => {
                self.bytes(b"array");
                self.number(items.len() as u64);
                for item in items {
                    self.json(item);
                }
            }
            Value::Object(map) => {
                self.bytes(b"object");
                self.object(map);
            }
        }
    }

    fn finish(self) -> ContentHash {
        ContentHash(*self.0.finalize().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fullbench_types::{DEFAULT_ORGANIZATION, Role};
    use serde_json::json;

    fn request() -> GenerationRequest {
        GenerationRequest {
            organization: DEFAULT_ORGANIZATION,
            provider: Provider::Openai,
            base_url: "https://host/v1".to_owned(),
            model: "m".to_owned(),
            revision: None,
            messages: vec![Message::new(Role::User, "hello")],
            parameters: Arc::new(Parameters::default()),
            repetition: 0,
            sample: 0,
        }
    }

    fn key_with(change: impl FnOnce(&mut GenerationRequest)) -> ContentHash {
        let mut request = request();
        change(&mut request);
        request.cache_key()
    }

    fn key_with_parameter(change: impl FnOnce(&mut Parameters)) -> ContentHash {
        key_with(|request| {
            let mut parameters = Parameters::default();
            change(&mut parameters);
            request.parameters = Arc::new(parameters);
        })
    }

    #[test]
    fn every_field_is_in_the_key() {
        let other =
            OrganizationId("00000000-0000-0000-0000-000000000001".parse().unwrap_or_default());
        let system = Message::new(Role::System, "hello");
        let keys = [
            request().cache_key(),
            key_with(|request| request.organization = other),
            key_with(|request| request.provider = Provider::Xai),
            key_with(|request| request.base_url.push('x')),
            key_with(|request| request.model.push('x')),
            key_with(|request| request.revision = Some(String::new())),
            key_with(|request| request.revision = Some("choices".to_owned())),
            key_with(|request| request.messages = vec![system.clone()]),
            key_with(|request| request.messages.push(system.clone())),
            key_with(|request| request.messages[0].content.push('x')),
            key_with(|request| request.repetition = 1),
            key_with(|request| request.sample = 1),
            key_with_parameter(|parameters| parameters.temperature = Some(0.0)),
            key_with_parameter(|parameters| parameters.temperature = Some(1.0)),
            key_with_parameter(|parameters| parameters.top_p = Some(1.0)),
            key_with_parameter(|parameters| parameters.top_k = Some(1)),
            key_with_parameter(|parameters| parameters.frequency_penalty = Some(1.0)),
            key_with_parameter(|parameters| parameters.presence_penalty = Some(1.0)),
            key_with_parameter(|parameters| parameters.max_tokens = Some(1)),
            key_with_parameter(|parameters| parameters.stop = vec!["ab".to_owned()]),
            key_with_parameter(|parameters| parameters.stop = vec!["a".to_owned(), "b".to_owned()]),
            key_with_parameter(|parameters| parameters.seed = Some(0)),
            key_with_parameter(|parameters| parameters.seed = Some(-1)),
            key_with_parameter(|parameters| parameters.n = Some(1)),
            key_with_parameter(|parameters| parameters.reasoning_effort = Some("low".to_owned())),
            key_with_parameter(|parameters| parameters.top_logprobs = Some(1)),
            key_with_parameter(|parameters| parameters.stream = true),
            key_with_parameter(|parameters| parameters.json_schema = Some(json!({}))),
            key_with_parameter(|parameters| {
                parameters.json_schema = Some(json!({"type": "object"}))
            }),
            key_with_parameter(|parameters| parameters.choices = vec!["ab".to_owned()]),
            key_with_parameter(|parameters| {
                parameters.choices = vec!["a".to_owned(), "b".to_owned()];
            }),
            key_with_parameter(|parameters| {
                parameters.extra.insert("tier".to_owned(), json!("flex"));
            }),
        ];
        for (index, key) in keys.iter().enumerate() {
            assert!(!keys[..index].contains(key), "request {index} shares a key with another");
        }
    }

    #[test]
    fn the_order_of_map_keys_does_not_matter() {
        let schema = |text: &str| serde_json::from_str::<Value>(text).ok();
        let one = schema(r#"{"a": {"x": 1, "y": [1, 2]}, "b": 2}"#);
        let two = schema(r#"{"b": 2, "a": {"y": [1, 2], "x": 1}}"#);
        let three = schema(r#"{"b": 2, "a": {"y": [2, 1], "x": 1}}"#);
        let key = |schema| key_with_parameter(|parameters| parameters.json_schema = schema);
        assert_eq!(key(one.clone()), key(two));
        assert_ne!(key(one), key(three));
    }

    #[test]
    fn the_key_is_stable_across_releases() {
        let stable = "b111063f40196f3595488fd743e088770aac3acf55062f7f9d4ccc5ae65b0a74";
        let key = request().cache_key().to_string();
        assert_eq!(key, stable, "a changed key throws every user's cache away");
    }

    #[test]
    fn repetitions_have_seeds_of_their_own() {
        let mut request = request();
        request.parameters = Arc::new(Parameters { seed: Some(7), ..Parameters::default() });
        request.repetition = 2;
        assert_eq!(request.seed(), Some(9));
    }
}
