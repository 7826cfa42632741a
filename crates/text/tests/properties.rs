//! What holds for all texts: bounds, identity, symmetry, additivity, and that the order of references does not matter.
#![allow(clippy::unwrap_used)]

use fullbench_text::corpus::{Mean, add};
use fullbench_text::significance::{
    Randomization, Resampling, bootstrap, paired_bootstrap, paired_randomization,
};
use fullbench_text::{
    Aggregate, Bleu, BleuOptions, BleuTokenizer, Chrf, ChrfOptions, CorpusMetric, Rouge, RougeKind,
    RougeOptions, Segment, Statistics, Ter, TerOptions, bag, edit, squad,
};
use proptest::prelude::*;

/// Words that recur, so that texts have something in common, and any characters.
fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        4 => prop::sample::select(vec!["the", "cat", "sat", "3.5", "running", "runs", "你好", "end.", "\n", "’s", "&amp;"]).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    prop::collection::vec(word, 0..12).prop_map(|words| words.join(" "))
}

fn corpus_metrics() -> Vec<Box<dyn CorpusMetric>> {
    let tokenized =
        |tokenizer| Bleu::new(BleuOptions { tokenizer, ..BleuOptions::for_sentences() }).unwrap();
    vec![
        Box::new(tokenized(BleuTokenizer::Mteval13a)),
        Box::new(tokenized(BleuTokenizer::Intl)),
        Box::new(tokenized(BleuTokenizer::Char)),
        Box::new(tokenized(BleuTokenizer::Zh)),
        Box::new(tokenized(BleuTokenizer::None)),
        Box::new(Chrf::new(ChrfOptions::plus_plus()).unwrap()),
        Box::new(
            Chrf::new(ChrfOptions {
                char_order: 16,
                eps_smoothing: true,
                ..ChrfOptions::default()
            })
            .unwrap(),
        ),
        Box::new(Ter::new(TerOptions::default())),
    ]
}

fn rouges() -> Vec<Rouge> {
    let kinds = [RougeKind::N(1), RougeKind::N(2), RougeKind::N(9), RougeKind::L, RougeKind::Lsum];
    kinds
        .into_iter()
        .flat_map(|kind| {
            [false, true].map(|stemmer| Rouge::new(RougeOptions { kind, stemmer }).unwrap())
        })
        .collect()
}

proptest! {
    #[test]
    fn scores_stay_within_bounds(hypothesis in text(), references in prop::collection::vec(text(), 0..4)) {
        let references: Vec<&str> = references.iter().map(String::as_str).collect();
        for metric in corpus_metrics() {
            let score = metric.sentence_score(&hypothesis, &references);
            let highest = if metric.lower_is_better() { f64::MAX } else { 100.0 + 1e-9 };
            prop_assert!((0.0..=highest).contains(&score), "{}: {score}", metric.name());
        }
        for rouge in rouges() {
            let score = rouge.score(&hypothesis, &references);
            for value in [score.precision, score.recall, score.f_measure] {
                prop_assert!((0.0..=1.0).contains(&value), "{}: {score:?}", rouge.signature());
            }
        }
        prop_assert!((0.0..=1.0).contains(&squad::token_f1(&hypothesis, &references)));
        for reference in references {
            prop_assert!((0.0..=1.0).contains(&edit::edit_similarity(&hypothesis, reference)));
            prop_assert!((0.0..=1.0).contains(&bag::jaccard(&hypothesis, reference)));
            prop_assert!((0.0..=1.0).contains(&bag::cosine(&hypothesis, reference)));
        }
    }

    #[test]
    fn a_text_is_most_like_itself(words in prop::collection::vec("[a-z]{1,8}", 4..20)) {
        let text = words.join(" ");
        for metric in corpus_metrics() {
            let score = metric.sentence_score(&text, &[&text]);
            let best = if metric.lower_is_better() { 0.0 } else { 100.0 };
            prop_assert!((score - best).abs() < 1e-9 || score < 100.0 && metric.width() > 40, "{}: {score}", metric.name());
        }
        for rouge in rouges().into_iter().filter(|rouge| rouge.options().kind != RougeKind::N(9)) {
            prop_assert_eq!(rouge.score(&text, &[&text]).f_measure, 1.0);
        }
        prop_assert!(squad::exact_match(&text, &["other", &text]));
        prop_assert_eq!(edit::levenshtein(&text, &text), 0);
        prop_assert_eq!(bag::jaccard(&text, &text), 1.0);
        prop_assert!((bag::cosine(&text, &text) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn symmetric_where_the_definition_is(left in text(), right in text()) {
        prop_assert_eq!(edit::levenshtein(&left, &right), edit::levenshtein(&right, &left));
        prop_assert_eq!(bag::jaccard(&left, &right), bag::jaccard(&right, &left));
        prop_assert!((bag::cosine(&left, &right) - bag::cosine(&right, &left)).abs() < 1e-12);
        prop_assert!((squad::token_f1(&left, &[&right]) - squad::token_f1(&right, &[&left])).abs() < 1e-12);
        for rouge in rouges().into_iter().filter(|rouge| rouge.options().kind != RougeKind::Lsum) {
            let (one, other) = (rouge.score(&left, &[&right]), rouge.score(&right, &[&left]));
            prop_assert_eq!((one.precision, one.recall), (other.recall, other.precision));
        }
    }

    #[test]
    fn the_order_of_references_does_not_matter(hypothesis in text(), references in prop::collection::vec(text(), 2..4)) {
        let forward: Vec<&str> = references.iter().map(String::as_str).collect();
        let backward: Vec<&str> = forward.iter().rev().copied().collect();
        for metric in corpus_metrics() {
            let (one, other) = (metric.sentence_score(&hypothesis, &forward), metric.sentence_score(&hypothesis, &backward));
            prop_assert!((one - other).abs() < 1e-9, "{}", metric.name());
        }
        for rouge in rouges() {
            prop_assert_eq!(rouge.score(&hypothesis, &forward).f_measure, rouge.score(&hypothesis, &backward).f_measure);
        }
        prop_assert_eq!(squad::token_f1(&hypothesis, &forward), squad::token_f1(&hypothesis, &backward));
    }

    #[test]
    fn statistics_add_up(pairs in prop::collection::vec((text(), text()), 1..8), cut in 0usize..8) {
        let references: Vec<[&str; 1]> = pairs.iter().map(|(_, reference)| [reference.as_str()]).collect();
        let segments: Vec<Segment<'_>> =
            pairs.iter().zip(&references).map(|((hypothesis, _), references)| Segment { hypothesis, references }).collect();
        let (first, second) = segments.split_at(cut.min(segments.len()));
        for metric in corpus_metrics() {
            let mut parts = Statistics::of(metric.as_ref(), first).total();
            add(&mut parts, &Statistics::of(metric.as_ref(), second).total());
            prop_assert_eq!(&parts, &Statistics::of(metric.as_ref(), &segments).total());
        }
    }

    #[test]
    fn a_system_is_no_better_than_itself(scores in prop::collection::vec(0.0f64..1.0, 1..30)) {
        let statistics = Statistics::of_scores(&scores);
        let interval = bootstrap(&Mean, &statistics, &Resampling { samples: 100, seed: 7 }).unwrap();
        prop_assert!(interval.low <= interval.mean + 1e-12 && interval.mean <= interval.high + 1e-12);
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        prop_assert!((Mean.score(&statistics.total()) - mean).abs() < 1e-12);

        let systems = [statistics.clone(), statistics];
        let tested = paired_bootstrap(&Mean, &systems, &Resampling { samples: 100, seed: 7 }).unwrap();
        prop_assert_eq!((tested[0].p_value, tested[1].p_value), (None, Some(1.0 / 101.0)));
        let tested = paired_randomization(&Mean, &systems, &Randomization { trials: 100, ..Randomization::default() }).unwrap();
        prop_assert_eq!(tested[1].p_value, Some(1.0 / 101.0));
    }
}

#[test]
fn systems_must_have_the_same_segments() {
    let systems = [Statistics::of_scores(&[1.0, 2.0]), Statistics::of_scores(&[1.0])];
    let refused = paired_bootstrap(&Mean, &systems, &Resampling::default()).unwrap_err();
    assert_eq!(refused.to_string(), "system 1 has 1 segments and the first one has 2");
    assert_eq!(bootstrap(&Mean, &Statistics::of_scores(&[]), &Resampling::default()), None);
}
