//! `regex`: patterns that the output must match.

use ::regex::{Regex, RegexBuilder};
use fullbench_types::Score;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::expectation::quoted;
use super::{ItemScorer, Parameters};
use crate::registry::ScorerConfigError;
use crate::scorer::Item;

/// What the matches amount to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    /// Passed when every pattern matches.
    #[default]
    All,
    /// Passed when one pattern matches.
    Any,
    /// The share of patterns that match.
    Share,
}

/// Parameters of `regex`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Patterns {
    /// Regular expressions, in the syntax of Rust's regex crate: no look-around, time linear in the output.
    #[schemars(length(min = 1))]
    patterns: Vec<String>,
    /// all: passed when every pattern matches; any: passed when one does; share: the share that match.
    #[serde(default)]
    mode: Mode,
    /// Take small and capital letters as the same.
    #[serde(default)]
    ignore_case: bool,
    /// Let ^ and $ match at the beginning and end of every line.
    #[serde(default)]
    multiline: bool,
    /// With `mode: share`, passed when the share is at least this much.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    threshold: Option<f64>,
}

/// Matches outputs.
pub(crate) struct Matcher {
    patterns: Vec<Regex>,
    mode: Mode,
    threshold: Option<f64>,
}

impl Parameters for Patterns {
    type Scorer = Matcher;

    const KIND: &'static str = "regex";
    const SUMMARY: &'static str =
        "Matches regular expressions: all of them, any of them, or the share that match.";
    const EXAMPLE: &'static str = "{ type: regex, patterns: [\"^\\\\d+$\"] }";

    fn build(self) -> Result<Matcher, ScorerConfigError> {
        if self.patterns.is_empty() {
            return Err(ScorerConfigError::at("patterns", "the list is empty")
                .hint("give at least one pattern"));
        }
        check_threshold(self.threshold)?;
        if self.threshold.is_some() && self.mode != Mode::Share {
            return Err(ScorerConfigError::at(
                "threshold",
                "a threshold has no effect without `mode: share`",
            ));
        }
        let mut patterns = Vec::with_capacity(self.patterns.len());
        for (index, pattern) in self.patterns.iter().enumerate() {
            let regex = RegexBuilder::new(pattern)
                .case_insensitive(self.ignore_case)
                .multi_line(self.multiline)
                .build()
                .map_err(|error| invalid_pattern(index, &error))?;
            patterns.push(regex);
        }
        Ok(Matcher { patterns, mode: self.mode, threshold: self.threshold })
    }
}

fn check_threshold(threshold: Option<f64>) -> Result<(), ScorerConfigError> {
    match threshold {
        Some(threshold) if !(0.0..=1.0).contains(&threshold) => {
            Err(ScorerConfigError::at("threshold", format!("{threshold} is not between 0 and 1")))
        }
        _ => Ok(()),
    }
}

/// The regex crate draws its errors over several lines; the last one says what is wrong.
fn invalid_pattern(index: usize, error: &::regex::Error) -> ScorerConfigError {
    let drawn = error.to_string();
    let last = drawn.lines().last().unwrap_or_default().trim();
    let message = last.strip_prefix("error: ").unwrap_or(last);
    ScorerConfigError::at(
        format!("patterns[{index}]"),
        format!("not a regular expression: {message}"),
    )
}

impl ItemScorer for Matcher {
    fn is_binary(&self) -> bool {
        self.mode != Mode::Share
    }

    fn score_item(&self, item: &Item<'_>) -> Score {
        let output = item.generation.text.as_str();
        let unmatched = || self.patterns.iter().find(|pattern| !pattern.is_match(output));
        match self.mode {
            Mode::All => {
                unmatched().map_or_else(|| Score::binary(true), |pattern| missed(pattern, output))
            }
            Mode::Any if self.patterns.iter().any(|pattern| pattern.is_match(output)) => {
                Score::binary(true)
            }
            Mode::Any => {
                Score::binary(false).because(format!("no pattern matches {}", quoted(output)))
            }
            Mode::Share => {
                let matches =
                    self.patterns.iter().filter(|pattern| pattern.is_match(output)).count();
                let count = self.patterns.len();
                let share = matches as f64 / count as f64;
                let score = Score::graded(share, share, self.threshold);
                if matches == count {
                    score
                } else {
                    score.because(format!("{matches} of {count} patterns match"))
                }
            }
        }
    }
}

fn missed(pattern: &Regex, output: &str) -> Score {
    Score::binary(false).because(format!(
        "the pattern {} does not match {}",
        quoted(pattern.as_str()),
        quoted(output)
    ))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use fullbench_types::Outcome;
    use serde_json::json;

    use crate::scorers::fixture::{assert_table, none, refused, score, scorer};

    #[test]
    fn all_patterns_must_match_unless_any_is_enough() {
        assert_table(
            json!({"type": "regex", "patterns": ["^\\d+$"]}),
            &[
                ("42", none(), true),
                ("42 ", none(), false),
                ("", none(), false),
                ("1\n2", none(), false),
            ],
        );
        let two = json!({"type": "regex", "patterns": ["a", "b"]});
        assert_table(two, &[("ab", none(), true), ("a", none(), false)]);
        let any = json!({"type": "regex", "patterns": ["a", "b"], "mode": "any"});
        assert_table(any, &[("b", none(), true), ("c", none(), false)]);
        let lines =
            json!({"type": "regex", "patterns": ["^yes$"], "ignore_case": true, "multiline": true});
        assert_table(lines, &[("no\nYES\n", none(), true), ("no YES", none(), false)]);
    }

    #[test]
    fn a_share_is_graded() {
        let graded = scorer(json!({"type": "regex", "patterns": ["a", "b"], "mode": "share"}));
        assert!(!graded.binary);
        assert_eq!(score(&graded, "a", none()).value, Some(0.5));
        assert_eq!(score(&graded, "a", none()).outcome, Outcome::Scored);
        let passing = scorer(
            json!({"type": "regex", "patterns": ["a", "b"], "mode": "share", "threshold": 0.5}),
        );
        assert_eq!(score(&passing, "a", none()).outcome, Outcome::Passed);
        assert_eq!(score(&passing, "c", none()).outcome, Outcome::Failed);
    }

    #[test]
    fn a_bad_pattern_is_named_on_one_line() {
        let error = refused(json!({"type": "regex", "patterns": ["a", "(b"]}));
        assert_eq!(error.to_string(), "`patterns[1]`: not a regular expression: unclosed group");
        let look = refused(json!({"type": "regex", "patterns": ["(?=b)"]})).message;
        assert!(look.contains("look-around") && !look.contains('\n'), "{look}");
        assert_eq!(
            refused(json!({"type": "regex", "patterns": []})).field.as_deref(),
            Some("patterns")
        );
        assert_eq!(
            refused(json!({"type": "regex", "patterns": ["a", 1]})).field.as_deref(),
            Some("patterns[1]")
        );
        let missing = refused(json!("regex"));
        assert_eq!(missing.message, "missing field `patterns`");
        assert!(missing.hint.unwrap().starts_with("for example: { type: regex"));
    }

    #[test]
    fn a_threshold_must_make_sense() {
        let outside =
            json!({"type": "regex", "patterns": ["a"], "mode": "share", "threshold": 1.5});
        assert_eq!(refused(outside).message, "1.5 is not between 0 and 1");
        let idle = json!({"type": "regex", "patterns": ["a"], "threshold": 0.5});
        assert_eq!(refused(idle).field.as_deref(), Some("threshold"));
    }
}
