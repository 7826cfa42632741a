//! The distance by which the graph is built.

use hnsw_rs::prelude::Distance;
use pulp::{Arch, Simd, WithSimd};

use crate::lanes;

/// One minus the cosine of vectors of length 1.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CosineDistance {
    arch: Arch,
}

impl CosineDistance {
    /// The cosine of vectors of length 1, which rounding must not make larger than 1.
    pub(crate) fn cosine(&self, left: &[f32], right: &[f32]) -> f64 {
        f64::from(self.arch.dispatch(Dot { left, right }).clamp(-1.0, 1.0))
    }
}

impl Distance<f32> for CosineDistance {
    fn eval(&self, left: &[f32], right: &[f32]) -> f32 {
        // Rounding must not make it negative, which the graph does not expect.
        (1.0 - self.arch.dispatch(Dot { left, right })).max(0.0)
    }
}

struct Dot<'rows> {
    left: &'rows [f32],
    right: &'rows [f32],
}

impl WithSimd for Dot<'_> {
    type Output = f32;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> f32 {
        lanes::dot(self.left, self.right)
    }
}
