//! From a YAML document to typed values, with errors in the user's words at the user's line.

use serde::de::DeserializeOwned;
use serde_path_to_error::Segment;

use super::suggest::did_you_mean;
use super::yaml::{Content, Node, Step};
use crate::InputProblem;

/// Decodes a document, or says what is wrong and where.
pub(crate) fn decode<T: DeserializeOwned>(document: &Node) -> Result<T, InputProblem> {
    if !matches!(document.content, Content::Mapping(_)) {
        let problem = InputProblem::new("expected a mapping of keys and values");
        let hint = "begin with `dataset: path/to/cases.jsonl`; `fullbench init` writes an example";
        return Err(problem.at_line(document.position.line).hint(hint));
    }
    let value = document.value();
    serde_path_to_error::deserialize(&value).map_err(|error| {
        let steps: Vec<Step> = error.path().iter().filter_map(step).collect();
        problem_at(document, steps, &error.inner().to_string())
    })
}

fn step(segment: &Segment) -> Option<Step> {
    match segment {
        Segment::Seq { index } => Some(Step::Index(*index)),
        Segment::Map { key } => Some(Step::Key(key.clone())),
        Segment::Enum { .. } | Segment::Unknown => None,
    }
}

/// A problem at a path of the document.
pub(crate) fn problem_at(document: &Node, mut steps: Vec<Step>, message: &str) -> InputProblem {
    let quoted = backticked(message);
    let (text, hint) = if message.starts_with("unknown field") {
        let (unknown, known) =
            quoted.split_first().map_or(("", &[][..]), |(first, rest)| (*first, rest));
        if steps.last() != Some(&Step::Key(unknown.to_owned())) {
            steps.push(Step::Key(unknown.to_owned()));
        }
        ("there is no such key here".to_owned(), Some(did_you_mean(unknown, known.iter().copied())))
    } else if message.starts_with("unknown variant") {
        let (unknown, known) =
            quoted.split_first().map_or(("", &[][..]), |(first, rest)| (*first, rest));
        (
            format!("`{unknown}` is not known here"),
            Some(did_you_mean(unknown, known.iter().copied())),
        )
    } else if message.starts_with("missing field") {
        let missing = quoted.first().copied().unwrap_or_default();
        (format!("the key `{missing}` is missing"), Some(format!("add `{missing}:`")))
    } else {
        in_plain_words(message)
    };
    let position = document.position_of(&steps);
    InputProblem {
        line: Some(position.line),
        column: Some(position.column),
        field: (!steps.is_empty()).then(|| path_text(&steps)),
        message: text,
        hint,
        file: None,
    }
}

/// `models[1].temperature`.
pub(crate) fn path_text(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        match step {
            Step::Index(index) => text.push_str(&format!("[{index}]")),
            Step::Key(key) if text.is_empty() => text.push_str(key),
            Step::Key(key) => text.push_str(&format!(".{key}")),
        }
    }
    text
}

/// Steps of a path written as `patterns[1].name`.
pub(crate) fn steps_of(path: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    for part in path.split('.').filter(|part| !part.is_empty()) {
        let (key, indexes) = part.split_once('[').unwrap_or((part, ""));
        if !key.is_empty() {
            steps.push(Step::Key(key.to_owned()));
        }
        for index in indexes.split(['[', ']']).filter_map(|index| index.parse().ok()) {
            steps.push(Step::Index(index));
        }
    }
    steps
}

fn backticked(message: &str) -> Vec<&str> {
    message.split('`').skip(1).step_by(2).collect()
}

/// serde's words for types, said for people.
fn in_plain_words(message: &str) -> (String, Option<String>) {
    let Some((found, expected)) = message.split_once(", expected ") else {
        let (text, hint) =
            message.split_once("; ").map_or((message, None), |(text, hint)| (text, Some(hint)));
        return (text.to_owned(), hint.map(str::to_owned));
    };
    let found = found
        .trim_start_matches("invalid type: ")
        .trim_start_matches("invalid value: ")
        .replace("string ", "the text ")
        .replace("integer ", "the number ")
        .replace("floating point ", "the number ")
        .replace("boolean ", "")
        .replace("unit value", "nothing")
        .replace("null", "nothing")
        .replace("sequence", "a list")
        .replace("map", "a mapping");
    let expected = match expected.trim() {
        "u32" | "u64" | "usize" | "u8" | "u16" => "a whole number of 0 or more".to_owned(),
        "i64" | "i32" => "a whole number".to_owned(),
        "f64" | "f32" => "a number".to_owned(),
        "a string" => "text".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" => "a mapping of keys and values".to_owned(),
        other if other.starts_with("struct ") => "a mapping of keys and values".to_owned(),
        other => other.to_owned(),
    };
    (format!("expected {expected}, found {found}"), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_read_back() {
        let steps = steps_of("models[2].limits.concurrency");
        assert_eq!(path_text(&steps), "models[2].limits.concurrency");
    }
}
