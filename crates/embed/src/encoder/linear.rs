//! A linear map with a bias, on rows of values.

use super::matrix::{Before, Rows, multiply};

/// `y = x W + b`.
#[derive(Debug)]
pub(crate) struct Linear {
    /// Row by row, one row for each input.
    weight: Vec<f32>,
    bias: Vec<f32>,
    inputs: usize,
}

impl Linear {
    /// From a weight with one row for each output, as files have it.
    pub(crate) fn new(weight: &[f32], bias: Vec<f32>, inputs: usize) -> Self {
        let outputs = bias.len();
        let mut transposed = vec![0.0; weight.len()];
        for (output, row) in weight.chunks_exact(inputs.max(1)).enumerate() {
            for (input, value) in row.iter().enumerate() {
                transposed[input * outputs + output] = *value;
            }
        }
        Self { weight: transposed, bias, inputs }
    }

    /// Maps `rows` rows; `outputs` takes the result.
    pub(crate) fn apply(&self, inputs: &[f32], outputs: &mut [f32], rows: usize) {
        let columns = self.bias.len();
        for row in outputs.chunks_exact_mut(columns) {
            row.copy_from_slice(&self.bias);
        }
        let inputs = Rows::dense(inputs, rows, self.inputs);
        let weight = Rows::dense(&self.weight, self.inputs, columns);
        multiply(outputs, columns, inputs, weight, 1.0, Before::AddedTo);
    }
}
