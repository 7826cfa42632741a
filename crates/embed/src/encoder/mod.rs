//! A BERT or RoBERTa encoder on the CPU (Devlin et al. 2019, Liu et al. 2019).
//!
//! The tokens of several texts lie one after the other with no padding between; only attention looks at texts one by
//! one. Matrices are multiplied by `faer`, which picks the instructions of the processor it runs on.

mod activation;
mod attention;
mod config;
mod linear;
mod matrix;
mod norm;
mod tensors;

use std::path::Path;

use pulp::Arch;

use self::activation::activate;
use self::attention::Attention;
pub(crate) use self::config::EncoderConfig;
use self::linear::Linear;
pub(crate) use self::matrix::{Before, Rows, multiply_by_transposed};
use self::norm::LayerNorm;
use self::tensors::Tensors;
use crate::EmbedError;

/// The weights of an encoder.
#[derive(Debug)]
pub(crate) struct Encoder {
    config: EncoderConfig,
    words: Vec<f32>,
    positions: Vec<f32>,
    /// The embedding of the only token type that single texts have.
    token_type: Vec<f32>,
    norm: LayerNorm,
    layers: Vec<Layer>,
    arch: Arch,
}

#[derive(Debug)]
struct Layer {
    mapped: Linear,
    mixed: Linear,
    attention_norm: LayerNorm,
    wide: Linear,
    narrow: Linear,
    output_norm: LayerNorm,
}

impl Encoder {
    /// Reads `config.json` and `model.safetensors` of a folder.
    pub(crate) fn load(folder: &Path) -> Result<Self, EmbedError> {
        let config = EncoderConfig::read(folder)?;
        let path = folder.join("model.safetensors");
        let bytes = crate::files::read(&path)?;
        let tensors = Tensors::open(&path, &bytes, "embeddings.word_embeddings.weight")?;
        let (size, epsilon) = (config.hidden_size, config.layer_norm_eps);
        let table = |name: &str| tensors.table(&format!("embeddings.{name}.weight"), size);
        let mut token_type = table("token_type_embeddings")?;
        token_type.truncate(size);
        let layers =
            (0..config.num_hidden_layers).map(|index| Layer::read(&tensors, &config, index));
        Ok(Self {
            words: table("word_embeddings")?,
            positions: table("position_embeddings")?,
            token_type,
            norm: tensors.norm("embeddings.LayerNorm", size, epsilon)?,
            layers: layers.collect::<Result<_, _>>()?,
            arch: Arch::new(),
            config,
        })
    }

    pub(crate) fn config(&self) -> &EncoderConfig {
        &self.config
    }

    /// Drops the layers after the first `layers`; their output is then the encoder's.
    pub(crate) fn keep_layers(&mut self, layers: usize) {
        self.layers.truncate(layers);
    }

    /// The hidden values after the last layer: one row for each token, text after text.
    pub(crate) fn hidden(&self, texts: &[&[u32]]) -> Result<Vec<f32>, EmbedError> {
        let size = self.config.hidden_size;
        let mut hidden = self.embedded(texts)?;
        let rows = hidden.len() / size;
        let mut mapped = vec![0.0; rows * 3 * size];
        let mut mixed = vec![0.0; rows * size];
        let mut wide = vec![0.0; rows * self.config.intermediate_size];
        let mut scores = Vec::new();
        let attention = Attention {
            heads: self.config.num_attention_heads,
            head_size: self.config.head_size(),
        };
        for layer in &self.layers {
            layer.mapped.apply(&hidden, &mut mapped, rows);
            let mut start = 0;
            for text in texts {
                let end = start + text.len();
                let (from, to) = (
                    &mapped[start * 3 * size..end * 3 * size],
                    &mut mixed[start * size..end * size],
                );
                attention.mix(self.arch, from, to, &mut scores, text.len());
                start = end;
            }
            // The room of the queries, keys and values is free again.
            let room = &mut mapped[..rows * size];
            layer.mixed.apply(&mixed, room, rows);
            layer.attention_norm.add_and_normalize(self.arch, &mut hidden, room);
            layer.wide.apply(&hidden, &mut wide, rows);
            activate(self.arch, self.config.hidden_act, &mut wide);
            layer.narrow.apply(&wide, room, rows);
            layer.output_norm.add_and_normalize(self.arch, &mut hidden, room);
        }
        Ok(hidden)
    }

    /// The sums of word, position and type embeddings, normalized.
    fn embedded(&self, texts: &[&[u32]]) -> Result<Vec<f32>, EmbedError> {
        let size = self.config.hidden_size;
        let row = |table: &'_ [f32], index: usize| -> Option<std::ops::Range<usize>> {
            let start = index.checked_mul(size)?;
            (start + size <= table.len()).then_some(start..start + size)
        };
        let mut hidden = Vec::new();
        for text in texts {
            for (token, place) in text.iter().zip(self.config.positions(text)) {
                let word = row(&self.words, *token as usize);
                let position = row(&self.positions, place);
                let (Some(word), Some(position)) = (word, position) else {
                    let what = format!("token {token} at position {place} has no embedding");
                    return Err(EmbedError::Tokenizer(what));
                };
                let parts = self.words[word].iter().zip(&self.positions[position]);
                hidden.extend(
                    parts.zip(&self.token_type).map(|((word, place), kind)| word + kind + place),
                );
            }
        }
        self.norm.normalize(self.arch, &mut hidden);
        Ok(hidden)
    }
}

impl Layer {
    fn read(
        tensors: &Tensors<'_>,
        config: &EncoderConfig,
        index: usize,
    ) -> Result<Self, EmbedError> {
        let (size, wide) = (config.hidden_size, config.intermediate_size);
        let name = |part: &str| format!("encoder.layer.{index}.{part}");
        let maps = ["query", "key", "value"].map(|map| name(&format!("attention.self.{map}")));
        let norm = |part: &str| tensors.norm(&name(part), size, config.layer_norm_eps);
        Ok(Self {
            mapped: tensors.linear(&maps, size, size)?,
            mixed: tensors.linear(&[name("attention.output.dense")], size, size)?,
            attention_norm: norm("attention.output.LayerNorm")?,
            wide: tensors.linear(&[name("intermediate.dense")], size, wide)?,
            narrow: tensors.linear(&[name("output.dense")], wide, size)?,
            output_norm: norm("output.LayerNorm")?,
        })
    }
}
