//! Which vectors of two lists are near each other: by looking at every pair where that can be done, else by the index.

use rayon::prelude::*;

use crate::index::{CosineDistance, of_length_one};
use crate::{EmbedError, SimilarityIndex};

/// Pairs that are looked at one by one; beyond, the index is asked, which may miss some.
const MOST_PAIRS: usize = 400_000_000;
/// Neighbours that the index is asked for.
const MOST_OF_INDEX: usize = 64;
/// Vectors whose neighbours are kept at the same time.
const VECTORS_AT_ONCE: usize = 256;
/// A cosine may be this much smaller by rounding.
const ROUNDING: f64 = 1e-6;

/// A vector near another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbour {
    /// Its place in the list of others.
    pub place: usize,
    /// The cosine to it.
    pub cosine: f64,
}

/// Tells for each vector, in order, which others have a cosine to it of at least `threshold`, nearest first. Where both
/// lists are one and the same, a vector is not its own neighbour. Up to 400 million pairs all of them are looked at;
/// beyond, up to 64 neighbours of each come from the similarity index.
///
/// # Errors
/// When vectors are not all of one length, or one has a value that is no number.
pub fn visit_neighbours(
    vectors: &[&[f32]],
    others: Option<&[&[f32]]>,
    threshold: f64,
    mut visit: impl FnMut(usize, &[Neighbour]),
) -> Result<(), EmbedError> {
    let search = Search::new(vectors, others.unwrap_or(vectors), others.is_none(), threshold)?;
    for start in (0..vectors.len()).step_by(VECTORS_AT_ONCE) {
        let end = vectors.len().min(start + VECTORS_AT_ONCE);
        let found: Vec<Vec<Neighbour>> = (start..end)
            .into_par_iter()
            .map(|place| search.near(place, vectors[place]))
            .collect::<Result<_, _>>()?;
        for (place, near) in (start..end).zip(&found) {
            visit(place, near);
        }
    }
    Ok(())
}

/// The others, ready to be searched.
struct Search {
    others: Others,
    dimensions: usize,
    itself: bool,
    threshold: f64,
}

enum Others {
    All(Vec<Vec<f32>>),
    Index(SimilarityIndex),
}

impl Search {
    fn new(
        vectors: &[&[f32]],
        others: &[&[f32]],
        itself: bool,
        threshold: f64,
    ) -> Result<Self, EmbedError> {
        let dimensions = others.first().or(vectors.first()).map_or(0, |vector| vector.len());
        let others = if vectors.len().saturating_mul(others.len()) <= MOST_PAIRS {
            let each = others.iter().map(|vector| normalized(vector, dimensions));
            Others::All(each.collect::<Result<_, _>>()?)
        } else {
            let items = others.iter().enumerate();
            let items = items.map(|(place, vector)| (place.to_string(), vector.to_vec()));
            Others::Index(SimilarityIndex::build(items.collect())?)
        };
        Ok(Self { others, dimensions, itself, threshold: threshold - ROUNDING })
    }

    fn near(&self, own: usize, vector: &[f32]) -> Result<Vec<Neighbour>, EmbedError> {
        let is_near = |neighbour: &Neighbour| {
            neighbour.cosine >= self.threshold && !(self.itself && neighbour.place == own)
        };
        let mut found: Vec<Neighbour> = match &self.others {
            Others::All(others) => {
                let vector = normalized(vector, self.dimensions)?;
                let distance = CosineDistance::default();
                let each = others.iter().enumerate().map(|(place, other)| Neighbour {
                    place,
                    cosine: distance.cosine(&vector, other),
                });
                each.filter(is_near).collect()
            }
            Others::Index(index) => {
                let found = index.nearest(vector, MOST_OF_INDEX)?.into_iter();
                let found = found
                    .filter_map(|(id, cosine)| Some(Neighbour { place: id.parse().ok()?, cosine }));
                found.filter(is_near).collect()
            }
        };
        found.sort_by(|left, right| right.cosine.total_cmp(&left.cosine));
        Ok(found)
    }
}

fn normalized(vector: &[f32], dimensions: usize) -> Result<Vec<f32>, EmbedError> {
    of_length_one(vector.to_vec(), dimensions)
        .map_err(|reason| EmbedError::Index(format!("a vector {reason}")))
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

    fn slices(vectors: &[Vec<f32>]) -> Vec<&[f32]> {
        vectors.iter().map(Vec::as_slice).collect()
    }

    fn neighbours(vectors: &[Vec<f32>], others: Option<&[Vec<f32>]>) -> Vec<Vec<Neighbour>> {
        let others = others.map(slices);
        let mut all = Vec::new();
        let visit = |place: usize, near: &[Neighbour]| {
            assert_eq!(place, all.len());
            all.push(near.to_vec());
        };
        visit_neighbours(&slices(vectors), others.as_deref(), 0.98, visit).unwrap();
        all
    }

    #[test]
    fn the_index_finds_what_looking_at_all_finds() {
        let list = vectors(400, 1);
        let items = list.iter().enumerate();
        let items = items.map(|(place, vector)| (place.to_string(), vector.clone())).collect();
        let index = Others::Index(SimilarityIndex::build(items).unwrap());
        let search = Search { others: index, dimensions: 32, itself: true, threshold: 0.98 };
        let all = neighbours(&list, None);
        let places = |near: &[Neighbour]| -> Vec<usize> {
            let mut places: Vec<usize> = near.iter().map(|other| other.place).collect();
            places.sort_unstable();
            places
        };
        let alike = |(place, near): &(usize, &Vec<Neighbour>)| {
            places(near) == places(&search.near(*place, &list[*place]).unwrap())
        };
        let count = all.iter().enumerate().filter(alike).count();
        assert!(count >= 396, "{count} of 400");
        assert!(all.iter().map(Vec::len).sum::<usize>() > 400);
    }

    #[test]
    fn a_vector_is_not_its_own_neighbour_but_its_copy_is() {
        let list = vec![vec![1.0, 0.0], vec![0.0, 1.0], vec![2.0, 0.0]];
        let near = neighbours(&list, None);
        assert_eq!(near[0], [Neighbour { place: 2, cosine: 1.0 }]);
        assert!(near[1].is_empty());
        assert_eq!(neighbours(&list[..1], Some(&list))[0].len(), 2);
        let short: [&[f32]; 1] = [&[1.0]];
        assert!(visit_neighbours(&slices(&list), Some(&short), 0.9, |_, _| {}).is_err());
        assert!(neighbours(&[], None).is_empty());
    }
}
