//! Texts per second: reads lines of JSON strings, prints the rate and the vectors as JSON.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::unwrap_used, missing_docs)]
use std::time::Instant;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let model = fullbench_embed::SentenceModel::load("model", arguments[1].as_ref()).unwrap();
    let file = std::fs::read_to_string(&arguments[2]).unwrap();
    let texts: Vec<String> = file.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let _ = model.embed_all(&texts[..64.min(texts.len())]).unwrap();
    let start = Instant::now();
    let embeddings = model.embed_all(&texts).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    eprintln!("{:.1} texts/s", texts.len() as f64 / seconds);
    let vectors: Vec<&Vec<f32>> = embeddings.iter().map(|embedding| &embedding.vector).collect();
    println!("{}", serde_json::to_string(&vectors).unwrap());
}
