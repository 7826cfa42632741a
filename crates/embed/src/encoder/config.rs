//! What `config.json` of a model says of its shape.

use std::path::Path;

use serde::Deserialize;

use crate::EmbedError;

/// How hidden values are bent between the two layers of a feed-forward block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Activation {
    /// Gaussian error linear unit, exact (Hendrycks and Gimpel 2016).
    Gelu,
    /// Its approximation by a hyperbolic tangent.
    #[serde(alias = "gelu_pytorch_tanh")]
    GeluNew,
    /// Rectified linear unit.
    Relu,
}

/// Families of encoders: the same layers, other names and positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Family {
    /// BERT and what is built like it.
    Bert,
    /// RoBERTa: positions start after the padding token's.
    #[serde(alias = "xlm-roberta", alias = "camembert")]
    Roberta,
}

/// The shape of an encoder.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct EncoderConfig {
    pub(crate) model_type: Family,
    pub(crate) hidden_size: usize,
    pub(crate) intermediate_size: usize,
    pub(crate) num_attention_heads: usize,
    pub(crate) num_hidden_layers: usize,
    pub(crate) max_position_embeddings: usize,
    #[serde(default = "gelu")]
    pub(crate) hidden_act: Activation,
    #[serde(default = "layer_norm_eps")]
    pub(crate) layer_norm_eps: f32,
    #[serde(default)]
    pub(crate) pad_token_id: usize,
    #[serde(default)]
    position_embedding_type: Option<String>,
}

fn gelu() -> Activation {
    Activation::Gelu
}

fn layer_norm_eps() -> f32 {
    1e-12
}

impl EncoderConfig {
    pub(crate) fn read(folder: &Path) -> Result<Self, EmbedError> {
        let path = folder.join("config.json");
        let config: Self = crate::files::read_json(&path)?;
        let unsupported = |what: String| EmbedError::Unsupported { path: path.clone(), what };
        if let Some(kind) =
            config.position_embedding_type.as_deref().filter(|kind| *kind != "absolute")
        {
            return Err(unsupported(format!("position embeddings of type `{kind}`")));
        }
        if config.num_attention_heads == 0
            || !config.hidden_size.is_multiple_of(config.num_attention_heads)
        {
            return Err(unsupported(format!(
                "{} attention heads over {} values",
                config.num_attention_heads, config.hidden_size
            )));
        }
        Ok(config)
    }

    /// Values of one attention head.
    pub(crate) fn head_size(&self) -> usize {
        self.hidden_size / self.num_attention_heads
    }

    /// The positions of the tokens of a text.
    pub(crate) fn positions(&self, ids: &[u32]) -> Vec<usize> {
        let first = self.first_position();
        match self.model_type {
            Family::Bert => (first..first + ids.len()).collect(),
            // Where a text spells out the padding token, that stays at its own position and the others close up.
            Family::Roberta => ids
                .iter()
                .scan(first.., |next, id| {
                    if *id as usize == self.pad_token_id {
                        Some(self.pad_token_id)
                    } else {
                        next.next()
                    }
                })
                .collect(),
        }
    }

    fn first_position(&self) -> usize {
        match self.model_type {
            Family::Bert => 0,
            Family::Roberta => self.pad_token_id.saturating_add(1),
        }
    }

    /// Most tokens of one text, special ones included.
    pub(crate) fn max_tokens(&self) -> usize {
        self.max_position_embeddings.saturating_sub(self.first_position())
    }
}
