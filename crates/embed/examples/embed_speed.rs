//! The speed of sentence embeddings: reads a text a line, as JSON, and embeds them all so many times.
//!
//! `embed_speed MODEL_FOLDER TIMES < TEXTS` prints a line `{"seconds": …}` each time, and at last the vectors.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::io::Read;
use std::time::Instant;

use fullbench_embed::SentenceModel;
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, folder, times] = arguments.as_slice() else {
        return Err("usage: embed_speed MODEL_FOLDER TIMES < TEXTS".into());
    };
    let model = SentenceModel::load("model", folder.as_ref())?;
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input)?;
    let texts: Vec<String> = input.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    model.embed_all(&texts[..texts.len().min(64)])?;
    let mut embeddings = Vec::new();
    for _ in 0..times.parse::<usize>()? {
        let start = Instant::now();
        embeddings = model.embed_all(&texts)?;
        println!("{}", json!({"seconds": start.elapsed().as_secs_f64()}));
    }
    let vectors: Vec<Vec<f32>> = embeddings.into_iter().map(|embedding| embedding.vector).collect();
    println!("{}", json!({"vectors": vectors}));
    Ok(())
}
