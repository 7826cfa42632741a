//! Sentence embeddings as the sentence-transformers library makes them (Reimers and Gurevych 2019; version 6, which no
//! longer takes away space at the ends of a text).

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;

use crate::encoder::{Encoder, EncoderConfig};
use crate::files::read_json_if_any;
use crate::tokens::TextTokenizer;
use crate::{EmbedError, Embedder, Embedding, batch};

/// How the hidden values of the tokens become one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pooling {
    /// Their mean.
    Mean,
    /// Those of the first token.
    First,
    /// The largest of each.
    Largest,
}

/// A model of sentence embeddings, loaded once.
#[derive(Debug)]
pub struct SentenceModel {
    name: String,
    encoder: Encoder,
    tokenizer: TextTokenizer,
    pooling: Pooling,
    normalizes: bool,
    max_tokens: usize,
}

#[derive(Debug, Deserialize)]
struct Module {
    path: String,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PoolingFile {
    pooling_mode_cls_token: bool,
    pooling_mode_mean_tokens: bool,
    pooling_mode_max_tokens: bool,
}

#[derive(Debug, Deserialize)]
struct SentenceFile {
    max_seq_length: Option<usize>,
}

impl SentenceModel {
    /// Reads a folder with `config.json`, `model.safetensors`, `tokenizer.json` and, where they are, the files of
    /// sentence-transformers. `name` is what the model is called in signatures.
    ///
    /// # Errors
    /// Names the file that is missing, broken or of a kind not known here.
    pub fn load(name: &str, folder: &Path) -> Result<Self, EmbedError> {
        let encoder = Encoder::load(folder)?;
        let max_tokens = max_tokens(folder, encoder.config())?;
        let modules: Vec<Module> =
            read_json_if_any(&folder.join("modules.json"))?.unwrap_or_default();
        for module in &modules {
            let kind = module.kind.rsplit('.').next().unwrap_or_default();
            if !matches!(kind, "Transformer" | "Pooling" | "Normalize") {
                let path = folder.join("modules.json");
                return Err(EmbedError::Unsupported { path, what: format!("the module `{kind}`") });
            }
        }
        let is = |module: &&Module, kind: &str| module.kind.ends_with(kind);
        let pooling_folder = modules
            .iter()
            .find(|module| is(module, ".Pooling"))
            .map_or("1_Pooling", |module| &module.path);
        Ok(Self {
            name: name.to_owned(),
            tokenizer: TextTokenizer::load(folder, max_tokens)?,
            pooling: Pooling::read(&folder.join(pooling_folder).join("config.json"))?,
            normalizes: modules.iter().any(|module| is(&module, ".Normalize")),
            encoder,
            max_tokens,
        })
    }

    /// The vectors of texts, in their order, made on all cores.
    ///
    /// # Errors
    /// When a text cannot be split into tokens.
    pub fn embed_all(
        &self,
        texts: &[impl AsRef<str> + Sync],
    ) -> Result<Vec<Embedding>, EmbedError> {
        use rayon::prelude::*;
        let tokens = texts
            .par_iter()
            .map(|text| self.tokenizer.tokens(text.as_ref()))
            .collect::<Result<Vec<_>, _>>()?;
        let vectors = batch::encode(&self.encoder, &tokens, |hidden| self.pooled(hidden))?;
        let embeddings = vectors.into_iter().zip(&tokens);
        Ok(embeddings
            .map(|(vector, tokens)| Embedding { vector, truncated: tokens.truncated })
            .collect())
    }

    /// Values of a vector.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        self.encoder.config().hidden_size
    }

    fn pooled(&self, hidden: &[f32]) -> Vec<f32> {
        let size = self.dimensions();
        let rows = hidden.chunks_exact(size);
        let count = rows.len().max(1) as f32;
        let mut vector = match self.pooling {
            Pooling::First => hidden.iter().take(size).copied().collect(),
            Pooling::Mean => {
                let mut sum = vec![0.0; size];
                for row in rows {
                    sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
                }
                sum.iter_mut().for_each(|sum| *sum /= count);
                sum
            }
            Pooling::Largest => {
                let mut largest = vec![f32::NEG_INFINITY; size];
                for row in rows {
                    largest
                        .iter_mut()
                        .zip(row)
                        .for_each(|(largest, value)| *largest = largest.max(*value));
                }
                largest
            }
        };
        if self.normalizes {
            let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt().max(1e-12);
            vector.iter_mut().for_each(|value| *value /= length);
        }
        vector
    }
}

impl Pooling {
    fn read(path: &Path) -> Result<Self, EmbedError> {
        let Some(file) = read_json_if_any::<PoolingFile>(path)? else { return Ok(Self::Mean) };
        match (
            file.pooling_mode_mean_tokens,
            file.pooling_mode_cls_token,
            file.pooling_mode_max_tokens,
        ) {
            (true, false, false) => Ok(Self::Mean),
            (false, true, false) => Ok(Self::First),
            (false, false, true) => Ok(Self::Largest),
            _ => Err(EmbedError::Unsupported {
                path: path.to_owned(),
                what: "pooling that is not the mean, the first token or the largest alone"
                    .to_owned(),
            }),
        }
    }
}

/// Most tokens the model reads: what sentence-transformers says, else the tokenizer, as far as there are positions.
fn max_tokens(folder: &Path, config: &EncoderConfig) -> Result<usize, EmbedError> {
    let file: Option<SentenceFile> = read_json_if_any(&folder.join("sentence_bert_config.json"))?;
    let said = match file.and_then(|file| file.max_seq_length) {
        Some(most) => Some(most),
        None => crate::tokens::max_tokens(folder)?,
    };
    Ok(said.unwrap_or(usize::MAX).min(config.max_tokens()))
}

#[async_trait]
impl Embedder for Arc<SentenceModel> {
    async fn embed(&self, texts: &[String]) -> Result<Vec<Embedding>, EmbedError> {
        let (model, texts) = (Arc::clone(self), texts.to_vec());
        tokio::task::spawn_blocking(move || model.embed_all(&texts))
            .await
            .map_err(|_| EmbedError::Interrupted)?
    }

    fn signature(&self) -> String {
        let pooling = match self.pooling {
            Pooling::Mean => "mean",
            Pooling::First => "first",
            Pooling::Largest => "max",
        };
        let version = env!("CARGO_PKG_VERSION");
        format!(
            "model:{}|pool:{pooling}|norm:{}|max_tokens:{}|fullbench:{version}",
            self.name,
            if self.normalizes { "yes" } else { "no" },
            self.max_tokens
        )
    }
}
