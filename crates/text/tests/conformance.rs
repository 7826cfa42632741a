//! The values every implementation of these metrics is checked against, in `tests/reference/conformance.json`.
#![allow(clippy::unwrap_used)]

use fullbench_text::{
    Bleu, BleuOptions, BleuTokenizer, Chrf, ChrfOptions, CorpusMetric, Rouge, RougeKind,
    RougeOptions, Smoothing, Ter, TerOptions,
};
use serde_json::Value;

fn pairs() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference/conformance.json");
    let reference: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    reference["text"]["pairs"].as_array().unwrap().clone()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn metrics() -> Vec<(&'static str, Box<dyn CorpusMetric>)> {
    let bleu =
        |options: BleuOptions| Box::new(Bleu::new(options).unwrap()) as Box<dyn CorpusMetric>;
    let smoothed = |smoothing| BleuOptions { smoothing, ..BleuOptions::for_sentences() };
    let tokenized = |tokenizer| BleuOptions { tokenizer, ..BleuOptions::for_sentences() };
    vec![
        ("bleu_default_exp_effective", bleu(BleuOptions::for_sentences())),
        ("bleu_exp_noeff", bleu(BleuOptions::default())),
        ("bleu_floor0.1_eff", bleu(smoothed(Smoothing::Floor))),
        ("bleu_addk1_eff", bleu(smoothed(Smoothing::AddK))),
        ("bleu_none", bleu(smoothed(Smoothing::None))),
        ("bleu_lc", bleu(BleuOptions { lowercase: true, ..BleuOptions::for_sentences() })),
        ("bleu_tok_none", bleu(tokenized(BleuTokenizer::None))),
        ("bleu_tok_char", bleu(tokenized(BleuTokenizer::Char))),
        ("bleu_tok_intl", bleu(tokenized(BleuTokenizer::Intl))),
        ("bleu_tok_zh", bleu(tokenized(BleuTokenizer::Zh))),
        ("chrf2", Box::new(Chrf::new(ChrfOptions::default()).unwrap())),
        ("chrf++", Box::new(Chrf::new(ChrfOptions::plus_plus()).unwrap())),
        ("ter", Box::new(Ter::new(TerOptions::default()))),
    ]
}

#[test]
fn corpus_metrics_equal_sacrebleu() {
    for pair in pairs() {
        let (hypothesis, reference) =
            (pair["hyp"].as_str().unwrap(), pair["ref"].as_str().unwrap());
        for (name, metric) in metrics() {
            let (ours, theirs) =
                (metric.sentence_score(hypothesis, &[reference]), pair[name].as_f64().unwrap());
            assert!((ours - theirs).abs() < 1e-9, "{name}: {ours} and {theirs}: {hypothesis}");
        }
    }
}

#[test]
fn parts_of_bleu_equal_sacrebleu() {
    let bleu = Bleu::new(BleuOptions::for_sentences()).unwrap();
    for pair in pairs() {
        let (hypothesis, reference) =
            (pair["hyp"].as_str().unwrap(), pair["ref"].as_str().unwrap());
        let ours = bleu.details(&bleu.statistics(hypothesis, &[reference]));
        let theirs = &pair["bleu_detail"];
        assert_eq!(ours.counts.to_vec(), numbers(&theirs["counts"]), "{hypothesis}");
        assert_eq!(ours.totals.to_vec(), numbers(&theirs["totals"]), "{hypothesis}");
        assert_eq!(ours.precisions.to_vec(), numbers(&theirs["precisions"]), "{hypothesis}");
        assert!(
            (ours.brevity_penalty - theirs["bp"].as_f64().unwrap()).abs() < 1e-12,
            "{hypothesis}"
        );
        assert_eq!(Some(ours.hypothesis_length), theirs["sys_len"].as_f64(), "{hypothesis}");
        assert_eq!(Some(ours.reference_length), theirs["ref_len"].as_f64(), "{hypothesis}");
    }
}

#[test]
fn rouge_equals_rouge_score() {
    let kinds = [
        ("rouge1", RougeKind::N(1)),
        ("rouge2", RougeKind::N(2)),
        ("rougeL", RougeKind::L),
        ("rougeLsum", RougeKind::Lsum),
    ];
    for pair in pairs() {
        let (hypothesis, reference) =
            (pair["hyp"].as_str().unwrap(), pair["ref"].as_str().unwrap());
        for (table, stemmer) in [("rouge_nostem", false), ("rouge_stem", true)] {
            for (name, kind) in kinds {
                let ours = Rouge::new(RougeOptions { kind, stemmer })
                    .unwrap()
                    .score(hypothesis, &[reference]);
                let theirs = numbers(&pair[table][name]);
                for (ours, theirs) in
                    [ours.precision, ours.recall, ours.f_measure].iter().zip(theirs)
                {
                    assert!((ours - theirs).abs() < 1e-9, "{table} {name}: {hypothesis}");
                }
            }
        }
    }
}
