//! Texts that nobody expects, and what holds for all: no panic, cosines within bounds, the same text the same vector.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use fullbench_embed::{BertScore, BertScoreOptions, SentenceModel, cosine};
use proptest::prelude::*;

/// The model in the repository, and the real one where it is.
fn models() -> Vec<PathBuf> {
    let tiny = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tiny-roberta");
    std::iter::once(tiny).chain(std::env::var_os("FULLBENCH_MINILM").map(PathBuf::from)).collect()
}

fn hostile() -> Vec<String> {
    let mut texts: Vec<String> =
        ["", " ", "\0", "\0\0 a", "\u{feff}", "\u{202e}abc", "שלום عليكم", "[SEP]", "</s><s>"]
            .map(str::to_owned)
            .into();
    texts.push("a ".repeat(500_000));
    for part in ["a", "😀", "你", "\u{301}", "\0", "<pad>", "[PAD] ", "\u{10ffff}"] {
        texts.push(part.repeat(30_000 / part.len()));
    }
    texts
}

#[test]
fn hostile_texts_give_finite_vectors() {
    for folder in models() {
        let model = SentenceModel::load("model", &folder).unwrap();
        for (text, embedding) in hostile().iter().zip(model.embed_all(&hostile()).unwrap()) {
            assert_eq!(embedding.vector.len(), model.dimensions());
            assert!(embedding.vector.iter().all(|value| value.is_finite()));
            assert!(!embedding.truncated || text.len() > 10_000);
        }
    }
}

#[test]
fn hostile_texts_give_bounded_scores() {
    for folder in models() {
        for idf in [false, true] {
            let options = BertScoreOptions { idf, ..Default::default() };
            let model = BertScore::load("model", &folder, &options).unwrap();
            let texts = hostile();
            let pairs: Vec<(&String, Vec<&String>)> = texts
                .iter()
                .zip(texts.iter().rev())
                .map(|(text, other)| (text, vec![other, text]))
                .collect();
            for result in model.score(&pairs).unwrap() {
                for value in [result.precision, result.recall, result.f1] {
                    assert!((-1.0001..=1.0001).contains(&value), "{result:?}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn cosines_are_symmetric_bounded_and_one_for_the_same_text(left in "\\PC{0,60}", right in ".{0,60}") {
        let model = SentenceModel::load("model", &models()[0]).unwrap();
        let embedded = model.embed_all(&[&left, &right, &left]).unwrap();
        let vector = |index: usize| &embedded[index].vector;
        prop_assert!((cosine(vector(0), vector(2)) - 1.0).abs() < 1e-6);
        prop_assert_eq!(cosine(vector(0), vector(1)), cosine(vector(1), vector(0)));
        prop_assert!(cosine(vector(0), vector(1)).abs() <= 1.0);
    }

    #[test]
    fn precision_is_the_recall_of_the_swapped_pair_and_a_text_matches_itself(left in ".{0,40}", right in "[a-z ]{0,40}") {
        let model = BertScore::load("model", &models()[0], &BertScoreOptions::default()).unwrap();
        let pairs = [(&left, vec![&right]), (&right, vec![&left]), (&right, vec![&right])];
        let results = model.score(&pairs).unwrap();
        prop_assert!((results[0].precision - results[1].recall).abs() < 1e-6);
        prop_assert!((results[0].f1 - results[1].f1).abs() < 1e-6);
        let own = if right.trim().is_empty() { 0.0 } else { 1.0 };
        prop_assert!((results[2].f1 - own).abs() < 1e-5);
    }
}
