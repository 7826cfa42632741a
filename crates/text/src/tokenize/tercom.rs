//! The tokenizer of TER: Tercom's, as sacreBLEU has it.

use super::bleu::{WESTERN, space_or_other};
use super::separate::{Class, Rules, separate};
use crate::characters::{is_space, trim_end, words};
use crate::ter::TerOptions;

static WESTERN_RULES: Rules = Rules { ascii: WESTERN, beyond_ascii: space_or_other, padded: true };
static ASIAN_RULES: Rules = Rules { ascii: WESTERN, beyond_ascii: asian_class, padded: true };

/// The tokens of a text, joined by single spaces.
pub(crate) fn tercom(text: &str, options: &TerOptions) -> String {
    let text = trim_end(text);
    let cased = if options.case_sensitive { text.to_owned() } else { text.to_lowercase() };
    let mut joined =
        if options.normalized { normalized(&cased, options.asian_support) } else { cased };
    if options.no_punctuation {
        joined.retain(|character| !is_removed(character, options.asian_support));
    }
    words(&joined).collect::<Vec<_>>().join(" ")
}

/// Entities replaced, lines joined, punctuation apart, and possessives too.
fn normalized(text: &str, asian_support: bool) -> String {
    if text.is_empty() {
        return String::new();
    }
    let unescaped = text
        .replace("\n-", "")
        .replace('\n', " ")
        .replace("&quot;", "\"")
        .replace("&amp;", "&")
        .replace("&lt;", "<")
        .replace("&gt;", ">");
    let text = possessives_apart(&unescaped);
    let rules = if asian_support { &ASIAN_RULES } else { &WESTERN_RULES };
    let mut joined = String::with_capacity(text.len() + text.len() / 4);
    separate(&text, rules, |start, end| {
        joined.push_str(&text[start..end]);
        joined.push(' ');
    });
    joined
}

/// A space before every `'s` that ends a word: at the end of the text, before a space or before a symbol, which
/// will have a space.
fn possessives_apart(text: &str) -> String {
    let ends_word = |rest: &str| match rest.bytes().next() {
        None | Some(b' ') => true,
        Some(byte) => byte < 128 && WESTERN[usize::from(byte)] == Class::Symbol,
    };
    let mut apart = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some(at) = rest.find("'s") {
        let (before, after) = (&rest[..at], &rest[at + 2..]);
        apart.push_str(before);
        if ends_word(after) {
            apart.push(' ');
        }
        apart.push_str("'s");
        rest = after;
    }
    apart.push_str(rest);
    apart
}

fn is_removed(character: char, asian_support: bool) -> bool {
    matches!(character, '.' | ',' | '?' | ':' | ';' | '!' | '"' | '(' | ')')
        || asian_support && is_asian_punctuation(character)
}

fn is_asian_punctuation(character: char) -> bool {
    matches!(
        character,
        '\u{3001}' | '\u{3002}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301f}' | '\u{ff61}'..='\u{ff65}' | '\u{30fb}'
            | '\u{ff0e}' | '\u{ff0c}' | '\u{ff1f}' | '\u{ff1a}' | '\u{ff1b}' | '\u{ff01}' | '\u{ff02}' | '\u{ff08}' | '\u{ff09}'
    )
}

/// Ideographs stand alone. Tercom's rules for kana ask for the start of the text, where the reference has put a
/// space; they never apply.
fn asian_class(character: char) -> Class {
    match character {
        _ if is_space(character) => Class::Space,
        '\u{4e00}'..='\u{9fff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{31c0}'..='\u{31ef}'
        | '\u{2e80}'..='\u{2eff}'
        | '\u{3300}'..='\u{33ff}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe4f}'
        | '\u{3200}'..='\u{3f22}' => Class::Symbol,
        _ if is_asian_punctuation(character) => Class::Symbol,
        _ => Class::Other,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn options_choose_what_is_done() {
        let plain = TerOptions::default();
        assert_eq!(tercom(" The dog's\tbone. ", &plain), "the dog's bone.");
        let normalized = TerOptions { normalized: true, ..plain.clone() };
        assert_eq!(
            tercom("The dog's bone's, 3.5\n-x's", &normalized),
            "the dog 's bone's , 3.5x 's"
        );
        let bare = TerOptions { no_punctuation: true, case_sensitive: true, ..plain.clone() };
        assert_eq!(tercom("It's 3.5 (so)!", &bare), "It's 35 so");
        let asian =
            TerOptions { normalized: true, asian_support: true, no_punctuation: true, ..plain };
        assert_eq!(tercom("你好。かな", &asian), "你 好 かな");
    }

    #[test]
    fn tokens_are_those_of_sacrebleu() {
        let options = [1, 3, 5, 7, 14].map(|chosen| TerOptions {
            normalized: chosen & 1 != 0,
            no_punctuation: chosen & 2 != 0,
            asian_support: chosen & 4 != 0,
            case_sensitive: chosen & 8 != 0,
        });
        for line in crate::reference::lines("tokens") {
            let text = line["text"].as_str().unwrap();
            for (options, expected) in options.iter().zip(line["tercom"].as_array().unwrap()) {
                assert_eq!(
                    tercom(text, options),
                    expected.as_str().unwrap(),
                    "{options:?}: {text:?}"
                );
            }
        }
    }
}
