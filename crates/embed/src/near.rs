//! Which vectors of two lists are near each other: by looking at every pair where that can be done, else by the index.

use rayon::prelude::*;

use crate::index::{CosineDistance, of_length_one};
use crate::{EmbedError, SimilarityIndex};

/// Pairs that are looked at one by one; beyond, the index is asked, which may miss some.
const MOST_PAIRS: usize = 400_000_000;

/// A vector near another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbour {
    /// Its place in the list of others.
    pub place: usize,
    /// The cosine to it.
    pub cosine: f64,
}

/// For each vector those others whose cosine to it is at least `threshold`, nearest first, `most` of them. Where both
/// lists are one and the same, a vector is not its own neighbour.
///
/// # Errors
/// When vectors are not all of one length, or one has a value that is no number.
pub fn neighbours(
    vectors: &[Vec<f32>],
    others: Option<&[Vec<f32>]>,
    threshold: f64,
    most: usize,
) -> Result<Vec<Vec<Neighbour>>, EmbedError> {
    let itself = others.is_none();
    let others = others.unwrap_or(vectors);
    if vectors.len().saturating_mul(others.len()) <= MOST_PAIRS {
        by_looking_at_all(vectors, others, itself, threshold, most)
    } else {
        by_index(vectors, others, itself, threshold, most)
    }
}

fn by_looking_at_all(
    vectors: &[Vec<f32>],
    others: &[Vec<f32>],
    itself: bool,
    threshold: f64,
    most: usize,
) -> Result<Vec<Vec<Neighbour>>, EmbedError> {
    let dimensions = others.first().or(vectors.first()).map_or(0, Vec::len);
    let normalized = |list: &[Vec<f32>]| -> Result<Vec<Vec<f32>>, EmbedError> {
        let each = list.iter().enumerate().map(|(place, vector)| {
            of_length_one(vector.clone(), dimensions)
                .map_err(|reason| EmbedError::Index(format!("vector {place} {reason}")))
        });
        each.collect()
    };
    let (vectors, others) = (normalized(vectors)?, normalized(others)?);
    let distance = CosineDistance::default();
    let near = |(own, vector): (usize, &Vec<f32>)| {
        let mut found: Vec<Neighbour> = others
            .iter()
            .enumerate()
            .filter(|(place, _)| !(itself && *place == own))
            .map(|(place, other)| Neighbour { place, cosine: distance.cosine(vector, other) })
            .filter(|neighbour| neighbour.cosine >= threshold)
            .collect();
        found.sort_by(|left, right| right.cosine.total_cmp(&left.cosine));
        found.truncate(most);
        found
    };
    Ok(vectors.par_iter().enumerate().map(near).collect())
}

fn by_index(
    vectors: &[Vec<f32>],
    others: &[Vec<f32>],
    itself: bool,
    threshold: f64,
    most: usize,
) -> Result<Vec<Vec<Neighbour>>, EmbedError> {
    let items =
        others.iter().enumerate().map(|(place, vector)| (place.to_string(), vector.clone()));
    let index = SimilarityIndex::build(items.collect())?;
    let near = |(own, vector): (usize, &Vec<f32>)| {
        let found = index.nearest(vector, most + usize::from(itself))?;
        let found = found.into_iter().filter_map(|(id, cosine)| {
            let place = id.parse().ok()?;
            (cosine >= threshold && !(itself && place == own))
                .then_some(Neighbour { place, cosine })
        });
        Ok(found.take(most).collect())
    };
    vectors.par_iter().enumerate().map(near).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn vectors(count: usize, seed: u64) -> Vec<Vec<f32>> {
        let mut random = fastrand::Rng::with_seed(seed);
        let groups: Vec<Vec<f32>> =
            (0..count / 4 + 1).map(|_| (0..32).map(|_| random.f32() - 0.5).collect()).collect();
        (0..count)
            .map(|place| {
                groups[place / 4].iter().map(|value| value + random.f32() * 0.02).collect()
            })
            .collect()
    }

    #[test]
    fn the_index_finds_what_looking_at_all_finds() {
        let (left, right) = (vectors(400, 1), vectors(200, 1));
        for (others, itself) in [(&left, true), (&right, false)] {
            let all = by_looking_at_all(&left, others, itself, 0.98, 10).unwrap();
            let found = by_index(&left, others, itself, 0.98, 10).unwrap();
            let places = |near: &[Neighbour]| -> Vec<usize> {
                let mut places: Vec<usize> = near.iter().map(|other| other.place).collect();
                places.sort_unstable();
                places
            };
            let alike = all.iter().zip(&found).filter(|(a, b)| places(a) == places(b)).count();
            assert!(alike >= 396, "{alike} of 400");
            assert!(all.iter().map(Vec::len).sum::<usize>() > 400);
        }
    }

    #[test]
    fn a_vector_is_not_its_own_neighbour_but_its_copy_is() {
        let list = vec![vec![1.0, 0.0], vec![0.0, 1.0], vec![2.0, 0.0]];
        let near = neighbours(&list, None, 0.9, 5).unwrap();
        assert_eq!(near[0], [Neighbour { place: 2, cosine: 1.0 }]);
        assert!(near[1].is_empty());
        let near = neighbours(&list[..1], Some(&list), 0.9, 1).unwrap();
        assert_eq!(near[0].len(), 1);
        assert!(neighbours(&list, Some(&[vec![1.0]]), 0.9, 1).is_err());
        assert!(neighbours(&[], None, 0.9, 1).unwrap().is_empty());
    }
}
