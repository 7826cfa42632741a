//! What can go wrong with a model of embeddings.

use std::path::PathBuf;

/// Why there are no embeddings.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// No model is known by this name.
    #[error("there is no model of embeddings `{name}`")]
    UnknownModel {
        /// The name.
        name: String,
        /// The names that are known.
        known: Vec<&'static str>,
    },
    /// Something is wanted of a provider's model that only one on this machine can do.
    #[error("`{model}` is a provider's model: it gives no values of single words")]
    OfAProvider {
        /// The model.
        model: String,
    },
    /// The weights of a known model have not been fetched.
    #[error("the weights of {name} are not on this machine")]
    NotInstalled {
        /// The model.
        name: &'static str,
    },
    /// Settings of a provider were given for a model that runs here.
    #[error("`{model}` runs on this machine and is not called at a provider")]
    NotOfAProvider {
        /// The model.
        model: String,
    },
    /// A provider cannot be called: its settings are wrong or its key is missing.
    #[error(transparent)]
    Uncallable(#[from] fullbench_llm::LlmError),
    /// A file of the model is missing or broken.
    #[error("{} cannot be read: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The model is of a kind that is not known here.
    #[error("{}: {what} is not supported", path.display())]
    Unsupported {
        /// The file that says so.
        path: PathBuf,
        /// What is not known.
        what: String,
    },
    /// A tensor is missing, or of another shape than the configuration says.
    #[error("{}: {what}", path.display())]
    BadTensor {
        /// The file with the tensors.
        path: PathBuf,
        /// Which tensor, and what is wrong with it.
        what: String,
    },
    /// The tokenizer refused a text.
    #[error("a text could not be split into tokens: {0}")]
    Tokenizer(String),
    /// A text has nothing to be compared with.
    #[error("text {index} has no reference")]
    NoReference {
        /// Its place in the list, from 0.
        index: usize,
    },
    /// An option makes no sense for the model.
    #[error("{0}")]
    BadOption(String),
    /// The provider refuses a text: asked again, it would refuse it again.
    #[error("the provider of embeddings refuses a text: {0}")]
    Refused(String),
    /// The provider of embeddings failed.
    #[error("the provider of embeddings failed: {0}")]
    Provider(String),
    /// The index and a vector have other lengths, or its files do not fit together.
    #[error("{0}")]
    Index(String),
    /// The work was given up, as when the program ends.
    #[error("the embedding was interrupted")]
    Interrupted,
}

impl EmbedError {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownModel { name, .. } if std::path::Path::new(name).is_dir() => {
                Some(format!("write `./{name}` for the folder"))
            }
            Self::UnknownModel { known, .. } => Some(format!(
                "name one of {}, or the path of a folder with config.json, model.safetensors and tokenizer.json",
                known.join(", ")
            )),
            Self::OfAProvider { .. } => Some(
                "name weights that `fullbench weights list` shows, or the path of a folder"
                    .to_owned(),
            ),
            Self::NotInstalled { name } => {
                Some(format!("fetch them with `fullbench weights pull {name}`"))
            }
            Self::NotOfAProvider { model } => Some(format!("write the model as `openai:{model}`")),
            Self::Uncallable(error) => error.hint(),
            _ => None,
        }
    }
}
