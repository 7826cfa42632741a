//! Whether a text is English, whose lists of harmless words are known.

use super::lists::{ENGLISH, OTHER_LANGUAGES};
use super::segments::Segment;

/// So few words need not hold one that only English has.
const FEW_WORDS: usize = 3;

/// Letters are Latin, no word is a common one of another language, and one is a common one of English unless there are only a few.
pub(super) fn is_english(segments: &[Segment<'_>]) -> bool {
    let (mut words, mut common) = (0, 0);
    for segment in segments {
        let Segment::Text(text) = segment else { continue };
        if text.chars().any(|c| c.is_alphanumeric() && !is_latin(c)) {
            return false;
        }
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let word = word.to_lowercase();
            if OTHER_LANGUAGES.contains(&word.as_str()) {
                return false;
            }
            words += usize::from(word.chars().all(char::is_alphabetic));
            common += usize::from(ENGLISH.contains(&word.as_str()));
        }
    }
    common > 0 || words <= FEW_WORDS
}

fn is_latin(c: char) -> bool {
    c.is_ascii() || ('\u{b2}'..='\u{24f}').contains(&c)
}
