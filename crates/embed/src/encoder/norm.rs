//! Layer normalization (Ba, Kiros and Hinton 2016).

use pulp::Arch;

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
        arch.dispatch(|| {
            let size = self.weight.len();
            for (row, added) in values.chunks_exact_mut(size).zip(added.chunks_exact(size)) {
                for (value, added) in row.iter_mut().zip(added) {
                    *value += added;
                }
                self.normalize_row(row);
            }
        });
    }

    /// `values = norm(values)`, row by row.
    pub(crate) fn normalize(&self, arch: Arch, values: &mut [f32]) {
        arch.dispatch(|| {
            for row in values.chunks_exact_mut(self.weight.len()) {
                self.normalize_row(row);
            }
        });
    }

    #[inline(always)]
    fn normalize_row(&self, row: &mut [f32]) {
        let size = row.len() as f32;
        let mean = lane_sum(row, |value| value) / size;
        let variance = lane_sum(row, |value| (value - mean) * (value - mean)) / size;
        let scale = 1.0 / (variance + self.epsilon).sqrt();
        for ((value, weight), bias) in row.iter_mut().zip(&self.weight).zip(&self.bias) {
            *value = (*value - mean) * scale * weight + bias;
        }
    }
}

/// A sum in sixteen parts, which the compiler keeps in vector registers.
#[inline(always)]
pub(crate) fn lane_sum(values: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0.0_f32; 16];
    let (chunks, rest) = values.as_chunks::<16>();
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += of(*value);
        }
    }
    lanes.iter().sum::<f32>() + rest.iter().map(|value| of(*value)).sum::<f32>()
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
