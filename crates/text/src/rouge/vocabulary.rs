//! Words as numbers, for ROUGE: small ASCII letters and digits, whole or as stems. Words are remembered between
//! pairs, so that each is stemmed once.

use super::stem::stem;
use crate::intern::Interner;

/// What is remembered before it is given up: words, and bytes of them.
const MAX_WORDS: u32 = 1 << 16;

/// Words up to this length are not stemmed.
const MAX_UNSTEMMED: usize = 3;

/// A longer word is not remembered beyond its pair.
const MAX_REMEMBERED: usize = 64;

/// Numbers words of a pair from 1, in the order of their first occurrence.
pub(super) struct Vocabulary {
    stemming: bool,
    words: Interner,
    stems: Interner,
    /// For each word, its stem; 0 is a word that stems to nothing.
    stem_of_word: Vec<u32>,
    /// For each stem, the pair it was met in last, and its number there.
    number_of_stem: Vec<(u32, u32)>,
    pair: u32,
    largest: u32,
    holds_long_words: bool,
    text: Vec<u8>,
    word: Vec<u8>,
}

impl Vocabulary {
    pub(super) fn new(stemming: bool) -> Self {
        Self {
            stemming,
            words: Interner::default(),
            stems: Interner::default(),
            stem_of_word: Vec::new(),
            number_of_stem: Vec::new(),
            pair: 0,
            largest: 0,
            holds_long_words: false,
            text: Vec::new(),
            word: Vec::new(),
        }
    }

    /// Begins a new pair.
    pub(super) fn start_pair(&mut self) {
        if self.words.largest() > MAX_WORDS || self.holds_long_words || self.pair == u32::MAX {
            *self = Self::new(self.stemming);
        }
        self.pair += 1;
        self.largest = 0;
    }

    /// The largest number of this pair.
    pub(super) fn largest(&self) -> u32 {
        self.largest
    }

    /// Appends the numbers of a text's words.
    pub(super) fn read(&mut self, text: &str, numbers: &mut Vec<u32>) {
        let mut lowered = std::mem::take(&mut self.text);
        lower(text, &mut lowered);
        let mut start = 0;
        while start < lowered.len() {
            let length = lowered[start..]
                .iter()
                .position(|&byte| byte == b' ')
                .unwrap_or(lowered.len() - start);
            if length > 0
                && let Some(number) = self.number(&lowered, start, start + length)
            {
                numbers.push(number);
            }
            start += length + 1;
        }
        self.text = lowered;
    }

    #[inline]
    fn number(&mut self, text: &[u8], start: usize, end: usize) -> Option<u32> {
        let word = self.words.number(text, start, end) as usize;
        if word > self.stem_of_word.len() {
            self.learn(&text[start..end]);
        }
        let stem = self.stem_of_word[word - 1] as usize;
        let (pair, number) = self
            .number_of_stem
            .get_mut(stem.checked_sub(1)?)
            .map(|(pair, number)| (pair, number))?;
        if *pair != self.pair {
            self.largest += 1;
            (*pair, *number) = (self.pair, self.largest);
        }
        Some(*number)
    }

    /// Finds the stem of a new word.
    fn learn(&mut self, word: &[u8]) {
        self.holds_long_words |= word.len() > MAX_REMEMBERED;
        self.word.clear();
        self.word.extend_from_slice(word);
        if self.stemming && word.len() > MAX_UNSTEMMED {
            stem(&mut self.word);
        }
        let stem = if self.word.is_empty() {
            0
        } else {
            self.stems.number(&self.word, 0, self.word.len())
        };
        self.stem_of_word.push(stem);
        if stem as usize > self.number_of_stem.len() {
            self.number_of_stem.push((0, 0));
        }
    }
}

/// Letters small, everything that is neither an ASCII letter nor a digit as a space. Two characters beyond ASCII
/// have a small letter within it: the Kelvin sign, and the dotted capital I, which becomes an `i` and a mark.
fn lower(text: &str, lowered: &mut Vec<u8>) {
    lowered.clear();
    let small =
        |byte: u8| if byte.is_ascii_alphanumeric() { byte.to_ascii_lowercase() } else { b' ' };
    if text.is_ascii() {
        lowered.extend(text.bytes().map(small));
        return;
    }
    for character in text.chars() {
        match character {
            '\u{212a}' => lowered.push(b'k'),
            '\u{130}' => lowered.extend_from_slice(b"i "),
            _ => lowered.push(u8::try_from(character).map_or(b' ', small)),
        }
    }
}
