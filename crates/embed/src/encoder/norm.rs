//! Layer normalization (Ba, Kiros and Hinton 2016).

use pulp::{Arch, Simd, WithSimd};

use crate::lanes;

/// Scales each row to mean 0 and variance 1, then by learned factors.
#[derive(Debug)]
pub(crate) struct LayerNorm {
    pub(crate) weight: Vec<f32>,
    pub(crate) bias: Vec<f32>,
    pub(crate) epsilon: f32,
}

impl LayerNorm {
    /// `values = norm(values + added)`, row by row.
    pub(crate) fn add_and_normalize(&self, arch: Arch, values: &mut [f32], added: &[f32]) {
        arch.dispatch(AddAndNormalize { norm: self, values, added });
    }

    /// `values = norm(values)`, row by row.
    pub(crate) fn normalize(&self, arch: Arch, values: &mut [f32]) {
        arch.dispatch(Normalize { norm: self, values });
    }

    #[inline(always)]
    fn normalize_row(&self, row: &mut [f32]) {
        let size = row.len() as f32;
        let mean = lanes::sum(row, |value| value) / size;
        let variance = lanes::sum(row, |value| (value - mean) * (value - mean)) / size;
        let scale = 1.0 / (variance + self.epsilon).sqrt();
        for ((value, weight), bias) in row.iter_mut().zip(&self.weight).zip(&self.bias) {
            *value = (*value - mean) * scale * weight + bias;
        }
    }
}

struct AddAndNormalize<'rows> {
    norm: &'rows LayerNorm,
    values: &'rows mut [f32],
    added: &'rows [f32],
}

impl WithSimd for AddAndNormalize<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let size = self.norm.weight.len();
        for (row, added) in self.values.chunks_exact_mut(size).zip(self.added.chunks_exact(size)) {
            for (value, added) in row.iter_mut().zip(added) {
                *value += added;
            }
            self.norm.normalize_row(row);
        }
    }
}

struct Normalize<'rows> {
    norm: &'rows LayerNorm,
    values: &'rows mut [f32],
}

impl WithSimd for Normalize<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        for row in self.values.chunks_exact_mut(self.norm.weight.len()) {
            self.norm.normalize_row(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_gets_mean_zero_and_variance_one() {
        let norm = LayerNorm { weight: vec![1.0; 20], bias: vec![0.0; 20], epsilon: 0.0 };
        let mut row: Vec<f32> = (0..20_i8).map(|index| f32::from(index) * 3.0 - 7.0).collect();
        norm.normalize(Arch::new(), &mut row);
        let mean = row.iter().sum::<f32>() / 20.0;
        let variance = row.iter().map(|value| value * value).sum::<f32>() / 20.0;
        assert!(mean.abs() < 1e-6 && (variance - 1.0).abs() < 1e-5, "{mean} {variance}");
    }
}
