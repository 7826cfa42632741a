//! Reading a judge's reply: the JSON object in it, its fields, and where the score stands.
//!
//! Nothing is guessed: two objects that could both be the reply, a number off the scale or a field that is missing is a
//! complaint, in words the judge can be told. A complaint never repeats the reply's texts, which may repeat the judged ones.

mod logprobs;
mod object;

use std::ops::Range;

use fullbench_types::Scale;

pub(crate) use logprobs::distribution;
pub(crate) use object::Object;

/// A score as it stands in a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScoreAt {
    /// The number.
    pub(crate) number: i32,
    /// Where its digits are, in bytes of the reply.
    pub(crate) digits: Range<usize>,
}

/// Reads `4`, `4.0`, `4/5`: a whole number of the scale, out of its maximum where an "out of" is given.
pub(crate) fn read_score(text: &str, scale: Scale) -> Result<(i32, Range<usize>), String> {
    let expected = || format!("a whole number from {} to {}", scale.min, scale.max);
    let trimmed = text.trim();
    let start = text.len() - text.trim_start().len();
    let (number, behind) = match trimmed.split_once('/') {
        Some((number, behind)) => (number.trim_end(), Some(behind.trim())),
        None => (trimmed, None),
    };
    if let Some(behind) = behind
        && behind.parse::<f64>().ok() != Some(f64::from(scale.max))
    {
        return Err(format!("the score must be {}, not out of another maximum", expected()));
    }
    let is_number = !number.is_empty()
        && number.len() <= 24
        && number.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+'));
    let value = number.parse::<f64>().ok().filter(|value| is_number && value.is_finite());
    let Some(value) = value else { return Err(format!("the score must be {}", expected())) };
    if value.fract() != 0.0 || !scale.contains(value) {
        return Err(format!("the score {value} is not {}", expected()));
    }
    let digits = number.find('.').unwrap_or(number.len());
    Ok((value as i32, start..start + digits))
}

/// The number of a reply that is not JSON, as published outputs of judges are: the first line is the number, perhaps with a label
/// and a colon before it and a remark set off behind it: `4`, `- Coherence: 4`, `4 (good)`. A line with two numbers is none.
pub(crate) fn plain_score(text: &str, scale: Scale) -> Result<ScoreAt, String> {
    let none = || "the reply has neither a JSON object nor a number in its first line".to_owned();
    let start = text.len() - text.trim_start().len();
    let line = text[start..].lines().next().unwrap_or_default();
    let is_digit = |letter: char| letter.is_ascii_digit();
    let first = line.find(is_digit).ok_or_else(none)?;
    let is_negative = scale.min < 0 && line[..first].ends_with('-');
    let first = first - usize::from(is_negative);
    let label = line[..first].trim_matches(['*', '_', '`', '-', ' ', '"']);
    let is_number = |letter: char| is_digit(letter) || matches!(letter, '.' | '/' | '-');
    let length = line[first..].find(|letter| !is_number(letter)).unwrap_or(line.len() - first);
    let number = line[first..first + length].trim_end_matches(['.', '-', '/']);
    let remark = line[first + number.len()..].trim_start();
    let is_alone = (label.is_empty() || label.ends_with(':'))
        && !remark.contains(is_digit)
        && !remark.starts_with(|letter: char| letter.is_alphanumeric() || letter == '/');
    if !is_alone {
        return Err(none());
    }
    let (value, digits) = read_score(number, scale)?;
    let at = start + first;
    Ok(ScoreAt { number: value, digits: at + digits.start..at + digits.end })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_score_is_a_whole_number_of_the_scale_in_several_spellings() {
        for text in ["4", "4.0", " 4 ", "4/5", "4 / 5", "+4"] {
            assert_eq!(read_score(text, Scale::FIVE).unwrap().0, 4, "{text}");
        }
        assert_eq!(read_score("-1", Scale { min: -2, max: 2 }).unwrap(), (-1, 0..2));
        for text in ["", "6", "0", "4.5", "4/10", "4/", "four", "NaN", "inf", "1e0", "4,5", "0x4"] {
            assert!(read_score(text, Scale::FIVE).is_err(), "{text}");
        }
    }

    #[test]
    fn published_replies_are_a_number_with_or_without_a_label() {
        for (text, number, digits) in [
            ("4", 4, 0..1),
            (" 4\n\nThe summary is short.", 4, 1..2),
            ("- Coherence: 3", 3, 13..14),
            ("Score: **2/5**.", 2, 9..10),
            ("4 (the summary", 4, 0..1),
            ("5. It is clear", 5, 0..1),
            ("**Coherence:** 3 - fair", 3, 15..16),
        ] {
            let found = plain_score(text, Scale::FIVE).unwrap();
            assert_eq!((found.number, found.digits), (number, digits), "{text}");
        }
        for text in [
            "",
            "The summary deserves 4",
            "4 or 5",
            "3-4",
            "4 / 10",
            "4 reasons",
            "Coherence: high",
            "7",
            "4.5",
        ] {
            assert!(plain_score(text, Scale::FIVE).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_reply_makes_reading_fail_but_by_a_complaint(
            text in any::<String>(),
            shaped in "[{}\":,a-c0-9 ./-]{0,40}(\"score\": ?\"?-?[0-9./é]{0,5}\"?)?[}{ ]{0,3}",
        ) {
            let scale = Scale { min: -2, max: 12 };
            for reply in [&text, &shaped] {
                for score in [
                    plain_score(reply, scale),
                    Object::find(reply, &["score"]).and_then(|object| object.score("score", scale)),
                ].into_iter().flatten() {
                    prop_assert!(scale.contains(f64::from(score.number)));
                    let digits = reply[score.digits].parse::<i32>();
                    prop_assert_eq!(digits, Ok(score.number));
                }
            }
        }
    }
}
