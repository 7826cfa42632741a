//! One call of a model, read from any of the three wire formats without copying its text.

use std::borrow::Cow;
use std::fmt;

use fullbench_types::Role;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::dice::PromptKey;
use crate::wire::Wire;

/// What is asked for, whatever the wire format.
#[derive(Debug)]
pub(crate) struct Request<'body> {
    pub(crate) wire: Wire,
    pub(crate) model: Cow<'body, str>,
    pub(crate) turns: Vec<Turn<'body>>,
    pub(crate) stream: bool,
    pub(crate) stream_usage: bool,
    pub(crate) choices: u32,
    pub(crate) temperature: f64,
    pub(crate) seed: Option<i64>,
    /// How many alternatives to give with each token's log-probability; none where they are not asked for.
    pub(crate) top_logprobs: Option<usize>,
    pub(crate) max_tokens: Option<u64>,
    pub(crate) stops: Vec<Cow<'body, str>>,
    pub(crate) format: Format,
}

/// One message.
#[derive(Debug)]
pub(crate) struct Turn<'body> {
    pub(crate) role: Role,
    pub(crate) text: Cow<'body, str>,
}

/// The shape the answer must have.
#[derive(Debug)]
pub(crate) enum Format {
    Text,
    AnyJson,
    Schema(Value),
}

impl Request<'_> {
    /// The text of the last message of the user.
    pub(crate) fn question(&self) -> &str {
        self.turns.iter().rev().find(|turn| turn.role == Role::User).map_or("", |turn| &turn.text)
    }

    /// What answers depend on: the model and every message.
    pub(crate) fn answer_key(&self) -> PromptKey {
        self.key(&[])
    }

    /// What attempts are counted by: the wire format too.
    pub(crate) fn attempt_key(&self) -> PromptKey {
        self.key(&[self.wire as u8])
    }

    fn key(&self, prefix: &[u8]) -> PromptKey {
        let mut hasher = blake3::Hasher::new();
        hasher.update(prefix);
        let mut part = |role: u8, text: &str| {
            let mut head = [role; 9];
            head[1..].copy_from_slice(&(text.len() as u64).to_le_bytes());
            hasher.update(&head);
            hasher.update(text.as_bytes());
        };
        part(b'm', &self.model);
        for turn in &self.turns {
            part(turn.role as u8, &turn.text);
        }
        let mut key = [0; 16];
        key.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        PromptKey::from_le_bytes(key)
    }

    /// A plausible count of the prompt's tokens.
    pub(crate) fn input_tokens(&self) -> u64 {
        const PER_MESSAGE: u64 = 4;
        self.turns.iter().map(|turn| tokens_of(&turn.text) + PER_MESSAGE).sum()
    }
}

/// A plausible count of tokens: a token for every four bytes begun.
pub(crate) fn tokens_of(text: &str) -> u64 {
    (text.len() as u64).div_ceil(4)
}

/// Text that may be a string, or a list of parts of which those with `text` count, or an object with `parts`.
#[derive(Debug, Default)]
pub(crate) struct Text<'body>(pub(crate) Cow<'body, str>);

impl<'de: 'body, 'body> Deserialize<'de> for Text<'body> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("text or a list of parts")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Text::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Self::Value, A::Error> {
        let mut whole = Text::default();
        while let Some(Text(part)) = parts.next_element()? {
            if whole.0.is_empty() {
                whole.0 = part;
            } else {
                whole.0.to_mut().push_str(&part);
            }
        }
        Ok(whole)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        let mut text = Text::default();
        while let Some(Text(name)) = fields.next_key()? {
            match name.as_ref() {
                "text" | "parts" => text = fields.next_value()?,
                _ => {
                    fields.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(text)
    }
}

/// One text or several.
#[derive(Debug, Default)]
pub(crate) struct Texts<'body>(pub(crate) Vec<Cow<'body, str>>);

impl<'de: 'body, 'body> Deserialize<'de> for Texts<'body> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextsVisitor)
    }
}

struct TextsVisitor;

impl<'de> Visitor<'de> for TextsVisitor {
    type Value = Texts<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text or a list of texts")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Texts(vec![Cow::Borrowed(text)]))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Texts(vec![Cow::Owned(text.to_owned())]))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Texts::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut texts = Texts::default();
        while let Some(Text(text)) = items.next_element()? {
            texts.0.push(text);
        }
        Ok(texts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_comes_as_a_string_or_in_parts() {
        let read =
            |json| serde_json::from_str::<Text<'_>>(json).map(|text| text.0).unwrap_or_default();
        assert!(matches!(read(r#""plain""#), Cow::Borrowed("plain")));
        assert_eq!(read(r#""with \"quotes\"""#), "with \"quotes\"");
        assert_eq!(read(r#"[{"type":"text","text":"a"},{"type":"image_url"},{"text":"b"}]"#), "ab");
        assert_eq!(read(r#"{"parts":[{"text":"a"},{"text":"b"}],"role":"user"}"#), "ab");
        assert_eq!(read("null"), "");
    }

    #[test]
    fn keys_tell_models_messages_and_wires_apart() {
        let turn = |role, text: &'static str| Turn { role, text: text.into() };
        let request = |wire, model: &'static str, turns| Request {
            wire,
            model: model.into(),
            turns,
            stream: false,
            stream_usage: false,
            choices: 1,
            temperature: 0.0,
            seed: None,
            top_logprobs: None,
            max_tokens: None,
            stops: Vec::new(),
            format: Format::Text,
        };
        let first = request(Wire::OpenAi, "m", vec![turn(Role::User, "ab"), turn(Role::User, "c")]);
        let second =
            request(Wire::OpenAi, "m", vec![turn(Role::User, "a"), turn(Role::User, "bc")]);
        let other_wire =
            request(Wire::Gemini, "m", vec![turn(Role::User, "ab"), turn(Role::User, "c")]);
        assert_ne!(first.answer_key(), second.answer_key());
        assert_eq!(first.answer_key(), other_wire.answer_key());
        assert_ne!(first.attempt_key(), other_wire.attempt_key());
        assert_eq!(first.question(), "c");
    }
}
