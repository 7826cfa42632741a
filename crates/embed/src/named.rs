//! Models by name, path or provider: found or reached from this machine, and made ready once for the whole process.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use fullbench_llm::{EmbeddingConfig, ModelConfig, Provider};
use fullbench_weights::{Kind, WeightsFolder, catalog, find};

use crate::{BertScore, BertScoreOptions, EmbedError, Embedder, ProviderEmbedder, SentenceModel};

/// Models of one kind that are kept while nobody uses them: who sends evaluations can name many.
const KEPT_UNUSED: usize = 64;

/// The model that is used unless another is named.
pub const DEFAULT_MODEL: &str = "all-minilm-l6-v2";

/// Models of one kind that are loaded, by what they were loaded from.
type Loaded<T> = LazyLock<Mutex<HashMap<String, Arc<T>>>>;

/// A model of embeddings as a user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelChoice {
    /// A name of the catalog of weights, the path of a folder, or a provider's model: `openai:text-embedding-3-small`.
    pub model: String,
    /// Where the provider is served, when not at its usual address.
    pub base_url: Option<String>,
    /// Name of the environment variable with the provider's key, when not the usual one.
    pub api_key_env: Option<String>,
    /// Values of the provider's vectors, when not the usual number.
    pub dimensions: Option<u32>,
}

impl ModelChoice {
    /// A model by its name alone.
    #[must_use]
    pub fn named(model: &str) -> Self {
        Self { model: model.to_owned(), base_url: None, api_key_env: None, dimensions: None }
    }

    /// The model as a provider knows it, where one serves it: texts leave this machine then, and may cost money.
    #[must_use]
    pub fn at_provider(&self) -> Option<ModelConfig> {
        self.config().map(|config| config.as_model())
    }

    fn config(&self) -> Option<EmbeddingConfig> {
        let (provider, name) = provider_of(&self.model)?;
        Some(EmbeddingConfig {
            base_url: self.base_url.clone(),
            api_key_env: self.api_key_env.clone(),
            dimensions: self.dimensions,
            ..EmbeddingConfig::new(provider, name)
        })
    }

    /// What makes the embeddings, ready to be used.
    ///
    /// # Errors
    /// When there is no such model, its weights are not here or cannot be read, or the provider cannot be called.
    pub fn embedder(&self) -> Result<Arc<dyn Embedder>, EmbedError> {
        static LOADED: Loaded<SentenceModel> = LazyLock::new(Mutex::default);
        static PROVIDERS: Loaded<ProviderEmbedder> = LazyLock::new(Mutex::default);
        if let Some(config) = self.config() {
            let ready = || Ok(ProviderEmbedder::new(&config)?);
            return Ok(loaded_once(&PROVIDERS, format!("{self:?}"), ready)?);
        }
        let Self { model, base_url, api_key_env, dimensions } = self;
        if base_url.is_some() || api_key_env.is_some() || dimensions.is_some() {
            return Err(EmbedError::NotOfAProvider { model: model.clone() });
        }
        let folder = model_folder(model)?;
        let load = || SentenceModel::load(&shown(model, &folder), &folder);
        Ok(Arc::new(loaded_once(&LOADED, folder.display().to_string(), load)?))
    }
}

/// BERTScore by a model: one named by the catalog of weights, or in a folder.
///
/// # Errors
/// When there is no such model, its weights are not here, they cannot be read, or an option does not fit them.
pub fn bert_score(model: &str, options: &BertScoreOptions) -> Result<Arc<BertScore>, EmbedError> {
    static LOADED: Loaded<BertScore> = LazyLock::new(Mutex::default);
    if provider_of(model).is_some() {
        return Err(EmbedError::OfAProvider { model: model.to_owned() });
    }
    let folder = model_folder(model)?;
    let load = || BertScore::load(&shown(model, &folder), &folder, options);
    loaded_once(&LOADED, format!("{} {options:?}", folder.display()), load)
}

/// Whether a model is named by its folder rather than by the name of installed weights.
#[must_use]
pub fn is_path(model: &str) -> bool {
    let separated = model.contains('/') || model.contains(std::path::MAIN_SEPARATOR);
    provider_of(model).is_none() && (separated || model.starts_with('.'))
}

/// Whether a model is called at a provider, so that texts leave this machine and cost money.
#[must_use]
pub fn is_of_provider(model: &str) -> bool {
    provider_of(model).is_some()
}

/// The provider before the colon, and its model.
fn provider_of(model: &str) -> Option<(Provider, &str)> {
    let (word, name) = model.split_once(':')?;
    Some((word.parse().ok()?, name))
}

fn model_folder(model: &str) -> Result<PathBuf, EmbedError> {
    if is_path(model) {
        return Ok(PathBuf::from(model));
    }
    let of_kind = |kind: Kind| kind == Kind::Sentences;
    let Some(known) = find(model).filter(|known| of_kind(known.kind)) else {
        let names = catalog().iter().filter(|known| of_kind(known.kind)).map(|known| known.name);
        return Err(EmbedError::UnknownModel { name: model.to_owned(), known: names.collect() });
    };
    let installed = WeightsFolder::of_user().ok().and_then(|folder| folder.path(known));
    installed.ok_or(EmbedError::NotInstalled { name: known.name })
}

/// What a model is called in signatures: its name, or the name of its folder.
fn shown(model: &str, folder: &Path) -> String {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let last = folder.file_name().filter(|_| is_path(model));
    last.map_or_else(|| model.to_owned(), |name| name.to_string_lossy().into_owned())
}

fn loaded_once<T>(
    loaded: &Loaded<T>,
    key: String,
    load: impl FnOnce() -> Result<T, EmbedError>,
) -> Result<Arc<T>, EmbedError> {
    // Held while loading, so that a model is loaded once even when several begin together.
    let mut loaded = loaded.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(model) = loaded.get(&key) {
        return Ok(Arc::clone(model));
    }
    let model = Arc::new(load()?);
    if loaded.len() >= KEPT_UNUSED {
        loaded.retain(|_, model| Arc::strong_count(model) > 1);
    }
    loaded.insert(key, Arc::clone(&model));
    Ok(model)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_folder_is_loaded_once_and_an_unknown_name_is_answered_with_a_way_out() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/tiny-roberta");
        let options = BertScoreOptions::default();
        let first = bert_score(folder, &options).unwrap();
        assert!(Arc::ptr_eq(&first, &bert_score(folder, &options).unwrap()));
        assert!(first.signature().starts_with("tiny-roberta_L3_"));
        let other = BertScoreOptions { layer: Some(1), ..options };
        assert!(!Arc::ptr_eq(&first, &bert_score(folder, &other).unwrap()));
        let embedder = |model: &str| ModelChoice::named(model).embedder();
        assert!(embedder(folder).unwrap().signature().starts_with("model:tiny-roberta|"));

        let error = embedder("smollm2-135m-instruct").err().unwrap();
        assert_eq!(error.to_string(), "there is no model of embeddings `smollm2-135m-instruct`");
        assert!(error.hint().unwrap().contains("all-minilm-l6-v2"));
        assert!(matches!(embedder("./nowhere").err(), Some(EmbedError::Unreadable { .. })));
    }

    #[test]
    fn names_that_nobody_uses_any_more_do_not_pile_up() {
        let loaded: Loaded<usize> = LazyLock::new(Mutex::default);
        let load = |number: usize| loaded_once(&loaded, number.to_string(), || Ok(number)).unwrap();
        let used = load(0);
        for number in 1..10 * KEPT_UNUSED {
            assert_eq!(*load(number), number);
        }
        assert!(loaded.lock().unwrap().len() <= KEPT_UNUSED);
        assert!(Arc::ptr_eq(&used, &load(0)), "what is in use stays");
    }

    #[test]
    fn a_provider_is_named_before_the_colon() {
        let choice = |model: &str, base_url: Option<&str>| ModelChoice {
            base_url: base_url.map(str::to_owned),
            ..ModelChoice::named(model)
        };
        let local = choice("openai:BAAI/bge-small", Some("http://127.0.0.1:9/v1"));
        assert!(is_of_provider(&local.model) && !is_path(&local.model));
        let signature = local.embedder().unwrap().signature();
        assert!(signature.starts_with("provider:openai|model:BAAI/bge-small|"), "{signature}");
        let error = choice("anthropic:claude", None).embedder().err().unwrap();
        assert!(error.hint().is_some(), "{error}");
        let error = choice("all-minilm-l6-v2", Some("http://127.0.0.1:9/v1")).embedder().err();
        let hint = error.unwrap().hint().unwrap();
        assert_eq!(hint, "write the model as `openai:all-minilm-l6-v2`");
    }
}
