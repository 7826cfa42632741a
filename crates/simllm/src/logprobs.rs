//! Tokens of an answer with made-up, plausible log-probabilities.

use crate::answer::word;
use crate::dice::{Dice, Purpose};

/// One token with its log-probability and its alternatives, the token itself first.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ScoredToken<'text> {
    pub(crate) token: &'text str,
    pub(crate) logprob: f64,
    pub(crate) top: Vec<(&'text str, f64)>,
}

/// Splits text into tokens, whose concatenation is the text: words with the space before them, other characters alone.
pub(crate) fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let space = if first == ' ' { 1 } else { 0 };
        let letters = rest[space..].find(|character: char| !character.is_alphanumeric());
        let word = letters.unwrap_or(rest.len() - space);
        let length = if word == 0 { first.len_utf8() } else { space + word };
        let (token, behind) = rest.split_at(length);
        tokens.push(token);
        rest = behind;
    }
    tokens
}

/// Every token with a probability above one half and `top` candidates that share what is left.
pub(crate) fn scored_tokens(text: &str, top: usize, dice: Dice) -> Vec<ScoredToken<'_>> {
    tokens(text)
        .into_iter()
        .enumerate()
        .map(|(index, token)| scored(token, top, dice.with(index as u64)))
        .collect()
}

fn scored(token: &str, top: usize, dice: Dice) -> ScoredToken<'_> {
    let probability = 0.5 + 0.499 * dice.share(Purpose::Logprob);
    let mut candidates = Vec::with_capacity(top);
    let mut left = 1.0 - probability;
    for place in 0..top {
        if place == 0 {
            candidates.push((token, probability.ln()));
            continue;
        }
        left /= 2.0;
        candidates.push((word(dice.with(place as u64)), left.ln()));
    }
    ScoredToken { token, logprob: probability.ln(), top: candidates }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_join_to_the_text() {
        for text in ["17 * 23 = 391. The answer is 391.", "  é×\n\nab", ""] {
            assert_eq!(tokens(text).concat(), text);
        }
        assert_eq!(tokens("The answer is 391."), ["The", " answer", " is", " 391", "."]);
    }

    #[test]
    fn probabilities_are_ordered_and_add_up_to_less_than_one() {
        for token in scored_tokens("one two three", 5, Dice::new(1, 1)) {
            assert_eq!(token.top.len(), 5);
            assert_eq!(token.top[0], (token.token, token.logprob));
            assert!(token.top.windows(2).all(|pair| pair[0].1 > pair[1].1));
            assert!(token.top.iter().map(|(_, logprob)| logprob.exp()).sum::<f64>() <= 1.0);
        }
    }
}
