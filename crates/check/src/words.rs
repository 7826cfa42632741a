//! How long a text is, and its sentences: rules that hold for scripts without spaces too.

/// Words that end in a full stop without ending a sentence.
const ABBREVIATIONS: [&str; 20] = [
    "approx", "cf", "dr", "e.g", "etc", "fig", "i.e", "inc", "jr", "ltd", "mr", "mrs", "ms", "no",
    "nr", "prof", "sr", "st", "vs", "z.b",
];

/// How many words: separated by spaces, and each character of a script that is written without.
pub(crate) fn count(text: &str) -> usize {
    text.split_whitespace()
        .map(|token| {
            let without_spaces = token.chars().filter(|letter| is_unspaced(*letter)).count();
            let rest = token.chars().any(|letter| letter.is_alphanumeric() && !is_unspaced(letter));
            (without_spaces + usize::from(rest)).max(1)
        })
        .sum()
}

/// Characters of Chinese, Japanese, Thai, Lao, Khmer and Burmese, which put no spaces between words.
fn is_unspaced(letter: char) -> bool {
    matches!(letter,
        '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}'
        | '\u{3041}'..='\u{30FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}'
        | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3134F}')
}

/// The sentences of a text, without the space around them; nothing but that space is lost.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let end = at + letter.len_utf8();
        let next = letters.peek().map(|(_, next)| *next);
        let ends = match letter {
            '。' | '！' | '？' | '｡' => !next.is_some_and(closes),
            '.' | '!' | '?' | '…' | '؟' | '۔' | '।' => {
                next.is_none_or(char::is_whitespace)
                    && !(letter == '.' && is_abbreviation(&text[start..at]))
                    && begins_sentence(&text[end..])
            }
            '\n' => next.is_none_or(|next| next == '\n'),
            _ => false,
        };
        if ends {
            push(&mut found, &text[start..end]);
            start = end;
        }
    }
    push(&mut found, &text[start..]);
    found
}

fn closes(letter: char) -> bool {
    matches!(letter, '」' | '』' | '）' | '”' | '’')
}

fn push<'a>(found: &mut Vec<&'a str>, sentence: &'a str) {
    let sentence = sentence.trim();
    if !sentence.is_empty() {
        found.push(sentence);
    }
}

/// What follows does not go on in lower case.
fn begins_sentence(rest: &str) -> bool {
    !rest.trim_start().chars().next().is_some_and(char::is_lowercase)
}

fn is_abbreviation(before: &str) -> bool {
    let word = before.rsplit(|letter: char| letter.is_whitespace() || letter == '(').next();
    let word = word.unwrap_or_default();
    let single = word.chars().count() == 1 && word.chars().all(char::is_alphanumeric);
    single || ABBREVIATIONS.contains(&word.to_lowercase().as_str())
}

/// Whether a text ends as a sentence does.
pub(crate) fn ends_sentence(line: &str) -> bool {
    let ending = ['.', '!', '?', '…', ':', '。', '！', '？', '｡', '：', '؟', '۔', '।'];
    line.trim_end().ends_with(ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_with_and_without_spaces() {
        assert_eq!(count("The capital is Paris."), 4);
        assert_eq!(count("  \n "), 0);
        assert_eq!(count("巴黎是首都。"), 5);
        assert_eq!(count("The 首都 — Paris"), 5);
        assert_eq!(count("Столица Франции — Париж"), 4);
    }

    #[test]
    fn sentences_end_where_they_end() {
        assert_eq!(
            sentences("Dr. Smith paid 3.50 euros, e.g. for tea. Why? It was cold… and wet.\n\nEnd"),
            ["Dr. Smith paid 3.50 euros, e.g. for tea.", "Why?", "It was cold… and wet.", "End"]
        );
        assert_eq!(sentences("巴黎是首都。它很大！"), ["巴黎是首都。", "它很大！"]);
        assert!(sentences(" \n").is_empty());
    }
}
