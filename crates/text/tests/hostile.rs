//! Texts nobody wants to score: empty ones, and a megabyte of anything. What takes linear time must end here; were
//! it quadratic, this file would run for hours.
#![allow(clippy::unwrap_used)]

use fullbench_text::{
    Bleu, BleuOptions, BleuTokenizer, Chrf, ChrfOptions, CorpusMetric, Rouge, RougeKind,
    RougeOptions, Ter, TerOptions, bag, edit, squad,
};

const MEGABYTE: usize = 1 << 20;

/// A text of about this size.
fn repeated(part: &str, bytes: usize) -> String {
    part.repeat(bytes / part.len())
}

/// Many different words.
fn words(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes);
    let mut number = 1u32;
    while text.len() < bytes {
        number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        text.push_str(&format!("{:x} ", number >> 16));
    }
    text
}

fn hostile(bytes: usize) -> Vec<(&'static str, String)> {
    vec![
        ("nothing", String::new()),
        ("one token", repeated("x", bytes)),
        ("one letter that may be a vowel", repeated("y", bytes)),
        ("many tokens", words(bytes)),
        ("one token many times", repeated("a ", bytes)),
        ("separators", repeated(".", bytes)),
        ("digits and separators", repeated("1.,", bytes)),
        ("only emoji", repeated("👨‍👩‍👧", bytes)),
        ("right to left", repeated("שלום עולם ", bytes)),
        ("combining marks", repeated("a\u{301}\u{323}\u{35b}", bytes)),
        ("nul", repeated("\0", bytes)),
        ("lines", repeated("a b\n", bytes)),
        ("entities", repeated("&amp;", bytes)),
        ("possessives", repeated("'s", bytes)),
        ("white space", repeated("\u{2003}\u{1f}", bytes)),
        ("capitals at the end of words", repeated("ΑΣ", bytes)),
    ]
}

fn linear_corpus_metrics() -> Vec<Box<dyn CorpusMetric>> {
    let tokenizers = [
        BleuTokenizer::Mteval13a,
        BleuTokenizer::Intl,
        BleuTokenizer::Char,
        BleuTokenizer::Zh,
        BleuTokenizer::None,
    ];
    let bleu =
        |tokenizer| BleuOptions { tokenizer, lowercase: true, ..BleuOptions::for_sentences() };
    let mut metrics: Vec<Box<dyn CorpusMetric>> = Vec::new();
    for tokenizer in tokenizers {
        metrics.push(Box::new(Bleu::new(bleu(tokenizer)).unwrap()));
    }
    metrics.push(Box::new(Chrf::new(ChrfOptions::plus_plus()).unwrap()));
    metrics
}

#[test]
fn a_megabyte_is_scored_in_linear_time() {
    let texts = hostile(MEGABYTE);
    let rouge = |kind| Rouge::new(RougeOptions { kind, stemmer: true }).unwrap();
    for (index, (name, text)) in texts.iter().enumerate() {
        let (_, other) = &texts[(index + 3) % texts.len()];
        for metric in linear_corpus_metrics() {
            let score = metric.sentence_score(text, &[text.as_str()]);
            assert!(score <= 100.0 + 1e-9, "{name}: {score}");
        }
        for kind in [RougeKind::N(1), RougeKind::N(2)] {
            assert!(rouge(kind).score(text, &[other, text]).f_measure <= 1.0, "{name}");
        }
        assert!(squad::exact_match(text, &[text]), "{name}");
        assert!(squad::token_f1(text, &[other]) <= 1.0, "{name}");
        assert!(bag::jaccard(text, other) <= 1.0 && bag::cosine(text, other) <= 1.0, "{name}");
        assert_eq!(edit::levenshtein(text, text), 0, "{name}");
    }
}

/// The longest common subsequence and the edits of words take quadratic time; of 64 cells at once, or within limits.
#[test]
fn quadratic_metrics_take_long_texts() {
    let texts = hostile(20_000);
    let ter = Ter::new(TerOptions { normalized: true, ..TerOptions::default() });
    for (index, (name, text)) in texts.iter().enumerate() {
        let (_, other) = &texts[(index + 3) % texts.len()];
        for kind in [RougeKind::L, RougeKind::Lsum] {
            let rouge = Rouge::new(RougeOptions { kind, stemmer: true }).unwrap();
            assert!(rouge.score(text, &[other, text]).f_measure <= 1.0, "{name}");
        }
        assert!(edit::edit_similarity(text, other) <= 1.0, "{name}");
        assert!(ter.sentence_score(text, &[text.as_str()]) >= 0.0, "{name}");
        assert!(
            ter.sentence_score(&text.chars().take(500).collect::<String>(), &[other.as_str()])
                >= 0.0,
            "{name}"
        );
    }
}
