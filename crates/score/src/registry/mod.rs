//! Builds scorers from their entries in an evaluation file, and describes them.

mod config;
mod description;
mod error;

use std::sync::Arc;

use fullbench_types::ContentHash;
use serde_json::{Map, Value};

use crate::scorer::Scorer;
use crate::scorers::{KINDS, Kind};

pub use config::ScorerConfig;
pub use description::{ScorerDescription, descriptions};
pub use error::ScorerConfigError;

use description::parameter_names;
pub(crate) use error::suggestion;

/// Words that mean something else where gates name scorers.
const RESERVED: [&str; 6] = ["unscored", "cost", "latency", "answered", "tokens", "units"];

/// A scorer ready for use, under the name its scores are shown by.
#[derive(Clone)]
pub struct NamedScorer {
    /// What its scores are called.
    pub name: String,
    /// Which scorer it is.
    pub kind: String,
    /// Hash of kind, parameters and version: what scores are keyed by. The name is not part of it.
    pub hash: ContentHash,
    /// How its numbers are made, in one line.
    pub signature: String,
    /// Every score is yes or no.
    pub binary: bool,
    /// The scorer.
    pub scorer: Arc<dyn Scorer>,
}

impl std::fmt::Debug for NamedScorer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("NamedScorer")
            .field("name", &self.name)
            .field("signature", &self.signature)
            .finish()
    }
}

/// A scorer and its parameters with every default filled in.
pub(crate) struct Built {
    pub(crate) scorer: Arc<dyn Scorer>,
    pub(crate) canonical: Value,
}

/// Builds the scorer that an entry describes.
///
/// # Errors
/// When there is no such scorer, its name cannot be used in gates, or a parameter is unknown or wrong.
pub fn build(config: &ScorerConfig) -> Result<NamedScorer, ScorerConfigError> {
    let kind = kind_of(config)?;
    check_name(config)?;
    let built = (kind.build)(&config.parameters).map_err(|error| explain(kind, config, error))?;
    let parameters = built.canonical.to_string();
    Ok(NamedScorer {
        name: config.name().to_owned(),
        kind: kind.name.to_owned(),
        hash: ContentHash::of_parts(&[
            kind.name.as_bytes(),
            parameters.as_bytes(),
            &kind.version.to_le_bytes(),
        ]),
        signature: built.scorer.signature(),
        binary: built.scorer.is_binary(),
        scorer: built.scorer,
    })
}

fn kind_of(config: &ScorerConfig) -> Result<&'static Kind, ScorerConfigError> {
    if let Some(kind) = KINDS.iter().find(|kind| kind.name == config.kind) {
        return Ok(kind);
    }
    let is_bare = config.name.is_none() && config.parameters.is_empty();
    Err(ScorerConfigError {
        field: (!is_bare).then(|| "type".to_owned()),
        message: format!("there is no scorer `{}`", config.kind),
        hint: Some(suggestion(&config.kind, "scorers", KINDS.iter().map(|kind| kind.name))),
    })
}

/// What a kind's scores are called unless a name is given: the kind, or a word of its own where gates have taken it.
pub(crate) fn default_name(kind: &str) -> &str {
    match kind {
        "cost" => "cost_bound",
        "latency" => "latency_bound",
        other => other,
    }
}

/// Names stand in gate expressions, so they must be identifiers and mean nothing else.
fn check_name(config: &ScorerConfig) -> Result<(), ScorerConfigError> {
    let name = config.name();
    let mut characters = name.chars();
    let starts_well =
        characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
    if !starts_well
        || !characters.all(|character| character.is_ascii_alphanumeric() || character == '_')
    {
        return Err(ScorerConfigError::at("name", format!("`{name}` cannot be used in gates"))
            .hint("a name consists of letters, digits and underscores and does not begin with a digit"));
    }
    if RESERVED.contains(&name) {
        return Err(ScorerConfigError::at(
            "name",
            format!("`{name}` means something else in gates"),
        )
        .hint(format!("choose another name; reserved are {}", RESERVED.join(", "))));
    }
    Ok(())
}

/// Turns an unknown parameter into a message that names the nearest one.
fn explain(kind: &Kind, config: &ScorerConfig, error: ScorerConfigError) -> ScorerConfigError {
    let known = parameter_names(kind);
    let unknown = config.parameters.keys().find(|name| !known.contains(name));
    let Some(unknown) = unknown else {
        let missing = error.message.starts_with("missing field");
        return if missing { error.hint(format!("for example: {}", kind.example)) } else { error };
    };
    let message = format!("`{}` has no parameter `{unknown}`", kind.name);
    let hint = match known.is_empty() {
        true => format!("`{}` has no parameters", kind.name),
        false => suggestion(unknown, "parameters", known.iter().map(String::as_str)),
    };
    ScorerConfigError::at(unknown, message).hint(hint)
}

/// The same value with the keys of every map in order, so that it is written one way only.
pub(crate) fn canonical(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.into_iter().collect();
            entries.sort_by(|first, second| first.0.cmp(&second.0));
            Value::Object(
                entries
                    .into_iter()
                    .map(|(key, value)| (key, canonical(value)))
                    .collect::<Map<_, _>>(),
            )
        }
        Value::Array(items) => Value::Array(items.into_iter().map(canonical).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use crate::scorers::fixture::{refused, scorer};

    #[test]
    fn a_misspelt_scorer_is_answered_with_the_nearest() {
        let error = refused(json!("exact-mach"));
        assert_eq!(
            (error.field, error.message.as_str()),
            (None, "there is no scorer `exact-mach`")
        );
        assert!(error.hint.unwrap().starts_with(
            "did you mean `exact_match`? scorers: bag_cosine, bert_score, binary, bleu"
        ));
        let error = refused(json!({"type": "qqq", "name": "x"}));
        assert_eq!(error.field.as_deref(), Some("type"));
        assert!(error.hint.unwrap().starts_with("scorers: bag_cosine"));
    }

    #[test]
    fn a_misspelt_parameter_is_answered_with_the_nearest() {
        let error = refused(json!({"type": "regex", "pattern": ["a"]}));
        assert_eq!(error.to_string(), "`pattern`: `regex` has no parameter `pattern`");
        let hint = "did you mean `patterns`? parameters: patterns, mode, ignore_case, multiline, threshold";
        assert_eq!(error.hint.as_deref(), Some(hint));
    }

    #[test]
    fn names_must_work_in_gates() {
        for name in ["", "1st", "a-b", "é", "a b", "latency", "unscored"] {
            let error = refused(json!({"type": "json_valid", "name": name}));
            assert_eq!(error.field.as_deref(), Some("name"), "{name}");
        }
        assert_eq!(scorer(json!({"type": "json_valid", "name": "_a1"})).name, "_a1");
        assert_eq!(scorer(json!({"type": "latency", "max_ms": 1})).name, "latency_bound");
        assert_eq!(scorer(json!({"type": "cost", "max_usd": 1})).name, "cost_bound");
    }

    #[test]
    fn the_hash_is_of_what_the_scores_depend_on() {
        let plain = scorer(json!("exact_match"));
        let named = scorer(json!({"type": "exact_match", "name": "other", "trim": true}));
        let other = scorer(json!({"type": "exact_match", "trim": false}));
        assert_eq!(plain.hash, named.hash);
        assert_ne!(plain.hash, other.hash);
        let first = json!({"type": "json_schema", "schema": {"type": "object", "required": ["a"]}});
        let second =
            json!({"type": "json_schema", "schema": {"required": ["a"], "type": "object"}});
        assert_eq!(scorer(first).hash, scorer(second).hash);
    }

    #[test]
    fn signatures_say_how_a_number_was_made() {
        let exact = "exact_match|collapse_whitespace:no|ignore_articles:no|ignore_case:no|ignore_punctuation:no|trim:yes|v:1";
        assert_eq!(scorer(json!("exact_match")).signature, exact);
        let regex = scorer(json!({"type": "regex", "patterns": ["^\\d+$"], "mode": "any"}));
        assert_eq!(
            regex.signature,
            r#"regex|ignore_case:no|mode:any|multiline:no|patterns:["^\\d+$"]|v:1"#
        );
        let long = scorer(json!({"type": "regex", "patterns": ["a|b"]})).signature;
        assert!(long.contains("|patterns:#"), "{long}");
    }
}
