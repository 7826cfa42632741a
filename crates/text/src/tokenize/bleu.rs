//! The tokenizers of BLEU: `13a`, `intl`, `char`, `zh` and `none`, each equal to sacreBLEU's.

use std::borrow::Cow;

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use super::separate::{Class, Rules, separate};
use crate::bleu::BleuTokenizer;
use crate::characters::{is_space, trim, trim_end};

/// The symbols of mteval-v13a, `.` and `,` as separators.
pub(super) const WESTERN: [Class; 128] = western_classes();

static MTEVAL: Rules = Rules { ascii: WESTERN, beyond_ascii: space_or_other, padded: true };
static CHINESE: Rules = Rules { ascii: WESTERN, beyond_ascii: chinese_class, padded: false };
static INTERNATIONAL: Rules =
    Rules { ascii: international_classes(), beyond_ascii: category_class, padded: false };

/// What is done to a text before it is split.
#[derive(Clone, Copy)]
pub(crate) struct Preparation {
    pub(crate) tokenizer: BleuTokenizer,
    pub(crate) lowercase: bool,
}

impl Preparation {
    /// The text whose ranges are the tokens.
    pub(crate) fn apply<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let lowered =
            if self.lowercase { Cow::Owned(text.to_lowercase()) } else { Cow::Borrowed(text) };
        match self.tokenizer {
            BleuTokenizer::Mteval13a => unescape(lowered),
            BleuTokenizer::Zh => match lowered {
                Cow::Borrowed(text) => Cow::Borrowed(trim(text)),
                Cow::Owned(text) => Cow::Owned(trim(&text).to_owned()),
            },
            BleuTokenizer::Intl | BleuTokenizer::Char | BleuTokenizer::None => match lowered {
                Cow::Borrowed(text) => Cow::Borrowed(trim_end(text)),
                Cow::Owned(text) => Cow::Owned(trim_end(&text).to_owned()),
            },
        }
    }
}

/// Gives the ranges of the tokens of a prepared text.
#[inline]
pub(crate) fn tokens(tokenizer: BleuTokenizer, text: &str, mut token: impl FnMut(usize, usize)) {
    match tokenizer {
        BleuTokenizer::Mteval13a => separate(text, &MTEVAL, token),
        BleuTokenizer::Zh => separate(text, &CHINESE, token),
        BleuTokenizer::Intl => separate(text, &INTERNATIONAL, token),
        BleuTokenizer::Char => {
            for (start, character) in
                text.char_indices().filter(|&(_, character)| !is_space(character))
            {
                token(start, start + character.len_utf8());
            }
        }
        BleuTokenizer::None => {
            let mut start = 0;
            for (at, character) in text.char_indices().filter(|&(_, character)| is_space(character))
            {
                if start < at {
                    token(start, at);
                }
                start = at + character.len_utf8();
            }
            if start < text.len() {
                token(start, text.len());
            }
        }
    }
}

/// mteval-v13a's start: marks of skipped text, hyphens at ends of lines, and four entities of SGML. It also makes
/// spaces of line ends, which separate tokens as they are.
fn unescape(text: Cow<'_, str>) -> Cow<'_, str> {
    let suspicious =
        text.bytes().fold(false, |found, byte| found | matches!(byte, b'<' | b'&' | b'\n'));
    if !suspicious {
        return text;
    }
    let trimmed = trim_end(&text);
    if !trimmed.contains('&') && !trimmed.contains("-\n") && !trimmed.contains("<skipped>") {
        return text;
    }
    let mut line = trimmed.replace("<skipped>", "").replace("-\n", "");
    if line.contains('&') {
        line = line
            .replace("&quot;", "\"")
            .replace("&amp;", "&")
            .replace("&lt;", "<")
            .replace("&gt;", ">");
    }
    Cow::Owned(line)
}

const fn western_classes() -> [Class; 128] {
    let mut classes = [Class::Other; 128];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'\t'..=b'\r' | 0x1c..=b' ' => Class::Space,
            b'0'..=b'9' => Class::Digit,
            b'.' | b',' => Class::Separator,
            b'-' => Class::Dash,
            b'\'' => Class::Other,
            b'!'..=b'/' | b':'..=b'@' | b'['..=b'`' | b'{'..=b'~' => Class::Symbol,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
}

const fn international_classes() -> [Class; 128] {
    let mut classes = western_classes();
    let mut byte = b'!';
    while byte < 127 {
        classes[byte as usize] = match byte {
            b'$' | b'+' | b'<' | b'=' | b'>' | b'^' | b'`' | b'|' | b'~' => Class::Symbol,
            _ if byte.is_ascii_punctuation() => Class::Separator,
            _ => classes[byte as usize],
        };
        byte += 1;
    }
    classes
}

pub(super) fn space_or_other(character: char) -> Class {
    if is_space(character) { Class::Space } else { Class::Other }
}

fn category_class(character: char) -> Class {
    match character.general_category_group() {
        _ if is_space(character) => Class::Space,
        GeneralCategoryGroup::Punctuation => Class::Separator,
        GeneralCategoryGroup::Symbol => Class::Symbol,
        GeneralCategoryGroup::Number => Class::Digit,
        _ => Class::Other,
    }
}

/// The characters sacreBLEU takes as Chinese. Two of its ranges were meant for characters above U+FFFF but compare
/// as U+2001 to U+2A6D and U+2F81 to U+2FA1, which takes in quotation marks, dashes and arrows; the numbers of the
/// literature are made with them.
fn chinese_class(character: char) -> Class {
    match character {
        _ if is_space(character) => Class::Space,
        '\u{2001}'..='\u{2a6d}'
        | '\u{2e80}'..='\u{2eff}'
        | '\u{2f00}'..='\u{2fdf}'
        | '\u{2ff0}'..='\u{303f}'
        | '\u{3100}'..='\u{312f}'
        | '\u{31a0}'..='\u{31bf}'
        | '\u{31c0}'..='\u{31ef}'
        | '\u{3200}'..='\u{4db5}'
        | '\u{4e00}'..='\u{9fbb}'
        | '\u{f900}'..='\u{fa2d}'
        | '\u{fa30}'..='\u{fa6a}'
        | '\u{fa70}'..='\u{fad9}'
        | '\u{fe10}'..='\u{fe1f}'
        | '\u{fe30}'..='\u{fe4f}'
        | '\u{ff00}'..='\u{ffef}' => Class::Symbol,
        _ => Class::Other,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn split(tokenizer: BleuTokenizer, text: &str) -> Vec<String> {
        let text = Preparation { tokenizer, lowercase: false }.apply(text);
        let mut found = Vec::new();
        tokens(tokenizer, &text, |start, end| found.push(text[start..end].to_owned()));
        found
    }

    #[test]
    fn numbers_keep_their_separators() {
        let split = |text| split(BleuTokenizer::Mteval13a, text).join(" ");
        assert_eq!(split("It cost $3,141.59, not 3.14."), "It cost $ 3,141.59 , not 3.14 .");
        assert_eq!(split("1.,.5 ..5 a..5 .5 5-6--7"), "1 . , .5 . .5 a . .5 . 5 5 - 6 - -7");
        assert_eq!(split("&amp;lt;x&quot;y&#39; <skipped>co-\nop a-"), "< x \" y & # 39 ; coop a-");
    }

    #[test]
    fn the_end_of_a_text_differs() {
        assert_eq!(split(BleuTokenizer::Mteval13a, "in 2020."), ["in", "2020", "."]);
        assert_eq!(split(BleuTokenizer::Intl, "in 2020."), ["in", "2020."]);
        assert_eq!(split(BleuTokenizer::Zh, "2020."), ["2020."]);
        assert_eq!(
            split(BleuTokenizer::Intl, "«a» 1-2 a-b 5€"),
            ["«", "a", "»", "1-2", "a", "-", "b", "5", "€"]
        );
        assert_eq!(split(BleuTokenizer::Zh, "你好,a—b"), ["你", "好", ",", "a", "—", "b"]);
        assert_eq!(split(BleuTokenizer::Char, "a\u{a0}é"), ["a", "é"]);
        assert_eq!(split(BleuTokenizer::None, " a.  b\u{1c}"), ["a.", "b"]);
    }

    #[test]
    fn tokens_are_those_of_sacrebleu() {
        let names = [
            (BleuTokenizer::Mteval13a, "13a"),
            (BleuTokenizer::Intl, "intl"),
            (BleuTokenizer::Char, "char"),
            (BleuTokenizer::Zh, "zh"),
            (BleuTokenizer::None, "none"),
        ];
        for line in crate::reference::lines("tokens") {
            let text = line["text"].as_str().unwrap();
            for (tokenizer, name) in names {
                assert_eq!(
                    split(tokenizer, text).join(" "),
                    line[name].as_str().unwrap(),
                    "{name}: {text:?}"
                );
            }
            let lowered: Vec<&str> = line["lowered"]
                .as_str()
                .unwrap()
                .split(' ')
                .filter(|word| !word.is_empty())
                .collect();
            let ours = Preparation { tokenizer: BleuTokenizer::None, lowercase: true }
                .apply(text)
                .into_owned();
            assert_eq!(crate::characters::words(&ours).collect::<Vec<_>>(), lowered, "{text:?}");
        }
    }
}
