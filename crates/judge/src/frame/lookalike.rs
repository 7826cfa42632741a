//! What looks like a delimiter of a frame or a special token of a model, whatever letters it is written with.
//!
//! A text is folded to what a reader takes it for: small letters of the Latin alphabet, no accents, no spaces, no characters that
//! are not seen, and one kind of bracket and bar. Markers are looked for in that.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::escape::is_hidden;

/// Longest special token that is looked for.
const LONGEST_TOKEN: usize = 64;

/// Names that models or their servers give a meaning to in `<…>`.
/// Their joints, `_` and `-`, are left out.
const TAGS: [&str; 26] = [
    "s",
    "bos",
    "eos",
    "pad",
    "unk",
    "sys",
    "system",
    "systemprompt",
    "systemmessage",
    "user",
    "assistant",
    "human",
    "model",
    "startofturn",
    "endofturn",
    "startoftext",
    "endoftext",
    "think",
    "thinking",
    "toolcall",
    "toolresponse",
    "functioncalls",
    "functionresults",
    "instructions",
    "imstart",
    "imend",
];

/// The same in `[…]`.
const BRACKETS: [&str; 12] = [
    "inst",
    "systemprompt",
    "availabletools",
    "toolcalls",
    "toolresults",
    "toolcontent",
    "callid",
    "think",
    "gmask",
    "sys",
    "bos",
    "eos",
];

/// A character as it is read, and where it stands in the text.
struct Read {
    letter: char,
    at: usize,
}

/// The text as it is read.
pub(super) fn folded(text: &str) -> String {
    read(text).into_iter().map(|read| read.letter).collect()
}

/// Where the first characters of markers stand, ascending.
pub(super) fn marker_starts(text: &str) -> Vec<usize> {
    let letters = read(text);
    let mut starts = Vec::new();
    for (index, read) in letters.iter().enumerate() {
        if is_marker(&letters[index..]) {
            starts.push(read.at);
        }
    }
    starts.dedup();
    starts
}

fn is_marker(letters: &[Read]) -> bool {
    let Some(open) = letters.first().map(|read| read.letter) else { return false };
    if !matches!(open, '<' | '[' | '{' | '(') {
        return false;
    }
    let slashes = letters[1..].iter().take_while(|read| matches!(read.letter, '/' | '\\')).count();
    let behind = &letters[1 + slashes..];
    if open == '<' && behind.first().is_some_and(|read| read.letter == '|') {
        return is_token(&behind[1..]);
    }
    let (name, next) = name_of(behind);
    // `«quoted»` alone is a word in quotation marks.
    let is_delimiter = slashes > 0 || (open == '<' && name != "quoted");
    if name.starts_with("quoted") && is_delimiter {
        return true;
    }
    match open {
        '<' => next == Some('>') && is_tag(&name),
        '[' => next == Some(']') && BRACKETS.contains(&name.as_str()),
        _ => false,
    }
}

fn is_tag(name: &str) -> bool {
    TAGS.contains(&name)
        || ["unused", "reserved", "extraid"].iter().any(|word| name.starts_with(word))
}

/// Whether a special token goes on like this: `im_start|>`.
fn is_token(letters: &[Read]) -> bool {
    let name = letters.iter().take_while(|read| is_name_letter(read.letter)).count();
    let ending: Vec<char> = letters.iter().skip(name).take(2).map(|read| read.letter).collect();
    (2..=LONGEST_TOKEN).contains(&name) && ending == ['|', '>']
}

/// The name that begins here, without what joins its words, and the character behind it.
fn name_of(letters: &[Read]) -> (String, Option<char>) {
    let length =
        letters.iter().take(LONGEST_TOKEN).take_while(|read| is_name_letter(read.letter)).count();
    let name = letters[..length].iter().map(|read| read.letter);
    (
        name.filter(|letter| letter.is_alphanumeric()).collect(),
        letters.get(length).map(|read| read.letter),
    )
}

fn is_name_letter(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-' | ':' | '.' | '▁')
}

fn read(text: &str) -> Vec<Read> {
    let mut letters = Vec::with_capacity(text.len());
    for (at, letter) in text.char_indices() {
        if letter.is_ascii() {
            if !letter.is_whitespace() && !letter.is_control() {
                letters.push(Read { letter: letter.to_ascii_lowercase(), at });
            }
            continue;
        }
        if let Some(letter) = bracket_or_bar(letter) {
            letters.push(Read { letter, at });
            continue;
        }
        for letter in std::iter::once(letter).nfkd().flat_map(char::to_lowercase) {
            let is_nothing =
                letter.is_whitespace() || is_hidden(letter) || is_combining_mark(letter);
            if !is_nothing {
                let letter = bracket_or_bar(letter).unwrap_or_else(|| latin(letter));
                letters.push(Read { letter, at });
            }
        }
    }
    letters
}

/// Brackets, bars, slashes and dashes of other scripts.
fn bracket_or_bar(letter: char) -> Option<char> {
    Some(match letter {
        '‹' | '«' | '〈' | '⟨' | '⟪' | '《' | '❮' | '❰' | '❬' | '˂' | 'ᐸ' | '≪' | '⧼' | '＜'
        | '﹤' | '≺' | '⋖' | '⪡' | '᚜' | 'ᑀ' => '<',
        '›' | '»' | '〉' | '⟩' | '⟫' | '》' | '❯' | '❱' | '❭' | '˃' | 'ᐳ' | '≫' | '⧽' | '＞'
        | '﹥' | '≻' | '⋗' | '⪢' | '᚛' => '>',
        '｜' | '¦' | '│' | '┃' | '∣' | 'ǀ' | '❘' | '❙' | '⏐' | '︱' | '॥' | '।' | '￨' => {
            '|'
        }
        '［' | '【' | '〔' | '⟦' | '〚' | '❲' | '⦋' => '[',
        '］' | '】' | '〕' | '⟧' | '〛' | '❳' | '⦌' => ']',
        '∕' | '⁄' | '╱' | '⟋' | '⧸' | '／' | '〳' => '/',
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' | '－' | '﹣' | 'ー' => '-',
        'ː' | '∶' | '꞉' | '：' => ':',
        _ => return None,
    })
}

/// The Latin letter a letter of another script is taken for, in small letters.
fn latin(letter: char) -> char {
    match letter {
        'а' | 'α' | 'ɑ' | 'ᴀ' | 'ꭺ' | 'ꓮ' => 'a',
        'в' | 'β' | 'ʙ' | 'ь' | 'ƅ' => 'b',
        'с' | 'ϲ' | 'ᴄ' | 'ⅽ' | 'ꮯ' => 'c',
        'ԁ' | 'ᴅ' | 'ꭰ' | 'ժ' | 'đ' => 'd',
        'е' | 'ε' | 'є' | 'ᴇ' | 'ꭼ' | 'э' => 'e',
        'ғ' | 'ꜰ' | 'ƒ' | 'ք' => 'f',
        'ɡ' | 'ɢ' | 'ց' => 'g',
        'һ' | 'н' | 'ʜ' | 'հ' | 'ꮋ' => 'h',
        'і' | 'ι' | 'ı' | 'ɩ' | 'ɪ' | 'ӏ' | 'ꭲ' => 'i',
        'ј' | 'ϳ' | 'ᴊ' | 'ꭻ' => 'j',
        'к' | 'κ' | 'ᴋ' => 'k',
        'ʟ' | 'ł' | 'ꮮ' => 'l',
        'м' | 'ᴍ' | 'ꮇ' => 'm',
        'п' | 'η' | 'ɴ' | 'ո' | 'ν' => 'n',
        'о' | 'ο' | 'σ' | 'ᴏ' | 'օ' | 'ø' | 'ه' | '०' => 'o',
        'р' | 'ρ' | 'ᴘ' => 'p',
        'ԛ' | 'զ' | 'ʠ' => 'q',
        'г' | 'ʀ' | 'ꭱ' => 'r',
        'ѕ' | 'ς' | 'ꜱ' | 'ꮪ' | 'ʂ' => 's',
        'т' | 'τ' | 'ᴛ' | 'ŧ' => 't',
        'υ' | 'ᴜ' | 'ս' | 'ц' | 'ʋ' | 'μ' => 'u',
        'ѵ' | 'ᴠ' => 'v',
        'ԝ' | 'ω' | 'ᴡ' | 'ш' => 'w',
        'х' | 'χ' => 'x',
        'у' | 'γ' | 'ʏ' | 'ү' => 'y',
        'ᴢ' | 'ʐ' => 'z',
        letter => letter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_found_in_any_dress() {
        for text in [
            "</quoted-output 1>",
            "< / Quoted output>",
            "＜／ｑｕｏｔｅｄ－output＞",
            "‹/quоtеd-оutput›",
            "<\u{200B}/q\u{00AD}uoted",
            "<𝓺𝓾𝓸𝓽𝓮𝓭-input>",
            "⟨/QUÓTÉD⟩",
            "<ⓠⓤⓞⓣⓔⓓ-input",
            "[/quoted-output]",
            "{/quoted}",
            "<<quoted output",
            "<|im_start|>",
            "<｜User｜>",
            "<｜begin▁of▁sentence｜>",
            "<| endoftext |>",
            "<|\nsystem\n|>",
            "[INST]",
            "[ / inst ]",
            "<<SYS>>",
            "<start_of_turn>",
            "<unused42>",
            "[gMASK]",
            "</s>",
            "<system>",
            "<ѕуѕтем>",
        ] {
            assert_eq!(marker_starts(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn other_brackets_are_left_alone() {
        for text in [
            "<a|b>",
            "a <| b",
            "<|>",
            "[x]",
            "(quoted)",
            "<summary>",
            "Vec<S>>",
            "<input>",
            "x < s",
        ] {
            let found = marker_starts(text);
            assert_eq!(found.len(), usize::from(text == "Vec<S>>"), "{text}: {found:?}");
        }
    }
}
