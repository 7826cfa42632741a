//! Nearest neighbours of a vector among many, in a graph of small worlds (Malkov and Yashunin 2020).
//!
//! The graph is `hnsw_rs`'s. It is built in one thread: the same vectors in the same order give the same neighbours.

mod distance;
mod folder;

use std::path::Path;

use hnsw_rs::prelude::Hnsw;

pub(crate) use self::distance::CosineDistance;
use crate::EmbedError;

/// Neighbours each vector is linked with.
const LINKS: usize = 16;
/// Layers of the graph, more than are ever filled.
const LAYERS: usize = 16;
/// Candidates looked at for the links of a new vector.
const BUILD_EFFORT: usize = 100;
/// Candidates looked at for the neighbours of a vector, at least.
const SEARCH_EFFORT: usize = 128;

/// Vectors with ids, ready to be searched.
pub struct SimilarityIndex {
    ids: Vec<String>,
    dimensions: usize,
    graph: Hnsw<'static, f32, CosineDistance>,
}

impl SimilarityIndex {
    /// Takes in vectors, which need not be of length 1.
    ///
    /// # Errors
    /// When vectors are not all of one length, or one has a value that is no number.
    pub fn build(items: Vec<(String, Vec<f32>)>) -> Result<Self, EmbedError> {
        let dimensions = items.first().map_or(0, |(_, vector)| vector.len());
        let graph = Hnsw::new(LINKS, items.len(), LAYERS, BUILD_EFFORT, CosineDistance::default());
        let mut ids = Vec::with_capacity(items.len());
        for (place, (id, vector)) in items.into_iter().enumerate() {
            let vector = of_length_one(vector, dimensions)
                .map_err(|reason| EmbedError::Index(format!("the vector of `{id}` {reason}")))?;
            graph.insert((&vector, place));
            ids.push(id);
        }
        Ok(Self { ids, dimensions, graph })
    }

    /// Takes in one more vector.
    ///
    /// # Errors
    /// When the vector is of another length than the others, or has a value that is no number.
    pub fn insert(&mut self, id: String, vector: Vec<f32>) -> Result<(), EmbedError> {
        if self.ids.is_empty() {
            self.dimensions = vector.len();
        }
        let vector = of_length_one(vector, self.dimensions)
            .map_err(|reason| EmbedError::Index(format!("the vector of `{id}` {reason}")))?;
        self.graph.insert((&vector, self.ids.len()));
        self.ids.push(id);
        Ok(())
    }

    /// The ids of up to `count` vectors nearest to this one with the cosine to each, nearest first. Now and then a
    /// near one is missed: about one in a hundred.
    ///
    /// # Errors
    /// When the vector is of another length, or has a value that is no number.
    pub fn nearest(&self, vector: &[f32], count: usize) -> Result<Vec<(&str, f64)>, EmbedError> {
        if self.ids.is_empty() || count == 0 {
            return Ok(Vec::new());
        }
        let vector = of_length_one(vector.to_vec(), self.dimensions)
            .map_err(|reason| EmbedError::Index(format!("the vector {reason}")))?;
        let count = count.min(self.ids.len());
        let found = self.graph.search(&vector, count, SEARCH_EFFORT.max(2 * count));
        let neighbours = found.iter().filter_map(|neighbour| {
            let id = self.ids.get(neighbour.d_id)?;
            Some((id.as_str(), 1.0 - f64::from(neighbour.distance)))
        });
        Ok(neighbours.collect())
    }

    /// Vectors in the index.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Writes the index as a folder, in place of an index that is there.
    ///
    /// # Errors
    /// When files cannot be written, or the path is something else than an index.
    pub fn save(&self, path: &Path) -> Result<(), EmbedError> {
        folder::save(self, path)
    }

    /// Reads an index that was saved.
    ///
    /// # Errors
    /// When the folder is no index, or its files are not as they were written.
    pub fn load(path: &Path) -> Result<Self, EmbedError> {
        folder::load(path)
    }
}

impl std::fmt::Debug for SimilarityIndex {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "SimilarityIndex({} × {})", self.ids.len(), self.dimensions)
    }
}

/// The same direction as a vector of length 1; one without length stays as it is.
pub(crate) fn of_length_one(mut vector: Vec<f32>, dimensions: usize) -> Result<Vec<f32>, String> {
    if vector.len() != dimensions {
        return Err(format!("has {} values, not {dimensions}", vector.len()));
    }
    let length = vector.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
    if !length.is_finite() {
        return Err("has a value that is no number".to_owned());
    }
    if length > 0.0 {
        vector.iter_mut().for_each(|value| *value = (f64::from(*value) / length) as f32);
    }
    Ok(vector)
}
