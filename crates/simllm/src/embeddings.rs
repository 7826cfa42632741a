//! OpenAI embeddings: a vector for each text, which depends only on the seed, the model and the text.

use std::borrow::Cow;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};

use crate::dice::{Dice, PromptKey, Purpose};
use crate::request::{Texts, tokens_of};

const DEFAULT_DIMENSIONS: usize = 384;
const MAX_DIMENSIONS: usize = 16_384;

/// Most texts of one call, as OpenAI has it.
const MAX_TEXTS: usize = 2_048;

#[derive(Deserialize)]
struct Call<'body> {
    #[serde(borrow)]
    model: Cow<'body, str>,
    #[serde(borrow)]
    input: Texts<'body>,
    #[serde(default)]
    dimensions: Option<usize>,
    #[serde(default)]
    encoding_format: Encoding,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Encoding {
    #[default]
    Float,
    Base64,
}

/// A call for embeddings.
#[derive(Debug)]
pub(crate) struct EmbeddingRequest<'body> {
    pub(crate) model: Cow<'body, str>,
    texts: Vec<Cow<'body, str>>,
    dimensions: usize,
    encoding: Encoding,
}

#[derive(Serialize)]
struct Reply<'call> {
    object: &'static str,
    data: Vec<Item>,
    model: &'call str,
    usage: Usage,
}

#[derive(Serialize)]
struct Item {
    object: &'static str,
    index: usize,
    embedding: Encoded,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Encoded {
    Float(Vec<f32>),
    Base64(String),
}

#[derive(Serialize)]
struct Usage {
    prompt_tokens: u64,
    total_tokens: u64,
}

/// Reads a request; a message for the caller where it makes no sense.
pub(crate) fn parse(body: &[u8]) -> Result<EmbeddingRequest<'_>, String> {
    let call: Call<'_> =
        serde_json::from_slice(body).map_err(|error| format!("invalid request body: {error}"))?;
    let texts = call.input.0;
    let dimensions = call.dimensions.unwrap_or(DEFAULT_DIMENSIONS);
    if texts.is_empty() || texts.iter().any(|text| text.is_empty()) {
        return Err("'input' cannot be empty or contain an empty string".to_owned());
    }
    if texts.len() > MAX_TEXTS {
        return Err(format!("'input' has more than {MAX_TEXTS} texts"));
    }
    if !(1..=MAX_DIMENSIONS).contains(&dimensions) {
        return Err(format!("'dimensions' must be from 1 to {MAX_DIMENSIONS}"));
    }
    Ok(EmbeddingRequest { model: call.model, texts, dimensions, encoding: call.encoding_format })
}

impl EmbeddingRequest<'_> {
    /// What attempts are counted by: everything that is asked.
    pub(crate) fn attempt_key(&self) -> PromptKey {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"embeddings");
        hasher.update(&(self.dimensions as u64).to_le_bytes());
        for text in std::iter::once(&self.model).chain(&self.texts) {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        key_of(&hasher)
    }

    /// Tokens of the longest text: the context holds one at a time.
    pub(crate) fn longest_tokens(&self) -> u64 {
        self.texts.iter().map(|text| tokens_of(text)).max().unwrap_or_default()
    }

    /// The whole reply as JSON.
    pub(crate) fn reply(&self, seed: u64) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec(&self.answer(seed))
    }

    /// A reply that is JSON of the right shape, and wrong: one vector too few, one in the place of another, or one
    /// without values.
    pub(crate) fn wrong_reply(
        &self,
        seed: u64,
        variant: u64,
    ) -> Result<Vec<u8>, serde_json::Error> {
        let mut reply = self.answer(seed);
        let Some(last) = reply.data.last_mut() else { return serde_json::to_vec(&reply) };
        match variant % 3 {
            0 => {
                reply.data.pop();
            }
            1 => last.index += 1,
            _ => last.embedding = Encoded::Float(Vec::new()),
        }
        serde_json::to_vec(&reply)
    }

    fn answer(&self, seed: u64) -> Reply<'_> {
        let encode = |vector: Vec<f32>| match self.encoding {
            Encoding::Float => Encoded::Float(vector),
            Encoding::Base64 => {
                let bytes: Vec<u8> = vector.into_iter().flat_map(f32::to_le_bytes).collect();
                Encoded::Base64(BASE64_STANDARD.encode(bytes))
            }
        };
        let items = self.texts.iter().enumerate().map(|(index, text)| Item {
            object: "embedding",
            index,
            embedding: encode(vector(seed, &self.model, text, self.dimensions)),
        });
        let tokens = self.texts.iter().map(|text| tokens_of(text)).sum();
        Reply {
            object: "list",
            // No order is promised, and clients must not rely on one.
            data: items.rev().collect(),
            model: &self.model,
            usage: Usage { prompt_tokens: tokens, total_tokens: tokens },
        }
    }
}

/// A vector of length 1; a shorter one is the beginning of the longer, as with models trained for it.
fn vector(seed: u64, model: &str, text: &str, dimensions: usize) -> Vec<f32> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(model.len() as u64).to_le_bytes());
    hasher.update(model.as_bytes());
    hasher.update(text.as_bytes());
    let dice = Dice::new(seed, key_of(&hasher));
    let draws = (0..dimensions as u64).map(|place| dice.with(place).share(Purpose::Vector) - 0.5);
    let values: Vec<f64> = draws.collect();
    let length = values.iter().map(|value| value * value).sum::<f64>().sqrt();
    values.into_iter().map(|value| (value / length) as f32).collect()
}

fn key_of(hasher: &blake3::Hasher) -> PromptKey {
    let mut key = [0; 16];
    key.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    PromptKey::from_le_bytes(key)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    #[test]
    fn a_vector_depends_on_seed_model_and_text_and_has_length_one() {
        let first = vector(1, "m", "text", 384);
        assert_eq!(vector(1, "m", "text", 384), first);
        for other in
            [vector(2, "m", "text", 384), vector(1, "n", "text", 384), vector(1, "m", "other", 384)]
        {
            assert_ne!(other, first);
        }
        for dimensions in [1, 2, 384, 3_072] {
            let values = vector(1, "m", "text", dimensions);
            let length: f64 = values.iter().map(|value| f64::from(*value).powi(2)).sum();
            assert_eq!(values.len(), dimensions);
            assert!((length - 1.0).abs() < 1e-5, "{length}");
        }
    }

    #[test]
    fn requests_that_openai_refuses_are_refused() {
        let refused = |body: serde_json::Value| parse(body.to_string().as_bytes()).is_err();
        assert!(!refused(json!({"model": "m", "input": "one text"})));
        assert!(!refused(json!({"model": "m", "input": [" "], "encoding_format": "base64"})));
        for input in
            [json!([]), json!(""), json!(["a", ""]), json!([1, 2]), json!(vec!["a"; 2_049])]
        {
            assert!(refused(json!({"model": "m", "input": input})), "{input}");
        }
        assert!(refused(json!({"model": "m", "input": "a", "dimensions": 0})));
        assert!(refused(json!({"model": "m", "input": "a", "encoding_format": "hex"})));
    }
}
