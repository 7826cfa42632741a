//! Finds the letter that an answer to a multiple-choice question chooses.
//!
//! Signs are tried from the plainest to the weakest: the last "the answer is X", an output that begins with a
//! letter as a choice, a last line that is a letter, and at last the only letter that stands by itself. `A` and
//! `I` are also words, so that they count only where they cannot be read as such.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// What an output chooses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    One(char),
    Several(Vec<char>),
    Nothing,
}

/// A pattern of this file; its tests build every one.
fn pattern(text: &str) -> Option<Regex> {
    Regex::new(text).ok()
}

/// A letter in bold, code, quotes or a box.
static EMPHASIZED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r#"(?:\*{1,3}|__?|`|"|“|\\boxed\{(?:\\text\{)?)\s*\(?([A-Za-z])\)?[.:)]?\s*(?:\*{1,3}|__?|`|"|”|\}{1,2})"#,
    )
});

/// "The answer is X" and its like.
static EXPLICIT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)\banswer(?:\s+(?:choice|option|letter))?",
        r"((?:\s+(?:is|was|would\s+be|should\s+be|must\s+be))?\s*[:=\-–—]?\s*(?:is\s+)?)",
        r"(?:the\s+)?(?:(?:option|choice|letter)\s+)?([(\[])?([a-z])",
    ))
});

/// A line that begins with a letter as a choice.
static LEADING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"^\s*(?:(?:[Oo]ption|[Cc]hoice)\s+)?(?:[(\[]([A-Za-z])[)\]]|([A-Za-z])\)|([A-Z])[.:])(?:\s|$)",
    )
});

/// A line that is only a letter.
static ALONE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(r"^\s*(?:(?:[Oo]ption|[Cc]hoice)\s+)?[(\[]?([A-Za-z])[)\]]?[.:!]?\s*$")
});

/// A letter marked as a choice inside a text.
static MARKED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(r"[(\[]([A-Z])[)\]]|\b(?:[Oo]ption|[Cc]hoice|[Ll]etter)\s+([A-Z])\b|(?:^|\s)([A-Z])\)")
});

/// A capital letter that stands by itself.
static STANDING: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"\b([A-Z])\b"));

/// The letter among `choices` (capitals) that the output chooses.
pub(crate) fn chosen(output: &str, choices: &str) -> Choice {
    let text = plain(output);
    let known =
        |letter: char| Some(letter.to_ascii_uppercase()).filter(|letter| choices.contains(*letter));
    explicit(&text, &known)
        .or_else(|| leading(&text, &known))
        .or_else(|| last_line(&text, &known))
        .unwrap_or_else(|| standing(&text, &known))
}

/// The text without emphasis; an emphasized letter is put in parentheses.
fn plain(output: &str) -> Cow<'_, str> {
    let Some(emphasized) = EMPHASIZED.as_ref() else { return Cow::Borrowed(output) };
    let marked = emphasized.replace_all(output, "($1)");
    if marked.contains(['*', '_', '`', '$']) {
        Cow::Owned(marked.replace(['*', '_', '`', '$'], ""))
    } else {
        marked
    }
}

fn explicit(text: &str, known: &dyn Fn(char) -> Option<char>) -> Option<Choice> {
    let found = EXPLICIT
        .as_ref()?
        .captures_iter(text)
        .filter_map(|captures| explicit_choice(text, &captures, known));
    found.last()
}

fn explicit_choice(
    text: &str,
    captures: &Captures<'_>,
    known: &dyn Fn(char) -> Option<char>,
) -> Option<Choice> {
    let (link, letter) = (captures.get(1)?, captures.get(3)?);
    let written = letter.as_str().chars().next()?;
    let choice = known(written)?;
    let after = &text[letter.end()..];
    let next = after.chars().next();
    if next.is_some_and(|next| next.is_alphanumeric() || matches!(next, '\'' | '’')) {
        return None;
    }
    let enclosed = captures.get(2).is_some() && matches!(next, Some(')' | ']'));
    let closed = next.is_none_or(|next| {
        matches!(next, '.' | ',' | ';' | ':' | ')' | ']' | '!' | '?' | '\n' | '\r')
    });
    let linked = !link.as_str().trim().is_empty();
    let could_be_word = match written {
        'A' => is_article(after),
        'I' => true,
        _ => written.is_ascii_lowercase(),
    };
    let is_choice = enclosed
        || (closed && (linked || written.is_ascii_uppercase()))
        || (linked && !could_be_word)
        || (!linked && written.is_ascii_uppercase() && !matches!(written, 'A' | 'I'));
    if !is_choice {
        return None;
    }
    match alternative(after).and_then(known).filter(|other| *other != choice) {
        Some(other) => Some(Choice::Several(vec![choice, other])),
        None => Some(Choice::One(choice)),
    }
}

/// Whether what follows a capital A goes on as after an article, rather than as after a choice.
fn is_article(after: &str) -> bool {
    const REASONS: [&str; 12] = [
        "because", "since", "as", "for", "due", "which", "and", "or", "with", "is", "given",
        "based",
    ];
    let rest = after.trim_start();
    let word = rest.split(|character: char| !character.is_alphabetic()).next().unwrap_or_default();
    rest.starts_with(|first: char| first.is_lowercase()) && !REASONS.contains(&word)
}

/// The letter in "… or C".
fn alternative(after: &str) -> Option<char> {
    let rest = after.trim_start_matches([')', ']']).trim_start();
    let rest = ["or ", "and ", "/", "& "].iter().find_map(|joint| rest.strip_prefix(joint))?;
    let mut characters = rest.trim_start().trim_start_matches(['(', '[']).chars();
    let letter = characters.next().filter(char::is_ascii_uppercase)?;
    let closed = characters.next().is_none_or(|next| matches!(next, '.' | ',' | ')' | ']' | '\n'));
    closed.then_some(letter)
}

/// The letter that begins the text, unless other lines begin with other letters: then the choices are repeated.
fn leading(text: &str, known: &dyn Fn(char) -> Option<char>) -> Option<Choice> {
    let trimmed = text.trim();
    if let Some(letter) = letter_of(ALONE.as_ref()?, trimmed.lines().next()?).and_then(known) {
        return Some(Choice::One(letter));
    }
    let pattern = LEADING.as_ref()?;
    let first = letter_of(pattern, trimmed).and_then(known)?;
    let mut begun = trimmed.lines().filter_map(|line| letter_of(pattern, line)).filter_map(known);
    begun.all(|letter| letter == first).then_some(Choice::One(first))
}

fn last_line(text: &str, known: &dyn Fn(char) -> Option<char>) -> Option<Choice> {
    letter_of(ALONE.as_ref()?, text.trim().lines().next_back()?).and_then(known).map(Choice::One)
}

fn letter_of(pattern: &Regex, text: &str) -> Option<char> {
    letter_in(&pattern.captures(text)?)
}

fn letter_in(captures: &Captures<'_>) -> Option<char> {
    captures.iter().skip(1).flatten().next()?.as_str().chars().next()
}

/// The only letter marked as a choice, else the only capital that stands by itself and is no word.
fn standing(text: &str, known: &dyn Fn(char) -> Option<char>) -> Choice {
    let (Some(marked), Some(standing)) = (MARKED.as_ref(), STANDING.as_ref()) else {
        return Choice::Nothing;
    };
    let marked = distinct(
        marked.captures_iter(text).filter_map(|found| letter_in(&found)).filter_map(known),
    );
    if marked != Choice::Nothing {
        return marked;
    }
    let letters = standing.find_iter(text).filter(|found| {
        let joined = |character: char| matches!(character, '.' | '\'' | '’' | '-');
        let before = text[..found.start()].chars().next_back();
        let mut after = text[found.end()..].chars();
        let goes_on =
            after.next().is_some_and(joined) && after.next().is_some_and(char::is_alphanumeric);
        !matches!(found.as_str(), "A" | "I") && !before.is_some_and(joined) && !goes_on
    });
    distinct(letters.filter_map(|found| found.as_str().chars().next()).filter_map(known))
}

fn distinct(letters: impl Iterator<Item = char>) -> Choice {
    let mut found: Vec<char> = letters.collect();
    found.sort_unstable();
    found.dedup();
    match found.as_slice() {
        [] => Choice::Nothing,
        [one] => Choice::One(*one),
        _ => Choice::Several(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_valid() {
        for pattern in [&EMPHASIZED, &EXPLICIT, &LEADING, &ALONE, &MARKED, &STANDING] {
            assert!(pattern.is_some());
        }
    }

    #[test]
    fn letters_are_found_as_models_write_them() {
        let cases = [
            ("B", "B"),
            ("(B)", "B"),
            ("B.", "B"),
            ("**B**", "B"),
            ("b", "B"),
            ("b)", "B"),
            ("[C]", "C"),
            (" D\n", "D"),
            ("`C`", "C"),
            ("\"C\"", "C"),
            ("$\\boxed{D}$", "D"),
            ("\\boxed{\\text{D}}", "D"),
            ("A", "A"),
            ("A.", "A"),
            ("B) Paris", "B"),
            ("B. Paris is the capital", "B"),
            ("(B) Paris", "B"),
            ("B: Paris", "B"),
            ("Option C", "C"),
            ("**B) Paris**", "B"),
            ("**B.** Paris", "B"),
            ("A) dogs", "A"),
            ("The answer is B", "B"),
            ("The answer is B.", "B"),
            ("The answer is (B).", "B"),
            ("Answer: B", "B"),
            ("Answer: B) foo", "B"),
            ("**Answer:** B", "B"),
            ("Final Answer: **B**", "B"),
            ("answer = c.", "C"),
            ("The correct answer is option C.", "C"),
            ("The answer is: D", "D"),
            ("the answer is b.", "B"),
            ("The answer is A because it is.", "A"),
            ("The answer is A, not B.", "A"),
            ("The answer is \\boxed{A}", "A"),
            ("The correct answer would be the choice D here", "D"),
            ("Answer B is right", "B"),
            ("Answer - C", "C"),
            ("At first the answer is A. No: the answer is C.", "C"),
            ("The best answer is A: dogs", "A"),
            ("Option A is wrong and B too, so the answer is C", "C"),
            ("The answer is C: vitamin D", "C"),
            ("Let me think.\n\nB", "B"),
            ("Reasoning about A and C.\n\n**D**", "D"),
            ("B\n\nBecause A is wrong.", "B"),
            ("I would choose B here", "B"),
            ("It must be (C), I think", "C"),
            ("I pick option A here", "A"),
            ("I think **A** is right", "A"),
            ("The correct one is (B) vitamin C", "B"),
            ("I'd say it's C", "C"),
        ];
        for (text, letter) in cases {
            assert_eq!(
                chosen(text, "ABCDEFGHIJ"),
                Choice::One(letter.chars().next().unwrap_or_default()),
                "{text:?}"
            );
        }
    }

    #[test]
    fn words_are_no_letters() {
        for text in [
            "A dog is an animal",
            "",
            "I do not know",
            "The answer is a dog",
            "Answer: A dog is a mammal",
            "answer I think",
            "No idea",
            "a",
            "Z",
            "I am sure. A cat.",
            "U.S.A. and B.C.",
            "The answers vary",
            "The answer is not clear",
        ] {
            let found = chosen(text, "ABCD");
            let expected = if text == "a" { Choice::One('A') } else { Choice::Nothing };
            assert_eq!(found, expected, "{text:?}");
        }
    }

    #[test]
    fn several_letters_are_no_answer() {
        for text in [
            "B or C",
            "Either (A) or (B)",
            "The answer is B or C.",
            "A) x\nB) y\nC) z",
            "Option A, or option D",
        ] {
            assert!(
                matches!(chosen(text, "ABCD"), Choice::Several(_)),
                "{text:?}: {:?}",
                chosen(text, "ABCD")
            );
        }
    }
}
