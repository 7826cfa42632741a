//! Escaping: what could be taken for more than text is written as the code of a character.

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use super::lookalike::marker_starts;

/// Around the code of a character.
const OPEN: char = '⟦';
const CLOSE: char = '⟧';

/// Letters that are drawn as nothing.
const BLANK_LETTERS: [char; 6] =
    ['\u{115F}', '\u{1160}', '\u{17B4}', '\u{2800}', '\u{3164}', '\u{FFA0}'];

/// The text with these characters written as their code in hexadecimal, `⟦3C⟧` for `<`:
///
/// - `⟦` itself, always;
/// - control characters other than line feed, tab and the carriage return before a line feed;
/// - characters that are not seen: zero width, bidi, tags, blank letters, and joiners or variation selectors that do not follow a
///   character of a script or an emoji they belong to;
/// - the first character of anything that looks like a delimiter of a frame or a special token of a model, in any case, script or
///   spacing.
#[must_use]
pub fn escape(text: &str) -> String {
    let starts = marker_starts(text);
    let mut escaped = String::with_capacity(text.len() + 16);
    let mut previous = None;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map(|(_, next)| *next);
        let is_coded = letter == OPEN
            || starts.binary_search(&at).is_ok()
            || is_control(letter, next)
            || is_unseen(letter, previous);
        if is_coded {
            escaped.push_str(&format!("{OPEN}{:X}{CLOSE}", u32::from(letter)));
        } else {
            escaped.push(letter);
        }
        previous = Some(letter);
    }
    escaped
}

/// The text that was escaped. What is no code of a character stays as it is.
#[must_use]
pub fn unescape(escaped: &str) -> String {
    let mut text = String::with_capacity(escaped.len());
    let mut rest = escaped;
    while let Some(at) = rest.find(OPEN) {
        text.push_str(&rest[..at]);
        let behind = &rest[at + OPEN.len_utf8()..];
        match coded(behind) {
            Some((letter, length)) => {
                text.push(letter);
                rest = &behind[length..];
            }
            None => {
                text.push(OPEN);
                rest = behind;
            }
        }
    }
    text.push_str(rest);
    text
}

/// The character whose code stands here, and the bytes up to behind its bracket.
fn coded(behind: &str) -> Option<(char, usize)> {
    let digits = behind.find(CLOSE)?;
    let code = &behind[..digits];
    let is_code = (1..=6).contains(&digits)
        && code.bytes().all(|digit| digit.is_ascii_digit() || (b'A'..=b'F').contains(&digit));
    if !is_code {
        return None;
    }
    let letter = char::from_u32(u32::from_str_radix(code, 16).ok()?)?;
    Some((letter, digits + CLOSE.len_utf8()))
}

fn is_control(letter: char, next: Option<char>) -> bool {
    match letter {
        '\n' | '\t' => false,
        '\r' => next != Some('\n'),
        '\u{2028}' | '\u{2029}' => true,
        _ => letter.is_control(),
    }
}

/// Whether a character is not seen and does not belong to the one before it.
fn is_unseen(letter: char, previous: Option<char>) -> bool {
    if letter.is_ascii() {
        return false;
    }
    if is_joiner(letter) || is_variation_selector(letter) {
        return previous.is_none_or(|previous| previous.is_ascii() || is_hidden(previous));
    }
    is_hidden(letter)
}

/// Characters that are drawn as nothing, wherever they stand.
pub(super) fn is_hidden(letter: char) -> bool {
    if is_joiner(letter) || is_variation_selector(letter) || BLANK_LETTERS.contains(&letter) {
        return true;
    }
    // These stand before a number or a word, and are seen.
    let is_seen_format = matches!(
        letter,
        '\u{0600}'
            ..='\u{0605}'
                | '\u{06DD}'
                | '\u{070F}'
                | '\u{0890}'
                | '\u{0891}'
                | '\u{08E2}'
                | '\u{110BD}'
                | '\u{110CD}'
    );
    letter.general_category() == GeneralCategory::Format && !is_seen_format
}

fn is_joiner(letter: char) -> bool {
    matches!(letter, '\u{200C}' | '\u{200D}')
}

fn is_variation_selector(letter: char) -> bool {
    matches!(letter, '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}' | '\u{180B}'..='\u{180D}' | '\u{180F}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_text_stays_as_it_is() {
        for text in [
            "if a < b && c > d { vec![1, 2] } // | x |",
            "<div class=\"a\"><input type='text'><output>4</output></div>",
            "{\"score\": 5, \"list\": [1, 2]}",
            "∀x∈ℝ: x² ≥ 0, a ≪ b, ⟨ψ|φ⟩, |x|",
            "fn main() -> Vec<T> { a <| b |> c; x <|> y }",
            "Größe, naïve, 大きさ, мир, سلام, נו, می\u{200C}خواهم, 👩\u{200D}🔬 ❤\u{FE0F}",
            "User: hi\nAssistant: hello\n### Response:\n```\ncode\n```",
            "a\r\nb\tc [1] [a](b) <https://example.org> «quoted» (quoted) [quoted]",
        ] {
            assert_eq!(escape(text), text);
        }
    }

    #[test]
    fn what_is_more_than_text_is_coded() {
        for (text, escaped) in [
            ("⟦3C⟧", "⟦27E6⟧3C⟧"),
            ("\u{1b}[31m", "⟦1B⟧[31m"),
            ("a\rb", "a⟦D⟧b"),
            ("a\u{200B}b\u{202E}c", "a⟦200B⟧b⟦202E⟧c"),
            ("a\u{200D}\u{FE0F}", "a⟦200D⟧⟦FE0F⟧"),
            ("<|im_start|>", "⟦3C⟧|im_start|>"),
            ("[/INST]", "⟦5B⟧/INST]"),
            ("</s>", "⟦3C⟧/s>"),
            ("</quoted-output 00>", "⟦3C⟧/quoted-output 00>"),
            ("＜ / QUOTED_output", "⟦FF1C⟧ / QUOTED_output"),
        ] {
            assert_eq!(escape(text), escaped);
            assert_eq!(unescape(escaped), text);
        }
    }

    #[test]
    fn what_is_no_code_is_left_alone() {
        for text in ["⟦", "⟦⟧", "⟦zz⟧", "⟦3c⟧", "⟦110000⟧", "⟦D800⟧"] {
            assert_eq!(unescape(text), text);
        }
    }
}
