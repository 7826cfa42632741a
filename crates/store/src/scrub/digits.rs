//! Groups of digits in a text, and what stands around them.

use std::ops::Range;

/// Digits in a row, and the one sign between them and the group before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) place: Range<usize>,
    /// The sign between this group and the one before, where that is a single one.
    pub(super) after: Option<char>,
}

impl Group {
    pub(super) fn len(&self) -> usize {
        self.place.len()
    }
}

/// All groups of a text.
pub(super) fn groups(text: &str) -> Vec<Group> {
    let bytes = text.as_bytes();
    let mut groups: Vec<Group> = Vec::new();
    let mut place = 0;
    while place < bytes.len() {
        if !bytes[place].is_ascii_digit() {
            place += 1;
            continue;
        }
        let start = place;
        while bytes.get(place).is_some_and(u8::is_ascii_digit) {
            place += 1;
        }
        let after = groups.last().filter(|last| last.place.end + 1 == start);
        let after = after.map(|last| char::from(bytes[last.place.end]));
        groups.push(Group { place: start..place, after });
    }
    groups
}

/// Nothing before the place makes its digits part of something longer: a word, a decimal, an id, an amount.
pub(super) fn begins(text: &str, place: usize) -> bool {
    text[..place].chars().next_back().is_none_or(|sign| {
        !sign.is_alphanumeric()
            && !matches!(sign, '_' | '-' | '.' | '/' | '#' | '+' | '$' | '€' | '£')
    })
}

/// Nothing after the place does.
pub(super) fn ends(text: &str, place: usize) -> bool {
    let mut rest = text[place..].chars();
    match rest.next() {
        None => true,
        Some(sign) if sign.is_alphanumeric() || sign == '_' => false,
        Some('-' | '.' | ',' | '/' | ':') => !rest.next().is_some_and(|next| next.is_ascii_digit()),
        Some(_) => true,
    }
}
