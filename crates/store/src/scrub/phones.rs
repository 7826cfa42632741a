//! Numbers of phones: with the code of a country after a `+`, and forms of single countries that nothing else has.
//!
//! Digits without any sign between them, or without a `+` before, are left alone: they may be anything.

use std::ops::Range;

use super::digits::{Group, begins, ends, groups};

/// Codes of countries with one or two digits; all others have three.
const SHORT_CODES: [u32; 46] = [
    1, 7, 20, 27, 30, 31, 32, 33, 34, 36, 39, 40, 41, 43, 44, 45, 46, 47, 48, 49, 51, 52, 53, 54,
    55, 56, 57, 58, 60, 61, 62, 63, 64, 65, 66, 81, 82, 84, 86, 90, 91, 92, 93, 94, 95, 98,
];
/// The first two digits of the codes with three.
const LONG_CODES: [u32; 17] = [21, 22, 23, 24, 25, 26, 29, 35, 37, 38, 42, 50, 59, 67, 85, 96, 97];

pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let groups = groups(text);
    let (mut found, mut index) = (Vec::new(), 0);
    while index < groups.len() {
        let rest = &groups[index..];
        let phone = international(text, rest)
            .or_else(|| north_american(text, rest))
            .or_else(|| with_trunk_zero(text, rest));
        match phone {
            Some((start, count)) => {
                found.push(start..groups[index + count - 1].place.end);
                index += count;
            }
            None => index += 1,
        }
    }
    found
}

/// `+49 30 1234567`, `+1 (415) 555-2671`, `+14155552671` (E.164: up to 15 digits).
fn international(text: &str, groups: &[Group]) -> Option<(usize, usize)> {
    let first = groups.first()?;
    let start = first.place.start.checked_sub(1)?;
    if text.as_bytes()[start] != b'+' || !begins(text, start) || text[..start].ends_with(')') {
        return None;
    }
    let mut count = 1;
    let mut digits = first.len();
    while let Some(group) = groups.get(count) {
        let between = &text[groups[count - 1].place.end..group.place.start];
        let is_one = matches!(between, " " | "-" | "." | "/" | " (" | ") " | ")" | ")-" | " - ");
        if !is_one || digits + group.len() > 15 {
            break;
        }
        digits += group.len();
        count += 1;
    }
    let shortest = if count == 1 { 9 } else { 8 };
    // What follows may be a number of its own: the phone ends where it is still whole.
    while count > 0 {
        let end = groups[count - 1].place.end;
        if (shortest..=15).contains(&digits) && ends(text, end) && has_country(text, first) {
            return Some((start, count));
        }
        digits -= groups[count - 1].len();
        count -= 1;
    }
    None
}

fn has_country(text: &str, first: &Group) -> bool {
    let begins = |count: usize| text[first.place.clone()].get(..count)?.parse::<u32>().ok();
    let is_short = |count| begins(count).is_some_and(|code| SHORT_CODES.contains(&code));
    let is_long = begins(3).is_some_and(|code| LONG_CODES.contains(&(code / 10)));
    is_short(1) || is_short(2) || is_long
}

/// `415-555-2671`, `415.555.2671`, `(415) 555-2671`, `1-800-555-0199`.
fn north_american(text: &str, groups: &[Group]) -> Option<(usize, usize)> {
    let has_one = groups.first()?.len() == 1 && text[groups[0].place.clone()] == *"1";
    let skipped = usize::from(has_one);
    let number = groups.get(skipped..skipped + 3)?;
    let lengths: Vec<usize> = number.iter().map(Group::len).collect();
    let is_area = |group: &Group| matches!(text.as_bytes()[group.place.start], b'2'..=b'9');
    let (area, exchange, line) = (&number[0], &number[1], &number[2]);
    if lengths != [3, 3, 4] || !is_area(area) || !is_area(exchange) || !ends(text, line.place.end) {
        return None;
    }
    let between = &text[area.place.end..exchange.place.start];
    let is_bracketed = matches!(between, ") " | ")") && text[..area.place.start].ends_with('(');
    let fits = match is_bracketed {
        true => matches!(line.after, Some('-' | '.' | ' ')),
        false => matches!(exchange.after, Some('-' | '.')) && exchange.after == line.after,
    };
    let start = match (is_bracketed, has_one) {
        (true, _) => area.place.start - 1,
        (false, true) if area.after == exchange.after => groups[0].place.start,
        (false, true) => return None,
        (false, false) => area.place.start,
    };
    let skips_nothing = !has_one || !is_bracketed;
    (fits && skips_nothing && begins(text, start)).then_some((start, skipped + 3))
}

/// `030 1234567`, `0171/2345678`, `020 7946 0958`, `(030) 1234567`, and five pairs: `06 12 34 56 78`.
fn with_trunk_zero(text: &str, groups: &[Group]) -> Option<(usize, usize)> {
    let first = groups.first()?;
    let digits = text[first.place.clone()].as_bytes();
    if digits.len() < 2 || digits[0] != b'0' || digits[1] == b'0' {
        return None;
    }
    if digits.len() == 2 {
        let pairs = groups.get(..5)?;
        let sign = pairs[1].after.filter(|sign| matches!(sign, ' ' | '.' | '-'))?;
        let is_phone = pairs.iter().all(|pair| pair.len() == 2)
            && pairs[1..].iter().all(|pair| pair.after == Some(sign));
        let (start, end) = (first.place.start, pairs[4].place.end);
        return (is_phone && begins(text, start) && ends(text, end)).then_some((start, 5));
    }
    let is_bracketed = text[..first.place.start].ends_with('(');
    let start = first.place.start - usize::from(is_bracketed);
    if digits.len() > 6 || !begins(text, start) {
        return None;
    }
    let (mut count, mut total) = (1, digits.len());
    while let Some(group) = groups.get(count).filter(|_| count < 4) {
        let between = &text[groups[count - 1].place.end..group.place.start];
        let is_one = match (count, is_bracketed) {
            (1, true) => matches!(between, ") " | ")"),
            _ => matches!(between, " " | "-" | "/"),
        };
        if !is_one || total + group.len() > 12 {
            break;
        }
        total += group.len();
        count += 1;
    }
    let end = groups[count - 1].place.end;
    let is_phone = count > 1 && (9..=12).contains(&total) && ends(text, end);
    (is_phone && groups[1..count].iter().all(|group| group.len() >= 2)).then_some((start, count))
}
