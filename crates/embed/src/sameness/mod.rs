//! Whether two texts say the same in nearly the same words: the guard before what was judged of one is used for the other.
//!
//! Embeddings of "it is 42" and "it is 43" are as close as those of two ways to say one thing, so that closeness alone decides
//! nothing. This guard is conservative: what it does not know to be harmless, matters. Closed lists name what is harmless in
//! English; the words that remain must be the same in the same order. Numbers, signs, units, names, negations, quotes
//! and code are compared as they are written. A text in another language must be equal but for white space.

mod difference;
mod language;
mod lists;
mod phrases;
mod segments;
mod tokens;

pub use difference::{Difference, DifferenceKind};

use segments::{Segment, segments};
use tokens::{Token, tokens};

/// What differs between two texts that matters; `None` where a score of one may be used for the other. The order of the two makes
/// no difference to whether they differ.
#[must_use]
pub fn differs(first: &str, second: &str) -> Option<Difference> {
    if first == second {
        return None;
    }
    let (one, other) = (segments(first), segments(second));
    if indentation(first) != indentation(second) {
        return Some(Difference::of_indentation());
    }
    if same_but_for_spaces(&one, &other) {
        return None;
    }
    if !language::is_english(&one) || !language::is_english(&other) {
        return Some(Difference::between(&whole(&one), &whole(&other)));
    }
    let (one, other) = (phrases::reduced(whole(&one)), phrases::reduced(whole(&other)));
    // Where nothing but fillers was said, the fillers are what was said.
    let says_something = !one.is_empty() && !other.is_empty();
    let same = one.len() == other.len() && one.iter().zip(&other).all(|(a, b)| a.is_same(b));
    if same && says_something {
        return None;
    }
    Some(Difference::between(&one, &other))
}

/// How far each line is set in, where any is: code and lists say something by it.
fn indentation(text: &str) -> Vec<usize> {
    let lines = text.trim().lines().filter(|line| !line.trim().is_empty());
    let depths: Vec<usize> = lines.map(|line| line.len() - line.trim_start().len()).collect();
    if depths.iter().all(|depth| *depth == 0) { Vec::new() } else { depths }
}

fn whole(segments: &[Segment<'_>]) -> Vec<Token> {
    segments.iter().enumerate().flat_map(|(index, part)| tokens(part, index == 0)).collect()
}

fn same_but_for_spaces(one: &[Segment<'_>], other: &[Segment<'_>]) -> bool {
    let same = |(one, other): (&Segment<'_>, &Segment<'_>)| match (one, other) {
        (Segment::Text(one), Segment::Text(other)) => {
            one.split_whitespace().eq(other.split_whitespace())
        }
        (one, other) => one == other,
    };
    one.len() == other.len() && one.iter().zip(other).all(same)
}
