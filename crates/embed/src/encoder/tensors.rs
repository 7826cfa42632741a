//! The tensors of a `safetensors` file as rows of 32-bit numbers.

use std::path::{Path, PathBuf};

use half::{bf16, f16};
use safetensors::{Dtype, SafeTensors};

use super::linear::Linear;
use super::norm::LayerNorm;
use crate::EmbedError;

/// Prefixes that the names of an encoder's tensors have when it was saved inside another model.
const PREFIXES: [&str; 4] = ["", "bert.", "roberta.", "model."];

/// An open file of tensors.
pub(crate) struct Tensors<'file> {
    path: PathBuf,
    tensors: SafeTensors<'file>,
    prefix: &'static str,
}

impl<'file> Tensors<'file> {
    /// Reads the index of a file; `anchor` is a tensor every encoder has, by which the prefix of all names is found.
    pub(crate) fn open(path: &Path, bytes: &'file [u8], anchor: &str) -> Result<Self, EmbedError> {
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| EmbedError::Unreadable {
            path: path.to_owned(),
            reason: error.to_string(),
        })?;
        let has = |prefix: &&str| tensors.tensor(&format!("{prefix}{anchor}")).is_ok();
        let Some(prefix) = PREFIXES.into_iter().find(has) else {
            let what =
                format!("there is no tensor `{anchor}`: this is not a BERT or RoBERTa encoder");
            return Err(EmbedError::BadTensor { path: path.to_owned(), what });
        };
        Ok(Self { path: path.to_owned(), tensors, prefix })
    }

    /// The values of a tensor of this shape, row by row.
    pub(crate) fn values(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, EmbedError> {
        let bad = |what: String| EmbedError::BadTensor { path: self.path.clone(), what };
        let name = format!("{}{name}", self.prefix);
        let tensor =
            self.tensors.tensor(&name).map_err(|_| bad(format!("there is no tensor `{name}`")))?;
        if tensor.shape() != shape {
            return Err(bad(format!("`{name}` is {:?}, not {shape:?}", tensor.shape())));
        }
        let bytes = tensor.data();
        let values = match tensor.dtype() {
            Dtype::F32 => {
                bytes.as_chunks().0.iter().map(|four| f32::from_le_bytes(*four)).collect()
            }
            Dtype::F16 => {
                bytes.as_chunks().0.iter().map(|two| f16::from_le_bytes(*two).to_f32()).collect()
            }
            Dtype::BF16 => {
                bytes.as_chunks().0.iter().map(|two| bf16::from_le_bytes(*two).to_f32()).collect()
            }
            other => return Err(bad(format!("`{name}` holds {other:?}, not real numbers"))),
        };
        Ok(values)
    }

    /// A table of `columns` values a row, however many rows it has.
    pub(crate) fn table(&self, name: &str, columns: usize) -> Result<Vec<f32>, EmbedError> {
        let full = format!("{}{name}", self.prefix);
        let rows =
            self.tensors.tensor(&full).ok().and_then(|tensor| tensor.shape().first().copied());
        self.values(name, &[rows.unwrap_or_default(), columns])
    }

    /// Several linear maps of one input as one, their outputs side by side.
    pub(crate) fn linear(
        &self,
        names: &[String],
        inputs: usize,
        outputs: usize,
    ) -> Result<Linear, EmbedError> {
        let mut weight = Vec::new();
        let mut bias = Vec::new();
        for name in names {
            weight.extend(self.values(&format!("{name}.weight"), &[outputs, inputs])?);
            bias.extend(self.values(&format!("{name}.bias"), &[outputs])?);
        }
        Ok(Linear::new(&weight, bias, inputs))
    }

    /// A normalization; old files call its parts `gamma` and `beta`.
    pub(crate) fn norm(
        &self,
        name: &str,
        size: usize,
        epsilon: f32,
    ) -> Result<LayerNorm, EmbedError> {
        let part = |new: &str, old: &str| {
            self.values(&format!("{name}.{new}"), &[size])
                .or_else(|error| self.values(&format!("{name}.{old}"), &[size]).map_err(|_| error))
        };
        Ok(LayerNorm { weight: part("weight", "gamma")?, bias: part("bias", "beta")?, epsilon })
    }
}
