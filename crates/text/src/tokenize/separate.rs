//! Separating punctuation from words, in one pass.
//!
//! The reference is a row of regular expressions, each applied to the result of the one before. With separators
//! such as `.` and `,` and with digits, they come to this:
//!
//! 1. symbols stand alone;
//! 2. a separator stands alone when a character that is no digit comes before it: `([^0-9])([.,])` becomes
//!    `\1 \2 `;
//! 3. or when one comes after it: `([.,])([^0-9])` becomes ` \1 \2`;
//! 4. a dash stands alone after a digit: `([0-9])(-)` becomes `\1 \2 `.
//!
//! Matches do not overlap, so in a run of separators the second step takes them in pairs: every separator but the
//! last of the run is alone after the third step, and the last one stays with a digit behind it when the pairs have
//! left it over.

/// What a character is to the tokenizer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    Other,
    Space,
    /// Always a token of its own.
    Symbol,
    /// Alone, except between digits.
    Separator,
    Digit,
    /// Alone after a digit.
    Dash,
}

/// Which character is what.
pub(crate) struct Rules {
    pub(crate) ascii: [Class; 128],
    pub(crate) beyond_ascii: fn(char) -> Class,
    /// The reference puts a space before and after the text, so that its first and last separators have a neighbour.
    pub(crate) padded: bool,
}

/// What came before a character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Start,
    Digit,
    Other,
}

/// Gives the ranges of the tokens.
#[inline]
pub(crate) fn separate(text: &str, rules: &Rules, mut token: impl FnMut(usize, usize)) {
    let bytes = text.as_bytes();
    let (mut start, mut at) = (0, 0);
    let mut before = if rules.padded { Before::Other } else { Before::Start };
    while let Some(&byte) = bytes.get(at) {
        let (class, width) =
            if byte < 128 { (rules.ascii[usize::from(byte)], 1) } else { beyond(text, at, rules) };
        match class {
            Class::Other => {
                at += width;
                before = Before::Other;
            }
            Class::Digit => {
                at += width;
                before = Before::Digit;
            }
            Class::Dash if before != Before::Digit => {
                at += width;
                before = Before::Other;
            }
            Class::Space | Class::Symbol | Class::Dash => {
                if start < at {
                    token(start, at);
                }
                if class != Class::Space {
                    token(at, at + width);
                }
                at += width;
                start = at;
                before = Before::Other;
            }
            Class::Separator => {
                (start, at) = separators(text, rules, start, at, width, before, &mut token);
                before = Before::Other;
            }
        }
    }
    if start < at {
        token(start, at);
    }
}

/// A run of separators that begins at `first`, within or after the token that begins at `start`. Gives where the
/// next token begins, and where to go on.
fn separators(
    text: &str,
    rules: &Rules,
    start: usize,
    first: usize,
    first_width: usize,
    before: Before,
    token: &mut impl FnMut(usize, usize),
) -> (usize, usize) {
    let (mut last, mut end) = (first, first + first_width);
    let mut count = 1;
    let next = loop {
        let next = class_at(text, end, rules);
        let Some((Class::Separator, width)) = next else { break next.map(|(class, _)| class) };
        if count == 1 && start < first {
            token(start, first);
        }
        token(last, end);
        (last, end) = (end, end + width);
        count += 1;
    };
    let first_is_paired = before == Before::Other;
    let last_is_left_over = (count % 2 == 0) == first_is_paired;
    let number_follows = match next {
        Some(class) => class == Class::Digit,
        None => !rules.padded,
    };
    if last_is_left_over && number_follows {
        let within_number = count == 1 && !first_is_paired;
        return (if within_number { start } else { last }, end);
    }
    if count == 1 && start < first {
        token(start, first);
    }
    token(last, end);
    (end, end)
}

#[inline]
fn class_at(text: &str, at: usize, rules: &Rules) -> Option<(Class, usize)> {
    let byte = *text.as_bytes().get(at)?;
    Some(if byte < 128 { (rules.ascii[usize::from(byte)], 1) } else { beyond(text, at, rules) })
}

fn beyond(text: &str, at: usize, rules: &Rules) -> (Class, usize) {
    match text[at..].chars().next() {
        Some(character) => ((rules.beyond_ascii)(character), character.len_utf8()),
        None => (Class::Other, 1),
    }
}
