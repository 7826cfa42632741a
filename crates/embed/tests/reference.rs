//! Vectors and scores beside those of sentence-transformers and bert-score, written by `tests/embed/reference.py`.
//!
//! The tiny model is always there; the real one is where `FULLBENCH_MINILM` says, which `scripts/test` sets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

use std::path::{Path, PathBuf};

use fullbench_embed::{BertScore, BertScoreOptions, SentenceModel, cosine};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Text {
        text: String,
        vector: Vec<f32>,
        cosines: Vec<f64>,
    },
    Pairs {
        pairs: Vec<(String, Vec<String>)>,
    },
    /// Nothing where no token counts: the library says that it is no number.
    Scores {
        options: BertScoreOptions,
        scores: Vec<[Option<f64>; 3]>,
    },
}

/// Both work in 32 bits, and add in another order.
const VECTOR_TOLERANCE: f32 = 1e-5;
const COSINE_TOLERANCE: f64 = 1e-5;
const SCORE_TOLERANCE: f64 = 1e-5;

fn check(model: &Path, reference: &Path) {
    let file = std::fs::read_to_string(reference).unwrap();
    let (mut texts, mut vectors, mut cosines, mut pairs) = (vec![], vec![], vec![], vec![]);
    let mut combinations = 0;
    for line in file.lines() {
        match serde_json::from_str(line).expect("a line of the reference") {
            Line::Text { text, vector, cosines: of_text } => {
                texts.push(text);
                vectors.push(vector);
                cosines.push(of_text);
            }
            Line::Pairs { pairs: read } => pairs = read,
            Line::Scores { options, scores } => {
                check_scores(model, &options, &pairs, &scores);
                combinations += 1;
            }
        }
    }
    check_vectors(model, &texts, &vectors, &cosines);
    assert!(texts.len() >= 20 && pairs.len() >= 10 && combinations >= 5);
}

fn check_vectors(model: &Path, texts: &[String], vectors: &[Vec<f32>], cosines: &[Vec<f64>]) {
    let model = SentenceModel::load("model", model).unwrap();
    let embedded = model.embed_all(texts).unwrap();
    for (index, text) in texts.iter().enumerate() {
        let start: String = text.chars().take(40).collect();
        let vector = &embedded[index].vector;
        for (ours, theirs) in vector.iter().zip(&vectors[index]) {
            assert!((ours - theirs).abs() <= VECTOR_TOLERANCE, "{start:?}: {ours} for {theirs}");
        }
        for (other, theirs) in embedded.iter().zip(&cosines[index]) {
            let ours = cosine(vector, &other.vector);
            assert!((ours - theirs).abs() <= COSINE_TOLERANCE, "{start:?}: {ours} for {theirs}");
        }
    }
}

fn check_scores(
    model: &Path,
    options: &BertScoreOptions,
    pairs: &[(String, Vec<String>)],
    scores: &[[Option<f64>; 3]],
) {
    let model = BertScore::load("model", model, options).unwrap();
    let results = model.score(pairs).unwrap();
    assert_eq!(results.len(), scores.len());
    for ((ours, theirs), (text, _)) in results.iter().zip(scores).zip(pairs) {
        let ours = [ours.precision, ours.recall, ours.f1];
        let near = ours.iter().zip(theirs).all(|(ours, theirs)| {
            theirs.is_none_or(|theirs| (ours - theirs).abs() <= SCORE_TOLERANCE)
        });
        let start: String = text.chars().take(40).collect();
        assert!(near, "{options:?}: {start:?}: {ours:?} for {theirs:?}");
    }
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn from_environment(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os(name).map(PathBuf::from);
    if path.is_none() {
        eprintln!("SKIPPED: {name} is not set");
    }
    path
}

#[test]
fn a_tiny_roberta_says_what_the_libraries_say() {
    check(&fixture("tiny-roberta"), &fixture("tiny-roberta.jsonl"));
}

#[test]
fn a_real_model_says_what_the_libraries_say() {
    if let Some(model) = from_environment("FULLBENCH_MINILM") {
        check(&model, &fixture("minilm.jsonl"));
    }
}

#[test]
fn the_signature_tells_all_that_changes_a_score() {
    let signature = |options: &str| {
        let options = serde_json::from_str(options).unwrap();
        BertScore::load("tiny", &fixture("tiny-roberta"), &options).unwrap().signature()
    };
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(signature("{}"), format!("tiny_L3_no-idf_version=0.3.13(fullbench={version})"));
    assert_eq!(
        signature(
            r#"{"layer": 1, "idf": true, "baseline": {"precision": 0.1, "recall": 0.2, "f1": 0.3}}"#
        ),
        format!("tiny_L1_idf_version=0.3.13(fullbench={version})-custom-rescaled(0.1,0.2,0.3)")
    );
}

#[test]
fn what_does_not_fit_the_model_is_told() {
    let load = |name: &str, options| BertScore::load(name, &fixture("tiny-roberta"), &options);
    let layer = |layer| BertScoreOptions { layer: Some(layer), ..Default::default() };
    let error = load("tiny", layer(4)).unwrap_err().to_string();
    assert_eq!(error, "there is no layer 4: the last of `tiny` is 3");
    let error = load("roberta-large", BertScoreOptions::default()).unwrap_err().to_string();
    assert_eq!(error, "there is no layer 17: the last of `roberta-large` is 3");
    let pairs: [(&str, Vec<&str>); 2] = [("a", vec!["a"]), ("b", vec![])];
    let error = load("tiny", layer(3)).unwrap().score(&pairs).unwrap_err().to_string();
    assert_eq!(error, "text 1 has no reference");
}

#[test]
fn a_text_that_is_cut_is_flagged() {
    let model = BertScore::load("tiny", &fixture("tiny-roberta"), &BertScoreOptions::default());
    let long = "word ".repeat(100);
    let pairs = [("a", vec!["a"]), (long.as_str(), vec!["a"]), ("a", vec!["a", long.as_str()])];
    let truncated: Vec<bool> =
        model.unwrap().score(&pairs).unwrap().iter().map(|result| result.truncated).collect();
    assert_eq!(truncated, [false, true, true]);
}
