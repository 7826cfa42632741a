//! Tokens without what makes no difference.

use super::lists::{
    AFTER_THE, BEFORE_NUMBERS, CONTRACTIONS, JOINING, LINKING_WORDS, LINKS, NUMBERS, OPENINGS,
    PHRASES, WORDS,
};
use super::tokens::Token;

/// Signs that may stand between a word and the number it belongs to.
const BEFORE_DIGITS: [char; 6] = ['-', '−', '+', '$', '€', '£'];

/// What remains to be compared: fillers dropped, contractions and phrases read as what they stand for.
pub(super) fn reduced(tokens: Vec<Token>) -> Vec<Token> {
    let mut rest = Rest { tokens: expanded(tokens), next: 0 };
    let mut kept = Vec::with_capacity(rest.tokens.len());
    while let Some(token) = rest.tokens.get(rest.next).cloned() {
        if rest.skip_opening() || rest.skip_filler() || rest.skip_comma(&kept) {
            continue;
        }
        if rest.take_phrase(&mut kept) {
            continue;
        }
        rest.next += 1;
        // "(3,141)" may be a point.
        let in_brackets = kept.last().is_some_and(|last| last.is_sign(&['(', '[', '{']));
        let is_literal = in_brackets && matches!(token, Token::Number(_));
        kept.push(if is_literal { token } else { read(token) });
    }
    if kept.last().is_some_and(|last| last.is_sign(&['.'])) {
        kept.pop();
    }
    kept
}

fn word(text: &str, begins: bool) -> Token {
    Token::Word { text: text.to_owned(), begins }
}

fn begins(token: &Token) -> bool {
    matches!(token, Token::Word { begins: true, .. })
}

fn expanded(tokens: Vec<Token>) -> Vec<Token> {
    let mut all = Vec::with_capacity(tokens.len());
    for token in tokens {
        let plain = token.plain();
        let found = CONTRACTIONS.iter().find(|(short, _)| plain.as_deref() == Some(short));
        match found {
            Some((_, long)) => all.extend(
                long.iter()
                    .enumerate()
                    .map(|(index, text)| word(text, index == 0 && begins(&token))),
            ),
            None => all.push(token),
        }
    }
    all
}

/// A single token as what it stands for.
fn read(token: Token) -> Token {
    if let Token::Number(number) = &token {
        return Token::Number(without_groups(number));
    }
    let Some(plain) = token.plain() else { return token };
    if let Some((_, number)) = NUMBERS.iter().find(|(text, _)| *text == plain) {
        return Token::Number((*number).to_owned());
    }
    match WORDS.iter().find(|(text, _)| *text == plain) {
        Some((_, text)) => word(text, begins(&token)),
        None => token,
    }
}

/// "1,000" as "1000", where the commas stand where they do in thousands.
fn without_groups(number: &str) -> String {
    let (whole, fraction) = number.split_once('.').map_or((number, None), |(a, b)| (a, Some(b)));
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default();
    let are_thousands = (1..=3).contains(&first.len())
        && !first.starts_with('0')
        && groups.clone().count() > 0
        && groups.all(|group| group.len() == 3)
        && fraction.is_none_or(|fraction| fraction.chars().all(|c| c.is_ascii_digit()));
    if are_thousands { number.replace(',', "") } else { number.to_owned() }
}

/// The tokens that have not been read.
struct Rest {
    tokens: Vec<Token>,
    next: usize,
}

impl Rest {
    fn at(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.next + ahead)
    }

    fn begins(&self) -> bool {
        self.at(0).is_some_and(begins)
    }

    /// These words come next; a comma stands for itself.
    fn is_next(&self, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(ahead, word)| {
            self.at(ahead).is_some_and(|token| match *word {
                "," => token.is_sign(&[',']),
                word => token.is_word(word),
            })
        })
    }

    /// Goes on after so many tokens; what follows begins the sentence if they did.
    fn skip(&mut self, count: usize) {
        let began = self.begins();
        self.next += count;
        let next = self.next;
        if let Some(Token::Word { begins, .. }) = self.tokens.get_mut(next) {
            *begins |= began;
        }
    }

    /// "Certainly, …": something must follow, or it is the answer.
    fn skip_opening(&mut self) -> bool {
        if !self.begins() {
            return false;
        }
        for opening in OPENINGS {
            let count = opening.len();
            let is_apart = self.at(count).is_some_and(|token| token.is_sign(&[',', '!']));
            if is_apart && self.at(count + 1).is_some() && self.is_next(opening) {
                self.skip(count + 1);
                return true;
            }
        }
        false
    }

    /// "the" before a word or a number, and "please" at the beginning or the end.
    fn skip_filler(&mut self) -> bool {
        let is_followed = match self.at(1) {
            Some(next @ Token::Word { .. }) => !AFTER_THE.iter().any(|word| next.is_word(word)),
            Some(Token::Number(_)) => true,
            _ => false,
        };
        let is_please = self.begins()
            && self.is_next(&["please"])
            && matches!(self.at(1), Some(Token::Word { .. }));
        if is_followed && self.is_next(&["the"]) || is_please {
            self.skip(1);
            return true;
        }
        let ends =
            |token: Option<&Token>| token.is_none_or(|token| token.is_sign(&['.', '?', '!']));
        if self.is_next(&[",", "please"]) && ends(self.at(2)) {
            self.next += 2;
            return true;
        }
        false
    }

    /// A comma before "and" and "or", and after "therefore" at the beginning.
    fn skip_comma(&mut self, kept: &[Token]) -> bool {
        let is_joined =
            self.at(1).is_some_and(|next| JOINING.iter().any(|word| next.is_word(word)));
        let follows_link = kept
            .last()
            .is_some_and(|last| begins(last) && LINKS.iter().any(|word| last.is_word(word)));
        let skips = self.is_next(&[","]) && (is_joined || follows_link);
        self.next += usize::from(skips);
        skips
    }

    /// Keeps what a phrase stands for instead of the phrase.
    fn take_phrase(&mut self, kept: &mut Vec<Token>) -> bool {
        let began = self.begins();
        if let Some((phrase, meaning)) = PHRASES.iter().find(|(phrase, _)| self.is_next(phrase)) {
            // A comma is left to be looked at.
            let comma = usize::from(phrase.last() == Some(&","));
            let meant = &meaning[..meaning.len() - comma];
            kept.extend(meant.iter().enumerate().map(|(i, text)| word(text, i == 0 && began)));
            self.next += phrase.len() - comma;
            return true;
        }
        let links = LINKING_WORDS.iter().find(|(text, _)| began && self.is_next(&[text, ","]));
        if let Some((_, link)) = links {
            kept.push(word(link, true));
            self.next += 1;
            return true;
        }
        for (phrase, meaning) in BEFORE_NUMBERS {
            if self.is_next(phrase) && self.is_number(phrase.len()) {
                kept.push(word(meaning, began));
                self.next += phrase.len();
                return true;
            }
        }
        false
    }

    fn is_number(&self, ahead: usize) -> bool {
        let sign = usize::from(self.at(ahead).is_some_and(|token| token.is_sign(&BEFORE_DIGITS)));
        matches!(self.at(ahead + sign), Some(Token::Number(_)))
    }
}
