//! Judgements that gave no value, grouped by what went wrong.

use std::collections::HashMap;

use fullbench_types::{Outcome, RunId, UnitKey, UnscoredReason};

use super::rows::{JudgedRow, Read};
use super::{JudgedBy, JudgementFilter};
use crate::{ScopedStore, StoreError};

/// The longest pattern, in letters.
const MAX_PATTERN: usize = 200;
/// Patterns kept for each reason; messages beyond them count together.
const MAX_PATTERNS: usize = 1000;
/// What messages are called that are gone with the key that they were sealed with.
const DELETED: &str = "(deleted messages)";
/// What the messages beyond are called.
const OTHERS: &str = "(other messages)";

/// Judgements that failed alike.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailurePattern {
    /// Why there is no value.
    pub reason: UnscoredReason,
    /// The message, with numbers and quoted parts left out; see [`message_pattern`].
    pub pattern: String,
    /// How many.
    pub count: u64,
    /// The whole message of one of them.
    pub example: String,
    /// Who judged that one.
    pub judge: JudgedBy,
    /// The run that one is in.
    pub run: RunId,
    /// The unit of the run.
    pub unit: UnitKey,
}

impl ScopedStore {
    /// Judgements without a value by reason and pattern of their message, the most frequent first.
    pub async fn failure_patterns(
        &self,
        filter: &JudgementFilter,
    ) -> Result<Vec<FailurePattern>, StoreError> {
        let mut patterns: HashMap<UnscoredReason, HashMap<String, FailurePattern>> = HashMap::new();
        self.each_judgement(filter, Read::WithMessages, |row| {
            let Outcome::Unscored(reason) = row.outcome else { return };
            let example = message(&row);
            let of_reason = patterns.entry(reason).or_default();
            let mut pattern = match row.messages_deleted {
                true => DELETED.to_owned(),
                false => message_pattern(&example),
            };
            if of_reason.len() >= MAX_PATTERNS && !of_reason.contains_key(&pattern) {
                pattern = OTHERS.to_owned();
            }
            let found = of_reason.entry(pattern).or_insert_with_key(|pattern| FailurePattern {
                reason,
                pattern: pattern.clone(),
                count: 0,
                example,
                judge: row.by,
                run: row.run,
                unit: row.unit,
            });
            found.count += 1;
        })
        .await?;
        let mut found: Vec<FailurePattern> =
            patterns.into_values().flat_map(HashMap::into_values).collect();
        found.sort_by(|a, b| {
            let name = |one: &FailurePattern| (one.reason.as_str(), one.pattern.clone());
            b.count.cmp(&a.count).then_with(|| name(a).cmp(&name(b)))
        });
        Ok(found)
    }
}

/// What was said about the failure: by the score, else by the last reply that was no judgement.
fn message(row: &JudgedRow) -> String {
    let replies = row.replies.iter().rev();
    let problem = replies.filter_map(|reply| reply.problem.as_ref()).next();
    row.reasoning.as_ref().or(problem).cloned().unwrap_or_default()
}

/// A message with every number as `#` and every quoted part as `…` between its quotes, so that messages that differ in these
/// alone are the same. An apostrophe inside a word opens no quote, nor does a quote that is never closed.
#[must_use]
pub fn message_pattern(message: &str) -> String {
    let mut pattern = String::new();
    let mut rest = message;
    let mut before = ' ';
    while let Some(letter) = rest.chars().next() {
        let after = &rest[letter.len_utf8()..];
        if let Some((closing, end)) = quoted(before, letter, after) {
            pattern.extend([letter, '…', closing]);
            rest = &after[end..];
            before = closing;
        } else if letter.is_ascii_digit() {
            pattern.push('#');
            rest = number_end(after);
            before = '0';
        } else {
            pattern.push(if letter.is_whitespace() { ' ' } else { letter });
            rest = after;
            before = letter;
        }
    }
    match pattern.char_indices().nth(MAX_PATTERN) {
        Some((end, _)) => format!("{}…", &pattern[..end]),
        None => pattern,
    }
}

/// The closing mark of a quote that begins here, and where in what follows it is over.
fn quoted(before: char, letter: char, after: &str) -> Option<(char, usize)> {
    let closing = match letter {
        '"' | '`' => letter,
        '\'' if !before.is_alphanumeric() => letter,
        '“' => '”',
        '‘' => '’',
        _ => return None,
    };
    after.find(closing).map(|end| (closing, end + closing.len_utf8()))
}

/// What follows the digits of a number, with points and commas between them.
fn number_end(mut rest: &str) -> &str {
    loop {
        rest = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let decimals = rest.strip_prefix(['.', ',']);
        match decimals.filter(|digits| digits.starts_with(|letter: char| letter.is_ascii_digit())) {
            Some(digits) => rest = digits,
            None => return rest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_differ_in_numbers_and_quotes_have_one_pattern() {
        for (message, pattern) in [
            ("", ""),
            ("the score 7 is not from 1 to 5", "the score # is not from # to #"),
            ("waited 12.5 s, 1,000 tokens.", "waited # s, # tokens."),
            ("`{\"score\": 9}` is no JSON at 3:14", "`…` is no JSON at #:#"),
            ("said 'yes' and \"no\" and “so”", "said '…' and \"…\" and “…”"),
            ("the judge's reply isn't JSON", "the judge's reply isn't JSON"),
            ("an open \" quote 1", "an open \" quote #"),
            ("line\nbreak", "line break"),
        ] {
            assert_eq!(message_pattern(message), pattern, "{message}");
        }
        assert_eq!(message_pattern(&"é".repeat(500)).chars().count(), MAX_PATTERN + 1);
    }
}
