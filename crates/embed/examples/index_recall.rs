//! How much of the truth the similarity index finds, and how fast, on seeded vectors around centres.
//!
//! `index_recall VECTORS CENTRES QUERIES` prints one line of JSON.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::time::Instant;

use fullbench_embed::{SimilarityIndex, visit_neighbours};
use serde_json::json;

const DIMENSIONS: usize = 384;
const NEAREST: usize = 10;
/// The size of the noise around a centre, beside values of a centre of up to 0.5.
const SPREAD: f32 = 0.6;
const SEED: u64 = 384;

fn main() -> Result<(), Box<dyn Error>> {
    let sizes: Vec<usize> =
        std::env::args().skip(1).map(|argument| argument.parse()).collect::<Result<_, _>>()?;
    let [count, centres, queries] = sizes.as_slice() else {
        return Err("usage: index_recall VECTORS CENTRES QUERIES".into());
    };
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut vector = |spread: f32| -> Vec<f32> {
        (0..DIMENSIONS).map(|_| (random.f32() - 0.5) * spread).collect()
    };
    let centres: Vec<Vec<f32>> = (0..*centres).map(|_| vector(1.0)).collect();
    let mut around = |place: usize| -> Vec<f32> {
        let noise = vector(SPREAD);
        centres[place % centres.len()]
            .iter()
            .zip(noise)
            .map(|(centre, noise)| centre + noise)
            .collect()
    };
    let vectors: Vec<Vec<f32>> = (0..*count).map(&mut around).collect();
    let queries: Vec<Vec<f32>> = (0..*queries).map(&mut around).collect();

    let items = vectors.iter().enumerate();
    let start = Instant::now();
    let index = SimilarityIndex::build(
        items.map(|(place, vector)| (place.to_string(), vector.clone())).collect(),
    )?;
    let build_seconds = start.elapsed().as_secs_f64();

    let folder = std::env::temp_dir().join(format!("fullbench-index-{}", std::process::id()));
    let start = Instant::now();
    index.save(&folder)?;
    let save_seconds = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let loaded = SimilarityIndex::load(&folder)?;
    let load_seconds = start.elapsed().as_secs_f64();
    std::fs::remove_dir_all(&folder)?;

    let start = Instant::now();
    let found = queries
        .iter()
        .map(|query| loaded.nearest(query, NEAREST))
        .collect::<Result<Vec<_>, _>>()?;
    let query_seconds = start.elapsed().as_secs_f64();

    // Few enough pairs at a time that every one is looked at.
    let all: Vec<&[f32]> = vectors.iter().map(Vec::as_slice).collect();
    let mut hits = 0;
    for (queries, found) in queries.chunks(1_000).zip(found.chunks(1_000)) {
        let queries: Vec<&[f32]> = queries.iter().map(Vec::as_slice).collect();
        visit_neighbours(&queries, Some(&all), -1.0, |query, exact| {
            let is_found =
                |place: usize| found[query].iter().any(|(id, _)| *id == place.to_string());
            hits += exact.iter().take(NEAREST).filter(|near| is_found(near.place)).count();
        })?;
    }
    let report = json!({
        "recall": hits as f64 / (queries.len() * NEAREST) as f64,
        "build_seconds": build_seconds,
        "save_seconds": save_seconds,
        "load_seconds": load_seconds,
        "queries_per_second": queries.len() as f64 / query_seconds,
    });
    println!("{report}");
    Ok(())
}
