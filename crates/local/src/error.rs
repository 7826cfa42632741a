//! Why a model cannot be loaded.

use std::path::PathBuf;

use fullbench_types::ErrorCode;

/// A model that cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LocalError {
    /// The name is no path, and no weights are installed under it.
    #[error("there are no weights named `{0}`")]
    UnknownName(String),
    /// The file cannot be read.
    #[error("{}: {message}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        message: String,
    },
    /// The file is something else.
    #[error("{} is not a GGUF file", .0.display())]
    NotGguf(PathBuf),
    /// llama.cpp does not know this kind of model, or the file is damaged.
    #[error("llama.cpp cannot load {}", .0.display())]
    Refused(PathBuf),
    /// The model gives vectors, not text.
    #[error("{} is an embedding model: it writes no text", .0.display())]
    Embedding(PathBuf),
    /// There is no memory for the context, or the model has none.
    #[error("cannot make a context of {tokens} tokens: {message}")]
    Context {
        /// Tokens asked for.
        tokens: u32,
        /// Why.
        message: String,
    },
    /// The processor lacks instructions that llama.cpp was compiled for.
    #[error("this processor has no AVX2, FMA, F16C and BMI2, which local models need")]
    Processor,
    /// llama.cpp did not start.
    #[error("llama.cpp did not start: {0}")]
    Backend(String),
}

impl LocalError {
    /// The shared code.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::UnknownName(_)
            | Self::Unreadable { .. }
            | Self::NotGguf(_)
            | Self::Refused(_)
            | Self::Embedding(_) => ErrorCode::InvalidInput,
            Self::Context { .. } | Self::Processor | Self::Backend(_) => ErrorCode::Unavailable,
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::UnknownName(name) => {
                return Some(format!(
                    "write the path of a GGUF file, such as `local:models/{name}.gguf`, or fetch it with `fullbench weights pull {name}`"
                ));
            }
            Self::Unreadable { .. } => "check the path and the file's permissions",
            Self::NotGguf(_) => "convert the model to GGUF, or name another file",
            Self::Refused(_) => {
                "the file may be damaged or too new; FULLBENCH_LOG=llama-cpp-2=info shows what llama.cpp says"
            }
            Self::Embedding(_) => "name a model that generates text",
            Self::Context { .. } => "use a smaller model, or free memory",
            Self::Processor => "use a server such as Ollama on another machine",
            Self::Backend(_) => return None,
        };
        Some(hint.to_owned())
    }
}
