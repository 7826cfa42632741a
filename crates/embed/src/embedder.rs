//! The trait behind which texts become vectors, wherever that is done.

use async_trait::async_trait;

use crate::EmbedError;

/// The vector of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// Its values.
    pub vector: Vec<f32>,
    /// The text was longer than the model reads: the rest of it does not count.
    pub truncated: bool,
}

/// Turns texts into vectors.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// The vectors of texts, in their order.
    async fn embed(&self, texts: &[String]) -> Result<Vec<Embedding>, EmbedError>;

    /// The model and how its vectors are made, in one line.
    fn signature(&self) -> String;
}

/// The cosine of the angle between two vectors; 0 where one of them has no length.
#[must_use]
pub fn cosine(left: &[f32], right: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    };
    let lengths = (dot(left, left) * dot(right, right)).sqrt();
    if lengths > 0.0 { (dot(left, right) / lengths).clamp(-1.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cosines_are_bounded_and_of_nothing_zero() {
        assert!((cosine(&[1.0, 2.0], &[2.0, 4.0]) - 1.0).abs() < 1e-12);
        assert!((cosine(&[1.0, 0.0], &[0.0, 1.0])).abs() < 1e-12);
        assert!((cosine(&[1.0, 0.0], &[-3.0, 0.0]) + 1.0).abs() < 1e-12);
        assert_eq!(cosine(&[0.0, 0.0], &[1.0, 0.0]), 0.0);
    }
}
