//! Times metrics on pairs of texts, on one thread: `text_throughput PAIRS.jsonl SCORES.jsonl`.
//!
//! Each line of the first file has a `hypothesis` and a `reference`. The second file gets a line of scores for
//! each. Pairs per second go to standard output as JSON.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::time::Instant;

use fullbench_text::{
    Bleu, BleuOptions, Chrf, ChrfOptions, CorpusMetric, Rouge, RougeKind, RougeOptions, Ter,
    TerOptions,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Deserialize)]
struct Pair {
    hypothesis: String,
    reference: String,
}

/// A metric's name, how often it is timed, and the metric.
type Timed = (&'static str, usize, Box<dyn Fn(&Pair) -> f64>);

fn metrics() -> Result<Vec<Timed>, Box<dyn Error>> {
    let bleu = Bleu::new(BleuOptions::for_sentences())?;
    let chrf = Chrf::new(ChrfOptions::default())?;
    let chrf_plus_plus = Chrf::new(ChrfOptions::plus_plus())?;
    let ter = Ter::new(TerOptions::default());
    let rouge = Rouge::new(RougeOptions { kind: RougeKind::L, stemmer: true })?;
    Ok(vec![
        (
            "bleu",
            5,
            Box::new(move |pair| bleu.sentence_score(&pair.hypothesis, &[&pair.reference])),
        ),
        (
            "chrf",
            5,
            Box::new(move |pair| chrf.sentence_score(&pair.hypothesis, &[&pair.reference])),
        ),
        (
            "chrf++",
            5,
            Box::new(move |pair| {
                chrf_plus_plus.sentence_score(&pair.hypothesis, &[&pair.reference])
            }),
        ),
        (
            "rouge_l",
            5,
            Box::new(move |pair| rouge.score(&pair.hypothesis, &[&pair.reference]).f_measure),
        ),
        ("ter", 1, Box::new(move |pair| ter.sentence_score(&pair.hypothesis, &[&pair.reference]))),
    ])
}

/// The mean time of a pass over all pairs.
fn seconds(pairs: &[Pair], passes: usize, score: &dyn Fn(&Pair) -> f64) -> f64 {
    let started = Instant::now();
    for _ in 0..passes {
        for pair in pairs {
            black_box(score(black_box(pair)));
        }
    }
    started.elapsed().as_secs_f64() / passes as f64
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [input, output] = arguments.as_slice() else {
        return Err("usage: text_throughput PAIRS.jsonl SCORES.jsonl".into());
    };
    let text = fs::read_to_string(input)?;
    let pairs: Vec<Pair> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;

    let mut scores: Vec<Map<String, Value>> = vec![Map::new(); pairs.len()];
    let mut rates = Map::new();
    for (name, passes, score) in metrics()? {
        let rate = pairs.len() as f64 / seconds(&pairs, passes, &score);
        rates.insert(name.to_owned(), json!(rate));
        for (pair, scores) in pairs.iter().zip(&mut scores) {
            scores.insert(name.to_owned(), json!(score(pair)));
        }
    }
    let lines: Vec<String> = scores.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
    fs::write(output, lines.join("\n") + "\n")?;
    println!("{}", Value::Object(rates));
    Ok(())
}
