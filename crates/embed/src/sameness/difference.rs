//! What differs, in words.

use std::fmt;

use serde::Serialize;

use super::lists::NEGATIONS;
use super::tokens::Token;

/// Signs that belong to numbers.
const OF_NUMBERS: [char; 12] = ['%', '‰', '$', '€', '£', '¥', '+', '-', '−', '<', '>', '='];

/// How much of a text a difference shows.
const SHOWN: usize = 60;

/// What kind of difference it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceKind {
    /// Code is not the same.
    Code,
    /// A quote is not the same.
    Quote,
    /// A number, or a sign beside one.
    Number,
    /// A word that turns a sentence into its opposite.
    Negation,
    /// A question is none in the other.
    Question,
    /// The same words in another order.
    Order,
    /// A word with a capital letter inside of a sentence.
    Name,
    /// Any other word.
    Word,
    /// Signs alone.
    Punctuation,
}

/// What differs between two texts: the first place where they do, up to the last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// What kind of difference it is.
    pub kind: DifferenceKind,
    /// What the first text says there; empty where it says nothing.
    pub first: String,
    /// What the second says there.
    pub second: String,
}

impl Difference {
    /// Lines are set in otherwise.
    pub(super) fn of_indentation() -> Self {
        let text = |said: &str| said.to_owned();
        Self { kind: DifferenceKind::Code, first: text("lines set in"), second: text("otherwise") }
    }

    pub(super) fn between(first: &[Token], second: &[Token]) -> Self {
        let same = |(one, other): &(&Token, &Token)| one.is_same(other);
        let before = first.iter().zip(second).take_while(same).count();
        let (first, second) = (&first[before..], &second[before..]);
        let after = first.iter().rev().zip(second.iter().rev()).take_while(same).count();
        let (first, second) = (&first[..first.len() - after], &second[..second.len() - after]);
        Self { kind: kind(first, second), first: shown(first), second: shown(second) }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            DifferenceKind::Code => "code",
            DifferenceKind::Quote => "a quote",
            DifferenceKind::Number => "a number",
            DifferenceKind::Negation => "a negation",
            DifferenceKind::Question => "a question",
            DifferenceKind::Order => "the order of words",
            DifferenceKind::Name => "a name",
            DifferenceKind::Word => "words",
            DifferenceKind::Punctuation => "punctuation",
        };
        let said =
            |text: &str| if text.is_empty() { "nothing".into() } else { format!("“{text}”") };
        write!(formatter, "{what}: {} against {}", said(&self.first), said(&self.second))
    }
}

fn kind(first: &[Token], second: &[Token]) -> DifferenceKind {
    let any = |found: fn(&Token) -> bool| first.iter().chain(second).any(found);
    let mut sorted = [first, second].map(|tokens| tokens.iter().map(text).collect::<Vec<_>>());
    sorted.iter_mut().for_each(|words| words.sort_unstable());
    let has_words = any(|token| matches!(token, Token::Word { .. }));
    match () {
        () if sorted[0] == sorted[1] && has_words => DifferenceKind::Order,
        () if any(|token| matches!(token, Token::Code(_))) => DifferenceKind::Code,
        () if any(|token| matches!(token, Token::Quote(_))) => DifferenceKind::Quote,
        () if any(|token| matches!(token, Token::Number(_))) => DifferenceKind::Number,
        () if any(|token| NEGATIONS.iter().any(|word| token.is_word(word))) => {
            DifferenceKind::Negation
        }
        () if !has_words && any(|token| token.is_sign(&OF_NUMBERS)) => DifferenceKind::Number,
        () if any(|token| token.is_sign(&['?'])) => DifferenceKind::Question,
        () if any(is_name) => DifferenceKind::Name,
        () if has_words => DifferenceKind::Word,
        () => DifferenceKind::Punctuation,
    }
}

fn is_name(token: &Token) -> bool {
    matches!(token, Token::Word { text, begins: false } if text.contains(char::is_uppercase))
}

fn text(token: &Token) -> String {
    match token {
        Token::Word { text, .. } => text.to_lowercase(),
        Token::Number(number) => number.clone(),
        Token::Sign { sign, .. } => sign.to_string(),
        Token::Code(code) => format!("`{code}`"),
        Token::Quote(quote) => format!("\"{quote}\""),
    }
}

/// The tokens as a text, shortened.
fn shown(tokens: &[Token]) -> String {
    let mut all = String::new();
    for token in tokens {
        if !all.is_empty() {
            all.push(' ');
        }
        match token {
            Token::Word { text, .. } => all.push_str(text),
            other => all.push_str(&text(other)),
        }
        if all.chars().count() > SHOWN {
            let short: String = all.chars().take(SHOWN).collect();
            return format!("{short}…");
        }
    }
    all
}
