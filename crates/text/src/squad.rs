//! Exact match and token F1 as in the evaluation script of SQuAD 1.1 (Rajpurkar et al., 2016).
//!
//! Answers are compared in small letters, without the punctuation of ASCII, without the articles a, an and the, and
//! with single spaces.

use std::collections::HashMap;

use crate::characters::{is_ascii_punctuation, is_letter_or_number, words};
use crate::signature::Signature;

/// Whether the answer is one of the references, after normalization. Without references it is not.
pub fn exact_match(answer: &str, references: &[&str]) -> bool {
    let answer = normalized(answer);
    references.iter().any(|reference| normalized(reference) == answer)
}

/// The highest F1 of the answer's tokens against any reference, from 0 to 1. As in the script, an answer without
/// tokens scores 0, even against a reference without tokens.
pub fn token_f1(answer: &str, references: &[&str]) -> f64 {
    let answer = normalized(answer);
    references.iter().map(|reference| f1(&answer, &normalized(reference))).fold(0.0, f64::max)
}

/// How both scores are made.
pub fn signature() -> String {
    let mut signature = Signature::named("squad");
    signature.add("case", "lc");
    signature.add_flag("punct", false);
    signature.add_flag("articles", false);
    signature.add("refs", "best");
    signature.finish()
}

fn f1(answer: &str, reference: &str) -> f64 {
    let mut left: HashMap<&str, usize> = HashMap::new();
    let mut reference_tokens = 0;
    for token in words(reference) {
        *left.entry(token).or_default() += 1;
        reference_tokens += 1;
    }
    let (mut answer_tokens, mut same) = (0, 0);
    for token in words(answer) {
        answer_tokens += 1;
        if let Some(count) = left.get_mut(token).filter(|count| **count > 0) {
            *count -= 1;
            same += 1;
        }
    }
    if same == 0 {
        return 0.0;
    }
    let precision = f64::from(same) / f64::from(answer_tokens);
    let recall = f64::from(same) / f64::from(reference_tokens);
    2.0 * precision * recall / (precision + recall)
}

/// The text as it is compared.
fn normalized(text: &str) -> String {
    let mut plain = text.to_lowercase();
    plain.retain(|character| !is_ascii_punctuation(character));
    words(&without_articles(&plain)).collect::<Vec<_>>().join(" ")
}

/// An article is a whole run of letters and numbers: in `l’a` it stands after a sign that is none.
fn without_articles(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let word_length =
            rest.find(|character| !is_letter_or_number(character)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(word_length);
        kept.push_str(if matches!(word, "a" | "an" | "the") { " " } else { word });
        let between = after.find(is_letter_or_number).unwrap_or(after.len());
        kept.push_str(&after[..between]);
        rest = &after[between..];
    }
    kept
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn articles_case_and_punctuation_do_not_matter() {
        assert!(exact_match("The  Eiffel-Tower!", &["London", "eiffeltower"]));
        assert!(exact_match("the", &[""]));
        assert!(!exact_match("", &[]));
        assert_eq!(normalized("L’a. An_a the\u{a0}Theme"), "l’ ana theme");
    }

    #[test]
    fn f1_counts_shared_tokens() {
        assert!((token_f1("the cat sat", &["dog", "cat sat down"]) - 0.8).abs() < 1e-12);
        assert_eq!(token_f1("", &[""]), 0.0);
        assert_eq!(token_f1("x", &[]), 0.0);
    }

    #[test]
    fn texts_are_normalized_as_in_python() {
        for line in crate::reference::lines("tokens") {
            let text = line["text"].as_str().unwrap();
            assert_eq!(normalized(text), line["squad"].as_str().unwrap(), "{text:?}");
        }
    }
}
