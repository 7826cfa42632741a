//! The probability of each number of the scale, from the log-probabilities at the place of the score.
//!
//! The tokens of a reply join to its text. The token that holds the score's digits is found by its place, and the tokens that
//! the model could have written there are read as numbers: `4`, ` 4`, `4.` and `"4"` are the same number and their probabilities
//! add up. What is on the scale is kept and made to add up to one.

use std::collections::BTreeMap;

use fullbench_types::{Scale, TokenLogprob};

use super::ScoreAt;

/// Least probability that the numbers of the scale must have together for the distribution to be used.
pub(crate) const LEAST_MASS: f64 = 0.5;

/// The probability of each number, and how much of all probability they had.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Distribution {
    /// Numbers with their probabilities, ascending; they add up to one.
    pub(crate) probabilities: Vec<(i32, f64)>,
    /// The probability of all numbers of the scale together, as the model gave it.
    pub(crate) mass: f64,
}

/// The distribution at the place of a score.
///
/// # Errors
/// Says why there is none to rely on, and the score itself must do.
pub(crate) fn distribution(
    text: &str,
    score: &ScoreAt,
    tokens: &[TokenLogprob],
    scale: Scale,
) -> Result<Distribution, String> {
    let token = token_at(text, score, tokens)?;
    let mut masses: BTreeMap<i32, f64> = BTreeMap::new();
    let mut longest = 0;
    let chosen = std::iter::once((token.token.as_str(), token.logprob))
        .filter(|(text, _)| !token.top.iter().any(|top| top.token == *text));
    let alternatives = token.top.iter().map(|top| (top.token.as_str(), top.logprob));
    for (text, logprob) in chosen.chain(alternatives) {
        let Some((number, digits)) = number_of(text) else { continue };
        longest = longest.max(digits);
        if scale.contains(f64::from(number)) && logprob.is_finite() {
            *masses.entry(number).or_default() += logprob.exp();
        }
    }
    // With digits that are tokens of their own, a `1` may be the beginning of `10`.
    let ambiguous = masses.keys().any(|number| longest < 2 && begins_another(*number, scale));
    if ambiguous {
        return Err("numbers of the scale are written in several tokens".to_owned());
    }
    let mass: f64 = masses.values().sum();
    if !masses.contains_key(&score.number) || mass < LEAST_MASS {
        return Err(format!(
            "the numbers of the scale have a probability of {mass:.2} together, below {LEAST_MASS}"
        ));
    }
    let probabilities = masses.into_iter().map(|(number, share)| (number, share / mass)).collect();
    // Rounding of the provider may bring it a little above one.
    Ok(Distribution { probabilities, mass: mass.min(1.0) })
}

/// The one token that holds the score's digits.
fn token_at<'tokens>(
    text: &str,
    score: &ScoreAt,
    tokens: &'tokens [TokenLogprob],
) -> Result<&'tokens TokenLogprob, String> {
    let joined: String = tokens.iter().map(|token| token.token.as_str()).collect();
    // Before the score, tokens may be halves of a character; behind the reply there may be tokens that end it.
    let tail = &text[score.digits.start..];
    let Some(start) = joined.rfind(tail) else {
        return Err("the tokens do not join to the reply".to_owned());
    };
    let end = start + score.digits.len();
    let mut at = 0;
    for token in tokens {
        let behind = at + token.token.len();
        if start < behind {
            let is_whole = at <= start && end <= behind;
            return is_whole
                .then_some(token)
                .ok_or_else(|| "the score is written in several tokens".to_owned());
        }
        at = behind;
    }
    Err("the tokens do not join to the reply".to_owned())
}

/// The whole number a token is, with spaces, quotes and punctuation around it, and how many digits it has.
fn number_of(token: &str) -> Option<(i32, usize)> {
    let is_around = |letter: char| {
        letter.is_whitespace() || matches!(letter, '"' | '\'' | ':' | '*' | '▁' | 'Ġ')
    };
    let number = token.trim_start_matches(is_around);
    let digits = number.bytes().take_while(u8::is_ascii_digit).count();
    let behind = &number[digits..];
    let is_fraction = behind
        .strip_prefix(['.', ','])
        .is_some_and(|decimals| decimals.starts_with(|digit: char| ('1'..='9').contains(&digit)));
    if digits == 0 || is_fraction || behind.starts_with(|letter: char| letter.is_alphanumeric()) {
        return None;
    }
    Some((number[..digits].parse().ok()?, digits))
}

/// Whether a longer number of the scale begins with the digits of this one.
fn begins_another(number: i32, scale: Scale) -> bool {
    let lowest = i64::from(number) * 10;
    number > 0 && i64::from(scale.max) >= lowest && i64::from(scale.min) <= lowest + 9
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use fullbench_types::TopLogprob;

    use super::super::Object;
    use super::*;

    fn token(text: &str, top: &[(&str, f64)]) -> TokenLogprob {
        let top: Vec<TopLogprob> = top
            .iter()
            .map(|(token, share)| TopLogprob { token: (*token).to_owned(), logprob: share.ln() })
            .collect();
        let own = top.iter().find(|one| one.token == text).map_or(-0.1, |one| one.logprob);
        TokenLogprob { token: text.to_owned(), logprob: own, top }
    }

    fn found(tokens: &[TokenLogprob], text: &str, scale: Scale) -> Result<Distribution, String> {
        let score = Object::find(text, &["score"]).unwrap().score("score", scale).unwrap();
        distribution(text, &score, tokens, scale)
    }

    fn assert_near(distribution: &Distribution, expected: &[(i32, f64)]) {
        assert_eq!(distribution.probabilities.len(), expected.len(), "{distribution:?}");
        for ((number, share), (wanted, wanted_share)) in
            distribution.probabilities.iter().zip(expected)
        {
            assert_eq!(number, wanted);
            assert!((share - wanted_share).abs() < 1e-12, "{distribution:?}");
        }
    }

    #[test]
    fn spellings_of_a_number_add_up_and_what_is_off_the_scale_is_left_out() {
        // 4: 0.5 + 0.1 + 0.1 = 0.7; 5: 0.2; together 0.9 of 0.97.
        let top = [
            ("4", 0.5),
            (" 4", 0.1),
            ("4.", 0.1),
            ("5", 0.2),
            ("9", 0.05),
            ("four", 0.02),
            ("4.5", 0.01),
        ];
        let tokens = [
            token("{\"score", &[]),
            token("\":", &[]),
            token(" ", &[]),
            token("4", &top),
            token("}", &[]),
        ];
        let found = found(&tokens, "{\"score\": 4}", Scale::FIVE).unwrap();
        assert!((found.mass - 0.9).abs() < 1e-12);
        assert_near(&found, &[(4, 0.7 / 0.9), (5, 0.2 / 0.9)]);
    }

    #[test]
    fn the_digit_may_share_its_token_with_what_is_around_it() {
        for parts in [
            vec!["{\"score\":", " 4", "}"],
            vec!["{\"score\":", " 4}"],
            vec!["{\"score\"", ": 4", "}"],
        ] {
            let tokens: Vec<TokenLogprob> = parts
                .iter()
                .map(|part| {
                    let top = [(*part, 0.6), (" 5}", 0.3), (" 4,", 0.1)];
                    token(part, if part.contains('4') { &top } else { &[] })
                })
                .collect();
            let found = found(&tokens, "{\"score\": 4}", Scale::FIVE).unwrap();
            assert_near(&found, &[(4, 0.7), (5, 0.3)]);
        }
        let tokens = [
            token("{\"score\": ", &[]),
            token("\"4", &[("\"4", 0.8), ("\"3", 0.2)]),
            token("\"}", &[]),
        ];
        assert_near(
            &found(&tokens, "{\"score\": \"4\"}", Scale::FIVE).unwrap(),
            &[(3, 0.2), (4, 0.8)],
        );
    }

    #[test]
    fn a_digit_elsewhere_in_the_reply_is_not_taken_for_the_score() {
        let text = "{\"reasoning\": \"4 of 5 is 4\", \"score\": 2}";
        let top = [("2", 0.75), ("3", 0.25)];
        let tokens = [
            token("{\"reasoning\": \"", &[]),
            token("4", &[("4", 1.0)]),
            token(" of 5 is 4\", \"score\": ", &[]),
            token("2", &top),
            token("}", &[]),
        ];
        assert_near(&found(&tokens, text, Scale::FIVE).unwrap(), &[(2, 0.75), (3, 0.25)]);
    }

    #[test]
    fn halves_of_characters_before_the_score_do_no_harm() {
        let text = "{\"reasoning\": \"😀\", \"score\": 2}";
        let tokens = [
            token("{\"reasoning\": \"\u{FFFD}", &[]),
            token("\u{FFFD}\", \"score\": ", &[]),
            token("2", &[("2", 1.0)]),
            token("}", &[]),
        ];
        assert_near(&found(&tokens, text, Scale::FIVE).unwrap(), &[(2, 1.0)]);
    }

    #[test]
    fn a_chosen_token_outside_of_the_most_likely_ones_counts_as_well() {
        let mut chosen = token("2", &[("3", 0.6), ("4", 0.2)]);
        chosen.logprob = 0.1_f64.ln();
        let tokens = [token("{\"score\": ", &[]), chosen, token("}", &[])];
        let found = found(&tokens, "{\"score\": 2}", Scale::FIVE).unwrap();
        assert_near(&found, &[(2, 0.1 / 0.9), (3, 0.6 / 0.9), (4, 0.2 / 0.9)]);
    }

    #[test]
    fn what_cannot_be_relied_on_is_refused_with_the_reason() {
        let low =
            [token("{\"score\": ", &[]), token("4", &[("4", 0.3), ("x", 0.6)]), token("}", &[])];
        assert!(found(&low, "{\"score\": 4}", Scale::FIVE).unwrap_err().contains("0.30"));
        let split = [
            token("{\"score\": ", &[]),
            token("8", &[("8", 1.0)]),
            token("5", &[]),
            token("}", &[]),
        ];
        let reason = found(&split, "{\"score\": 85}", Scale::HUNDRED).unwrap_err();
        assert!(reason.contains("several tokens"), "{reason}");
        let prefix = [token("{\"score\": ", &[]), token("1", &[("1", 0.9)]), token("}", &[])];
        let ten = Scale { min: 1, max: 10 };
        assert!(found(&prefix, "{\"score\": 1}", ten).unwrap_err().contains("several tokens"));
        let whole =
            [token("{\"score\": ", &[]), token("1", &[("1", 0.6), ("10", 0.3)]), token("}", &[])];
        assert_near(
            &found(&whole, "{\"score\": 1}", ten).unwrap(),
            &[(1, 0.6 / 0.9), (10, 0.3 / 0.9)],
        );
        let other = [token("something else", &[])];
        assert!(found(&other, "{\"score\": 4}", Scale::FIVE).unwrap_err().contains("do not join"));
    }
}
