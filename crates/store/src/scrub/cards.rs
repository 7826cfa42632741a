//! Numbers of payment cards: with the length and the first digits of a known kind, and the right check digit.

use std::ops::Range;

use super::digits::{Group, begins, ends, groups};

/// How people write a number in groups.
const LAYOUTS: [&[usize]; 4] = [&[4, 4, 4, 4], &[4, 4, 4, 4, 3], &[4, 6, 5], &[4, 6, 4]];

pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let groups = groups(text);
    let (mut found, mut index) = (Vec::new(), 0);
    while index < groups.len() {
        match card(text, &groups[index..]) {
            Some(count) => {
                found.push(groups[index].place.start..groups[index + count - 1].place.end);
                index += count;
            }
            None => index += 1,
        }
    }
    found
}

/// How many of the first groups are a card.
fn card(text: &str, groups: &[Group]) -> Option<usize> {
    let first = groups.first().filter(|first| begins(text, first.place.start))?;
    let is_whole = |count: usize| -> bool {
        let (start, end) = (first.place.start, groups[count - 1].place.end);
        let digits: Vec<u8> = text[start..end].bytes().filter(u8::is_ascii_digit).collect();
        ends(text, end) && is_known(&digits) && has_check_digit(&digits)
    };
    if is_whole(1) {
        return Some(1);
    }
    let fits = |layout: &&&[usize]| {
        let Some(groups) = groups.get(..layout.len()) else { return false };
        let sign = groups[1].after;
        groups.iter().map(Group::len).eq(layout.iter().copied())
            && matches!(sign, Some(' ' | '-'))
            && groups[1..].iter().all(|group| group.after == sign)
            && is_whole(layout.len())
    };
    // The longest first, so that nothing is left over.
    LAYOUTS.iter().filter(fits).map(|layout| layout.len()).max()
}

/// Whether a network gives out numbers of this length that begin so.
fn is_known(digits: &[u8]) -> bool {
    let begins = |count: usize| {
        digits.iter().take(count).fold(0_u32, |number, digit| number * 10 + u32::from(digit - b'0'))
    };
    let length = digits.len();
    match begins(4) {
        4000..=4999 => matches!(length, 13 | 16 | 19),
        5100..=5599 | 2221..=2720 => length == 16,
        3400..=3499 | 3700..=3799 => length == 15,
        3000..=3059 | 3600..=3699 | 3800..=3999 => length == 14,
        3528..=3589 | 6011 | 6200..=6299 | 6440..=6599 => (16..=19).contains(&length),
        _ => false,
    }
}

/// The check digit (Luhn, ISO/IEC 7812-1).
fn has_check_digit(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let digit = u32::from(digit - b'0');
            match place % 2 {
                0 => digit,
                _ if digit > 4 => digit * 2 - 9,
                _ => digit * 2,
            }
        })
        .sum();
    sum.is_multiple_of(10)
}
