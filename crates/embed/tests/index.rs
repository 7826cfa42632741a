//! The similarity index: what it finds, what it keeps on disk, and what it refuses.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use fullbench_embed::{SimilarityIndex, cosine};

/// Vectors around centres, as texts of some topics have them.
fn clustered(
    count: usize,
    centres: usize,
    dimensions: usize,
    seed: u64,
) -> Vec<(String, Vec<f32>)> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut vector = |spread: f32| -> Vec<f32> {
        (0..dimensions).map(|_| (random.f32() - 0.5) * spread).collect()
    };
    let centres: Vec<Vec<f32>> = (0..centres).map(|_| vector(1.0)).collect();
    let around = |(place, noise): (usize, Vec<f32>)| {
        let centre = &centres[place % centres.len()];
        (
            place.to_string(),
            centre.iter().zip(&noise).map(|(centre, noise)| centre + noise).collect(),
        )
    };
    (0..count).map(|place| (place, vector(0.6))).map(around).collect()
}

fn nearest_by_looking_at_all(
    items: &[(String, Vec<f32>)],
    vector: &[f32],
    count: usize,
) -> Vec<String> {
    let mut cosines: Vec<(f64, &String)> =
        items.iter().map(|(id, other)| (cosine(vector, other), id)).collect();
    cosines.sort_by(|left, right| right.0.total_cmp(&left.0));
    cosines.into_iter().take(count).map(|(_, id)| id.clone()).collect()
}

#[test]
fn nearly_all_true_neighbours_are_found() {
    let items = clustered(5_000, 50, 64, 1);
    let index = SimilarityIndex::build(items.clone()).unwrap();
    let queries = clustered(100, 50, 64, 1);
    let mut found = 0;
    for (_, vector) in &queries {
        let near = index.nearest(vector, 10).unwrap();
        let exact = nearest_by_looking_at_all(&items, vector, 10);
        found += near.iter().filter(|(id, _)| exact.iter().any(|other| other == id)).count();
        assert!(near.is_sorted_by(|left, right| left.1 >= right.1));
    }
    assert!(found >= 980, "{found} of 1000");
}

#[test]
fn cosines_are_those_of_the_vectors() {
    let items = clustered(200, 5, 33, 2);
    let index = SimilarityIndex::build(items.clone()).unwrap();
    for (id, near) in index.nearest(&items[7].1, 5).unwrap() {
        let place: usize = id.parse().unwrap();
        assert!((near - cosine(&items[7].1, &items[place].1)).abs() < 1e-6);
    }
    assert_eq!(index.nearest(&items[7].1, 1).unwrap()[0].0, "7");
    assert_eq!(index.nearest(&items[7].1, 0).unwrap(), []);
    assert!(index.nearest(&items[7].1, 1_000).unwrap().len() <= 200);
}

#[test]
fn the_same_vectors_give_the_same_neighbours_and_so_does_the_saved_index() {
    let items = clustered(1_000, 20, 48, 3);
    let index = SimilarityIndex::build(items.clone()).unwrap();
    let again = SimilarityIndex::build(items.clone()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    index.save(&path).unwrap();
    // A second time in its place.
    index.save(&path).unwrap();
    let loaded = SimilarityIndex::load(&path).unwrap();
    assert_eq!(loaded.len(), 1_000);
    for (_, vector) in &items {
        let near = index.nearest(vector, 10).unwrap();
        assert_eq!(near, again.nearest(vector, 10).unwrap());
        assert_eq!(near, loaded.nearest(vector, 10).unwrap());
    }
}

#[test]
fn an_empty_index_is_an_index() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    SimilarityIndex::build(Vec::new()).unwrap().save(&path).unwrap();
    let loaded = SimilarityIndex::load(&path).unwrap();
    assert!(loaded.is_empty());
    assert_eq!(loaded.nearest(&[1.0], 3).unwrap(), []);
}

#[test]
fn vectors_that_do_not_fit_are_told() {
    let item = |id: &str, vector: &[f32]| (id.to_owned(), vector.to_vec());
    let build =
        |second: &[f32]| SimilarityIndex::build(vec![item("a", &[1.0, 0.0]), item("b", second)]);
    let message = build(&[1.0]).unwrap_err().to_string();
    assert_eq!(message, "the vector of `b` has 1 values, not 2");
    let message = build(&[f32::NAN, 1.0]).unwrap_err().to_string();
    assert_eq!(message, "the vector of `b` has a value that is no number");
    let index = build(&[0.0, 0.0]).unwrap();
    let message = index.nearest(&[1.0, 2.0, 3.0], 1).unwrap_err().to_string();
    assert_eq!(message, "the vector has 3 values, not 2");
    assert_eq!(index.nearest(&[1.0, 0.0], 2).unwrap(), [("a", 1.0), ("b", 0.0)]);
}

#[test]
fn damaged_and_foreign_folders_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index");
    let index = SimilarityIndex::build(clustered(300, 5, 16, 4)).unwrap();
    let refused = |path: &Path| SimilarityIndex::load(path).unwrap_err().to_string();
    assert!(refused(&path).contains("cannot be read"));
    index.save(&path).unwrap();
    for file in std::fs::read_dir(&path).unwrap() {
        let file = file.unwrap().path();
        let whole = std::fs::read(&file).unwrap();
        for place in [0, whole.len() / 2, whole.len() - 1] {
            let mut damaged = whole.clone();
            damaged[place] ^= 0x55;
            std::fs::write(&file, &damaged).unwrap();
            // A changed letter of an id cannot be told; everything else is.
            let loaded = SimilarityIndex::load(&path);
            assert!(loaded.is_err() || file.ends_with("similarity-index.json"), "{file:?}");
            std::fs::write(&file, &whole[..place]).unwrap();
            assert!(SimilarityIndex::load(&path).is_err(), "{file:?} cut at {place}");
        }
        std::fs::write(&file, &whole).unwrap();
    }
    assert!(SimilarityIndex::load(&path).is_ok());
    let foreign = folder.path().join("foreign");
    std::fs::create_dir(&foreign).unwrap();
    std::fs::write(foreign.join("file"), "precious").unwrap();
    assert!(index.save(&foreign).unwrap_err().to_string().contains("is no index"));
    assert!(foreign.join("file").exists());
    assert!(refused(&foreign).contains("similarity-index.json"));
}
