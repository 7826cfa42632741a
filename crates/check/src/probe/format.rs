//! The same answer in another form.

use serde::{Deserialize, Serialize};

use crate::words;

/// Key words are shorter than this: longer is a line of a script without spaces.
const LONGEST_KEY_WORD: usize = 30;
/// Key words are at least this long.
const SHORTEST_KEY_WORD: usize = 5;

/// A change of form that keeps the meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FormatChange {
    /// Each sentence as an item of a list.
    Bullets,
    /// The longest word of each sentence in bold.
    Bold,
    /// A heading above.
    Heading,
    /// Blank lines between the lines, and spaces at their ends.
    Spacing,
    /// All on one line.
    OneLine,
}

impl FormatChange {
    /// All changes.
    pub const ALL: [Self; 5] =
        [Self::Bullets, Self::Bold, Self::Heading, Self::Spacing, Self::OneLine];

    /// Its name, as it is serialized.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bullets => "bullets",
            Self::Bold => "bold",
            Self::Heading => "heading",
            Self::Spacing => "spacing",
            Self::OneLine => "one_line",
        }
    }

    /// The answer in the other form; none where it has that form already, or where the form is part of the meaning: code, data,
    /// tables, formulas, lists, and answers of a word or a number.
    #[must_use]
    pub fn applied(self, text: &str) -> Option<String> {
        if !is_prose(text) {
            return None;
        }
        let text = text.trim();
        let sentences = words::sentences(text);
        let several = sentences.len() >= 2;
        let changed = match self {
            Self::Bullets => (several && !has_markup(text)).then(|| {
                let items: Vec<String> =
                    sentences.iter().map(|sentence| format!("- {}", joined(sentence))).collect();
                items.join("\n")
            }),
            Self::Bold => (several && !has_markup(text)).then(|| bold(text, &sentences)).flatten(),
            Self::Heading => (several && !has_markup(text)).then(|| format!("## Answer\n\n{text}")),
            Self::Spacing => several.then(|| {
                let lines: Vec<&str> =
                    text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
                format!("{}  \n", lines.join("  \n\n"))
            }),
            Self::OneLine => {
                let mut lines = text.lines().filter(|line| !line.trim().is_empty());
                let paragraphs = lines.clone().count() >= 2 && lines.all(words::ends_sentence);
                (paragraphs && !has_markup(text)).then(|| joined(text))
            }
        };
        changed.filter(|changed| changed != text)
    }
}

/// All lines as one.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a text is prose: no code, data, tables or formulas, whose form is their meaning.
pub(super) fn is_prose(text: &str) -> bool {
    let formula = ["`", "~~~", "$$", "\\(", "\\[", "\\begin", "</", "/>"];
    let trimmed = text.trim();
    let is_data = trimmed.starts_with(['{', '[', '<']);
    let is_code = |line: &str| {
        let end = line.trim_end();
        line.starts_with("    ") || line.starts_with('\t') || end.ends_with([';', '{', '}'])
    };
    let is_table = |line: &str| line.matches('|').count() >= 2 || line.trim().contains('\t');
    !trimmed.is_empty()
        && !is_data
        && !formula.iter().any(|mark| text.contains(mark))
        && !text.lines().any(|line| is_code(line) || is_table(line))
}

/// Whether a text is formatted already.
fn has_markup(text: &str) -> bool {
    let is_marked = |line: &str| {
        let line = line.trim_start();
        let numbered = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let is_item = numbered.len() < line.len() && numbered.starts_with(['.', ')']);
        line.starts_with(['-', '*', '+', '#', '>', '•', '–', '—', '=']) || is_item
    };
    text.contains("**") || text.contains("__") || text.lines().any(is_marked)
}

/// The longest word of each sentence in bold; none where no sentence has a word of a fitting length.
fn bold(text: &str, sentences: &[&str]) -> Option<String> {
    let mut changed = String::with_capacity(text.len() + 8 * sentences.len());
    let (mut rest, mut any) = (text, false);
    for sentence in sentences {
        let Some(start) = rest.find(sentence) else { continue };
        changed.push_str(&rest[..start]);
        rest = &rest[start + sentence.len()..];
        match key_word(sentence) {
            Some((from, to)) => {
                any = true;
                let (before, word, after) =
                    (&sentence[..from], &sentence[from..to], &sentence[to..]);
                changed.push_str(&format!("{before}**{word}**{after}"));
            }
            None => changed.push_str(sentence),
        }
    }
    changed.push_str(rest);
    any.then_some(changed)
}

/// Where the longest word of letters is, the first of several.
fn key_word(sentence: &str) -> Option<(usize, usize)> {
    let mut best: Option<(usize, usize, usize)> = None;
    let mut start = None;
    let ends = sentence.char_indices().chain([(sentence.len(), ' ')]);
    for (at, letter) in ends {
        match (letter.is_alphabetic(), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                let length = sentence[from..at].chars().count();
                let fits = (SHORTEST_KEY_WORD..LONGEST_KEY_WORD).contains(&length);
                if fits && best.is_none_or(|(_, _, longest)| length > longest) {
                    best = Some((from, at, length));
                }
                start = None;
            }
            _ => {}
        }
    }
    best.map(|(from, to, _)| (from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &str = "Paris is the capital of France. It lies on the Seine.\nIt is large.";

    #[test]
    fn each_change_keeps_the_words() {
        let shown = |change: FormatChange| change.applied(ANSWER).unwrap_or_default();
        assert_eq!(
            shown(FormatChange::Bullets),
            "- Paris is the capital of France.\n- It lies on the Seine.\n- It is large."
        );
        assert_eq!(
            shown(FormatChange::Bold),
            "Paris is the **capital** of France. It lies on the **Seine**.\nIt is **large**."
        );
        assert!(shown(FormatChange::Heading).starts_with("## Answer\n\nParis"));
        assert!(shown(FormatChange::Spacing).contains("Seine.  \n\nIt is large.  \n"));
        assert_eq!(shown(FormatChange::OneLine), ANSWER.replace('\n', " "));
    }

    #[test]
    fn what_has_a_form_of_its_own_is_left_alone() {
        for text in [
            "",
            "42",
            "Use it so:\n```\nlet a = 1;\n```\nThat is all.",
            "if x:\n    return 1. Then stop. Go.",
            "| a | b |\n|---|---|\n| 1 | 2 |",
            "{\"answer\": 1}",
            "It is $$x^2$$. Really.",
        ] {
            for change in FormatChange::ALL {
                assert_eq!(change.applied(text), None, "{text:?} {change:?}");
            }
        }
        assert_eq!(FormatChange::Bullets.applied("- One.\n- Two."), None);
        assert_eq!(FormatChange::OneLine.applied("Roses are red,\nviolets are blue."), None);
    }

    #[test]
    fn other_scripts_are_changed_too() {
        let bullets = FormatChange::Bullets.applied("巴黎是首都。它很大。");
        assert_eq!(bullets.as_deref(), Some("- 巴黎是首都。\n- 它很大。"));
        let bold = FormatChange::Bold.applied("Столица — Париж. Он большой.");
        assert_eq!(bold.as_deref(), Some("**Столица** — Париж. Он **большой**."));
    }
}
