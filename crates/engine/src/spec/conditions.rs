//! Conditions written plainly: `- no_regression(exact_match, baseline: "main", margin: 0.02)`.
//!
//! To YAML the colons make a mapping of it. Under the key `gates` a list item that calls something with named arguments
//! is meant as text, and is put in quotes before the file is parsed.

use std::borrow::Cow;

/// The file with such items in quotes; lines stay where they are.
pub(super) fn quoted(text: &str) -> Cow<'_, str> {
    if !text.contains("no_regression") {
        return Cow::Borrowed(text);
    }
    let mut lines = Vec::new();
    let mut in_gates = false;
    for line in text.split_inclusive('\n') {
        let begins_key =
            line.starts_with(|first: char| !first.is_whitespace() && !"-#".contains(first));
        if begins_key {
            in_gates = line.starts_with("gates:");
        }
        let quoted = if in_gates { item(line) } else { None };
        lines.push(quoted.map_or(Cow::Borrowed(line), Cow::Owned));
    }
    Cow::Owned(lines.concat())
}

/// A list item in quotes; none when it is no plain text with a call that is closed on its line.
fn item(line: &str) -> Option<String> {
    let content =
        line.trim_start().strip_prefix('-').filter(|rest| rest.starts_with(' '))?.trim_start();
    let indentation = &line[..line.len() - content.len()];
    let content_end = content.find(" #").unwrap_or(content.len());
    let (condition, comment) = content.split_at(content_end);
    let condition = condition.trim_end();
    let spacing = &content[condition.len()..content_end];
    let plain = condition.starts_with(|first: char| first.is_alphabetic() || "(_".contains(first));
    let closed = condition.matches('(').count() == condition.matches(')').count();
    if !plain || !closed || !condition.contains("no_regression") || !condition.contains(':') {
        return None;
    }
    let escaped = condition.replace('\'', "''");
    Some(format!("{indentation}'{escaped}'{spacing}{comment}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_conditions_under_gates_are_quoted() {
        let text = "prompt: |\n  - no_regression(a, baseline: \"x\")\ngates:\n  - a.mean > 0.5\n  - no_regression(a, baseline: 'm', margin: 0.02)  # why\n- (no_regression(a, margin: 0, baseline=\"m\"))\r\n  - 'no_regression(a, baseline: \"m\", margin: 0)'\nname: x\n";
        let expected = "prompt: |\n  - no_regression(a, baseline: \"x\")\ngates:\n  - a.mean > 0.5\n  - 'no_regression(a, baseline: ''m'', margin: 0.02)'  # why\n- '(no_regression(a, margin: 0, baseline=\"m\"))'\r\n  - 'no_regression(a, baseline: \"m\", margin: 0)'\nname: x\n";
        assert_eq!(quoted(text), expected);
    }
}
