//! Sentence embeddings as the sentence-transformers library makes them (Reimers and Gurevych 2019; version 6, which no
//! longer takes away space at the ends of a text).

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value};

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
    /// Small letters for all, before anything else.
    lowers: bool,
    /// Set before every text.
    prompt: String,
}

#[derive(Debug, Deserialize)]
struct Module {
    path: String,
    #[serde(rename = "type")]
    kind: String,
}

/// Of `sentence_bert_config.json`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SentenceFile {
    max_seq_length: Option<usize>,
    do_lower_case: bool,
}

/// Of `config_sentence_transformers.json`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct PromptFile {
    prompts: Option<HashMap<String, String>>,
    default_prompt_name: Option<String>,
}

impl SentenceModel {
    /// Reads a folder with `config.json`, `model.safetensors`, `tokenizer.json` and, where they are, the files of
    /// sentence-transformers. `name` is what the model is called in signatures.
    ///
    /// # Errors
    /// Names the file that is missing, broken or of a kind not known here.
    pub fn load(name: &str, folder: &Path) -> Result<Self, EmbedError> {
        let encoder = Encoder::load(folder)?;
        let settings: SentenceFile =
            read_json_if_any(&folder.join("sentence_bert_config.json"))?.unwrap_or_default();
        let max_tokens = max_tokens(folder, encoder.config(), settings.max_seq_length)?;
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
            lowers: settings.do_lower_case,
            prompt: default_prompt(&folder.join("config_sentence_transformers.json"))?,
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
            .map(|text| self.tokenizer.tokens(&self.prepared(text.as_ref())))
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

    /// The text that is read: behind the model's own prompt, in small letters where the model wants them.
    fn prepared<'text>(&self, text: &'text str) -> Cow<'text, str> {
        let text = match self.prompt.is_empty() {
            true => Cow::Borrowed(text),
            false => Cow::Owned(format!("{}{text}", self.prompt)),
        };
        if self.lowers { Cow::Owned(text.to_lowercase()) } else { text }
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
    /// Reads what the library wrote: until version 5 a flag for each kind, since then a word.
    fn read(path: &Path) -> Result<Self, EmbedError> {
        let file: Option<Map<String, Value>> = read_json_if_any(path)?;
        let Some(file) = file else { return Ok(Self::Mean) };
        let unsupported = |what: String| EmbedError::Unsupported { path: path.to_owned(), what };
        if file.get("include_prompt") == Some(&Value::Bool(false)) {
            return Err(unsupported("pooling without the prompt".to_owned()));
        }
        let flags = file.iter().filter(|(_, value)| **value == Value::Bool(true));
        let mut kinds: Vec<&str> =
            flags.filter_map(|(name, _)| name.strip_prefix("pooling_mode_")).collect();
        kinds.extend(file.get("pooling_mode").and_then(Value::as_str));
        match kinds.as_slice() {
            ["mean_tokens" | "mean"] => Ok(Self::Mean),
            ["cls_token" | "cls"] => Ok(Self::First),
            ["max_tokens" | "max"] => Ok(Self::Largest),
            others => Err(unsupported(format!("pooling by `{}`", others.join("` and `")))),
        }
    }
}

/// What the model wants before every text.
fn default_prompt(path: &Path) -> Result<String, EmbedError> {
    let PromptFile { prompts, default_prompt_name } = read_json_if_any(path)?.unwrap_or_default();
    let Some(name) = default_prompt_name else { return Ok(String::new()) };
    prompts.unwrap_or_default().remove(&name).ok_or_else(|| EmbedError::Unreadable {
        path: path.to_owned(),
        reason: format!("there is no prompt `{name}`"),
    })
}

/// Most tokens the model reads: what sentence-transformers says, else the tokenizer, as far as there are positions.
fn max_tokens(
    folder: &Path,
    config: &EncoderConfig,
    said: Option<usize>,
) -> Result<usize, EmbedError> {
    let said = match said {
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
