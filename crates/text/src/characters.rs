//! Characters as Python sees them: the reference libraries are written in it, and its white space is not Rust's.

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// Python's `str.isspace`: Unicode white space and the four separators of ASCII.
#[inline]
pub(crate) fn is_space(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\u{1c}'..='\u{1f}')
}

/// Python's `str.isalnum`: letters and numbers, without the marks that Rust's `is_alphanumeric` takes in.
#[inline]
pub(crate) fn is_letter_or_number(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_alphanumeric();
    }
    matches!(
        character.general_category_group(),
        GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number
    )
}

/// Python's `string.punctuation`.
#[inline]
pub(crate) fn is_ascii_punctuation(character: char) -> bool {
    character.is_ascii_punctuation()
}

/// Python's `str.rstrip`.
pub(crate) fn trim_end(text: &str) -> &str {
    text.trim_end_matches(is_space)
}

/// Python's `str.strip`.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Python's `str.split` without arguments.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_at_every_space_python_knows() {
        let text = " a\u{1c}b\u{a0}\u{3000}c\u{200b}d\u{85}e ";
        assert_eq!(words(text).collect::<Vec<_>>(), ["a", "b", "c\u{200b}d", "e"]);
        assert_eq!(trim("\u{1f}x \u{2028}"), "x");
        assert_eq!(trim_end(" x\u{1f}"), " x");
    }

    #[test]
    fn combining_marks_are_no_letters() {
        assert!(is_letter_or_number('é') && is_letter_or_number('²') && is_letter_or_number('五'));
        assert!(
            !is_letter_or_number('\u{301}')
                && !is_letter_or_number('Ⓐ')
                && !is_letter_or_number('_')
        );
    }
}
