//! Texts as bags of words: what they share, whatever the order.
//!
//! Words are runs of letters, marks, numbers and joining punctuation such as `_`, in small letters. A language that
//! writes without spaces is one long word; use chrF for it.

use std::collections::{BTreeMap, BTreeSet};

use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

use crate::signature::Signature;

/// The words in both texts over the words in either, from 0 to 1. Two texts without words are equal.
pub fn jaccard(left: &str, right: &str) -> f64 {
    let (left, right) = (left.to_lowercase(), right.to_lowercase());
    let left: BTreeSet<&str> = bag_words(&left).collect();
    let right: BTreeSet<&str> = bag_words(&right).collect();
    let shared = left.intersection(&right).count();
    let either = left.len() + right.len() - shared;
    if either == 0 { 1.0 } else { shared as f64 / either as f64 }
}

/// The cosine of the angle between the counts of words, from 0 to 1. Two texts without words are equal.
pub fn cosine(left: &str, right: &str) -> f64 {
    let (left, right) = (left.to_lowercase(), right.to_lowercase());
    let (left, right) = (counts(&left), counts(&right));
    if left.is_empty() || right.is_empty() {
        return if left.is_empty() && right.is_empty() { 1.0 } else { 0.0 };
    }
    let product: f64 =
        left.iter().filter_map(|(word, count)| right.get(word).map(|other| count * other)).sum();
    let squares =
        |counts: &BTreeMap<&str, f64>| counts.values().map(|count| count * count).sum::<f64>();
    (product / (squares(&left) * squares(&right)).sqrt()).min(1.0)
}

/// How both are made.
pub fn signature() -> String {
    let mut signature = Signature::named("bag");
    signature.add("case", "lc");
    signature.add("tok", "unicode_words");
    signature.finish()
}

fn counts(text: &str) -> BTreeMap<&str, f64> {
    let mut counts = BTreeMap::new();
    for word in bag_words(text) {
        *counts.entry(word).or_default() += 1.0;
    }
    counts
}

fn bag_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character| !is_word_character(character)).filter(|word| !word.is_empty())
}

fn is_word_character(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_alphanumeric() || character == '_';
    }
    matches!(
        character.general_category_group(),
        GeneralCategoryGroup::Letter | GeneralCategoryGroup::Mark | GeneralCategoryGroup::Number
    ) || character.general_category() == GeneralCategory::ConnectorPunctuation
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_words_count() {
        assert_eq!(jaccard("The cat, the mat", "the CAT sat"), 2.0 / 4.0);
        assert!((cosine("a a b", "a b b") - 0.8).abs() < 1e-12);
        assert_eq!((jaccard("", "!"), cosine("", "?")), (1.0, 1.0));
        assert_eq!((jaccard("a", ""), cosine("", "a")), (0.0, 0.0));
        assert_eq!(jaccard("हिन्दी भाषा", "भाषा"), 0.5);
    }
}
