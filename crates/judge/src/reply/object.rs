//! The JSON object of a reply, with the places of its fields.

use std::fmt;

use fullbench_types::Scale;
use serde::Deserialize;
use serde::de::{self, DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{ScoreAt, read_score};

/// The object of a reply: its fields as they stand in the text.
#[derive(Debug)]
pub(crate) struct Object<'text> {
    text: &'text str,
    fields: Vec<(String, &'text RawValue)>,
}

impl<'text> Object<'text> {
    /// The one object of a reply that has these fields, whole, in a fence, or in prose.
    ///
    /// Several are a complaint: a judge that quotes an object from the judged text must not be taken at that text's word.
    pub(crate) fn find(text: &'text str, required: &[&str]) -> Result<Self, String> {
        let mut found: Option<Self> = None;
        let mut nearest: Option<Vec<String>> = None;
        let mut rest = behind_thoughts(text);
        while let Some(at) = rest.find('{') {
            let mut stream =
                serde_json::Deserializer::from_str(&rest[at..]).into_iter::<Fields<'_>>();
            let Some(Ok(Fields(fields))) = stream.next() else {
                rest = &rest[at + 1..];
                continue;
            };
            rest = &rest[at + stream.byte_offset()..];
            let missing: Vec<String> = required
                .iter()
                .filter(|name| !fields.iter().any(|(field, _)| field == *name))
                .map(|name| format!("`{name}`"))
                .collect();
            if !missing.is_empty() {
                nearest.get_or_insert(missing);
                continue;
            }
            if found.is_some() {
                return Err("the reply has more than one JSON object".to_owned());
            }
            found = Some(Self { text, fields });
        }
        let Some(object) = found else {
            return Err(match nearest {
                Some(missing) => format!("the JSON object has no {}", missing.join(", ")),
                None => "the reply is not a JSON object".to_owned(),
            });
        };
        let twice = required
            .iter()
            .find(|name| object.fields.iter().filter(|(field, _)| field == *name).count() > 1);
        match twice {
            Some(name) => Err(format!("the JSON object has `{name}` more than once")),
            None => Ok(object),
        }
    }

    fn raw(&self, name: &str) -> Result<&'text RawValue, String> {
        let field = self.fields.iter().find(|(field, _)| field == name);
        field.map(|(_, raw)| *raw).ok_or_else(|| format!("the JSON object has no `{name}`"))
    }

    /// A field as a type; `kind` says in words what it must be.
    pub(crate) fn read<T: DeserializeOwned>(&self, name: &str, kind: &str) -> Result<T, String> {
        let raw = self.raw(name)?;
        serde_json::from_str(raw.get()).map_err(|_| format!("`{name}` must be {kind}"))
    }

    /// A text.
    pub(crate) fn text(&self, name: &str) -> Result<String, String> {
        self.read(name, "a text")
    }

    /// One of some words, in any case.
    pub(crate) fn word(
        &self,
        name: &str,
        allowed: &[&'static str],
    ) -> Result<&'static str, String> {
        let text: Option<String> = self.read(name, "a text").ok();
        let text = text.unwrap_or_default();
        let word = allowed.iter().find(|word| word.eq_ignore_ascii_case(text.trim()));
        word.copied().ok_or_else(|| {
            let words: Vec<String> = allowed.iter().map(|word| format!("\"{word}\"")).collect();
            format!("`{name}` must be one of {}", words.join(", "))
        })
    }

    /// A score of the scale: a number, or a text that is one.
    pub(crate) fn score(&self, name: &str, scale: Scale) -> Result<ScoreAt, String> {
        let raw = self.raw(name)?.get();
        let offset = raw.as_ptr() as usize - self.text.as_ptr() as usize;
        let inner = raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"'));
        let quote = usize::from(inner.is_some());
        let (number, digits) = read_score(inner.unwrap_or(raw), scale)?;
        let start = offset + quote;
        Ok(ScoreAt { number, digits: start + digits.start..start + digits.end })
    }
}

/// What follows the thoughts that some models write before their reply.
fn behind_thoughts(text: &str) -> &str {
    const END: &str = "</think>";
    match text.rfind(END) {
        Some(end) if text.trim_start().starts_with("<think>") => &text[end + END.len()..],
        _ => text,
    }
}

/// All fields of an object, those that come twice as well.
struct Fields<'text>(Vec<(String, &'text RawValue)>);

impl<'de: 'text, 'text> Deserialize<'de> for Fields<'text> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(entries)
            }

            fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
                Err(E::custom("not an object"))
            }
        }
        deserializer.deserialize_map(Entries).map(Fields)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const REQUIRED: [&str; 2] = ["reasoning", "score"];

    fn score(text: &str) -> Result<i32, String> {
        let object = Object::find(text, &REQUIRED)?;
        object.text("reasoning")?;
        let found = object.score("score", Scale::FIVE)?;
        let digits: i32 = text[found.digits].parse().unwrap();
        assert_eq!(digits, found.number);
        Ok(found.number)
    }

    #[test]
    fn the_object_is_found_whole_in_a_fence_and_in_prose() {
        for text in [
            r#"{"reasoning": "näh", "score": 4}"#,
            "```json\n{\"reasoning\": \"a {b} c\", \"score\": \"4\"}\n```",
            r#"I think {so}. {"note": 1} {"reasoning": "{\"score\": 1}", "score": 4.0} That is it."#,
            r#"{"reasoning": "a", "score": "4/5", "extra": {"score": 9}}"#,
            r#" {"score" : 4 , "reasoning":"b"} "#,
            "<think>{\"reasoning\": \"a\", \"score\": 1}?</think>{\"reasoning\": \"b\", \"score\": 4}",
        ] {
            assert_eq!(score(text), Ok(4), "{text}");
        }
    }

    #[test]
    fn what_is_not_one_judgement_is_a_complaint() {
        for (text, part) in [
            ("", "not a JSON object"),
            ("4", "not a JSON object"),
            (r#"{"reasoning": "a", "score": 4"#, "not a JSON object"),
            (r#"{"reasoning": "a"}"#, "no `score`"),
            (r#"{"reasoning": "a", "score": 1} {"reasoning": "b", "score": 5}"#, "more than one"),
            (r#"{"reasoning": "a", "score": 1, "score": 5}"#, "`score` more than once"),
            (r#"{"reasoning": "a", "score": 6}"#, "the score 6 is not a whole number from 1 to 5"),
            (r#"{"reasoning": "a", "score": 3.5}"#, "the score 3.5"),
            (r#"{"reasoning": "a", "score": "8/10"}"#, "another maximum"),
            (r#"{"reasoning": "a", "score": null}"#, "must be a whole number"),
            (r#"{"reasoning": 1, "score": 3}"#, "`reasoning` must be a text"),
        ] {
            let complaint = score(text).unwrap_err();
            assert!(complaint.contains(part), "{text}: {complaint}");
        }
    }
}
