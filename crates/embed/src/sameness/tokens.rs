//! Words, numbers and signs of a text.

use super::lists::SHORT;
use super::segments::Segment;

/// The smallest part that is compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A word as written, and whether a sentence begins with it.
    Word { text: String, begins: bool },
    /// A number as written.
    Number(String),
    /// Any other character, and whether white space or an end stands before and after it.
    Sign { sign: char, before: bool, after: bool },
    /// Code, character by character.
    Code(String),
    /// A quote, character by character.
    Quote(String),
}

impl Token {
    /// The word in small letters where it is one that lists may know: all small, or with the capital of a sentence's beginning.
    pub(super) fn plain(&self) -> Option<String> {
        match self {
            Self::Word { text, .. } if text.chars().all(|c| !c.is_uppercase()) => {
                Some(text.clone())
            }
            Self::Word { text, begins: true } if has_initial_capital(text) => {
                Some(text.to_lowercase())
            }
            // Contractions of "I".
            Self::Word { text, .. } if text.starts_with("I'") => Some(text.to_lowercase()),
            _ => None,
        }
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        self.plain().is_some_and(|plain| plain == word)
    }

    pub(super) fn is_sign(&self, signs: &[char]) -> bool {
        matches!(self, Self::Sign { sign, .. } if signs.contains(sign))
    }

    /// Says the same. The capital of a sentence's beginning is none of a name.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Word { text: one, begins }, Self::Word { text: two, begins: also }) => {
                one == two
                    || *begins && may_be_small(one) && one.to_lowercase() == *two
                    || *also && may_be_small(two) && two.to_lowercase() == *one
            }
            (
                Self::Sign { sign: one, before, after },
                Self::Sign { sign: two, before: left, after: right },
            ) => one == two && (is_loose(*one) || (before, after) == (left, right)),
            (one, two) => one == two,
        }
    }
}

/// Written with one capital letter, the first.
fn has_initial_capital(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(char::is_uppercase) && letters.all(|c| !c.is_uppercase())
}

/// A capital that may be due to the sentence alone; that of "Mg" may be due to a unit.
fn may_be_small(text: &str) -> bool {
    has_initial_capital(text)
        && (text.chars().count() > 2 || SHORT.contains(&text.to_lowercase().as_str()))
}

/// White space around the sign says nothing: that around a minus may.
fn is_loose(sign: char) -> bool {
    matches!(sign, ',' | ';' | '?' | '(' | ')' | '%' | '=' | '<' | '>')
}

/// The tokens of a part of a text, the first or a later one.
pub(super) fn tokens(segment: &Segment<'_>, is_first: bool) -> Vec<Token> {
    match segment {
        Segment::Text(text) => of_text(text, is_first),
        Segment::Code(code) => vec![Token::Code((*code).to_owned())],
        Segment::Quote(quote) => vec![Token::Quote((*quote).to_owned())],
    }
}

fn of_text(text: &str, mut begins: bool) -> Vec<Token> {
    let characters: Vec<char> = without_emphasis(text);
    let is_space = |index: Option<usize>| {
        index.and_then(|index| characters.get(index)).is_none_or(|c| c.is_whitespace())
    };
    let mut found = Vec::new();
    let mut index = 0;
    while let Some(&c) = characters.get(index) {
        let length = length_at(&characters, index);
        if c.is_whitespace() {
            index += 1;
            continue;
        }
        let text: String = characters[index..index + length].iter().collect();
        if c.is_ascii_digit() {
            found.push(Token::Number(text));
            begins = false;
        } else if is_letter(c) {
            found.push(Token::Word { text, begins });
            begins = false;
        } else {
            let (before, after) = (is_space(index.checked_sub(1)), is_space(index.checked_add(1)));
            begins = begins || after && matches!(c, '.' | '!' | '?');
            found.push(Token::Sign { sign: c, before, after });
        }
        index += length;
    }
    found
}

/// How many characters belong to the token that begins here.
fn length_at(characters: &[char], start: usize) -> usize {
    let at = |index: usize| characters.get(index).copied().unwrap_or(' ');
    let first = at(start);
    let mut end = start + 1;
    if first.is_ascii_digit() {
        // A point or comma belongs to the number where a digit follows.
        while at(end).is_ascii_digit()
            || matches!(at(end), '.' | ',') && at(end + 1).is_ascii_digit()
        {
            end += 1;
        }
    } else if is_letter(first) {
        while is_letter(at(end))
            || at(end).is_ascii_digit()
            || at(end) == '\'' && is_letter(at(end + 1))
        {
            end += 1;
        }
    }
    end - start
}

fn is_letter(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// The characters, with straight apostrophes, without the marks of Markdown around what is emphasized.
fn without_emphasis(text: &str) -> Vec<char> {
    let straight = |c| if matches!(c, '’' | '‘') { '\'' } else { c };
    let mut characters: Vec<char> = text.chars().map(straight).collect();
    for count in [2, 1] {
        characters = without_pairs(&characters, count);
    }
    characters
}

/// Leaves out pairs of so many asterisks of which the first stands before a word and the second after one, with none in between.
fn without_pairs(characters: &[char], count: usize) -> Vec<char> {
    let mark = '*';
    let at = |index: usize| characters.get(index).copied().unwrap_or(' ');
    let before = |index: usize| index.checked_sub(1).map_or(' ', at);
    let is_mark = |index: usize| {
        (index..index + count).all(|index| at(index) == mark)
            && before(index) != mark
            && at(index + count) != mark
    };
    let is_edge = |c: char| !c.is_alphanumeric() && c != mark;
    let opens = |index: usize| {
        is_mark(index) && is_edge(before(index)) && at(index + count).is_alphanumeric()
    };
    let closes = |index: usize| {
        is_mark(index) && !before(index).is_whitespace() && is_edge(at(index + count))
    };
    let mut kept = Vec::with_capacity(characters.len());
    let mut index = 0;
    while index < characters.len() {
        let line_end = |index: &usize| at(*index) != '\n';
        let close = opens(index)
            .then(|| (index + count..characters.len()).take_while(line_end).find(|&i| is_mark(i)))
            .flatten()
            .filter(|&close| closes(close));
        if let Some(close) = close {
            kept.extend_from_slice(&characters[index + count..close]);
            index = close + count;
        } else {
            kept.push(characters[index]);
            index += 1;
        }
    }
    kept
}
