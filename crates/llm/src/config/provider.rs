//! Who serves a model, where, and under which key.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ConfigError;

/// Who serves the model.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// OpenAI, or any server with its chat completions format (vLLM, llama.cpp, …) through `base_url`.
    Openai,
    /// Anthropic messages.
    Anthropic,
    /// Google Gemini generateContent.
    Gemini,
    /// xAI.
    Xai,
    /// A local Ollama; needs no key.
    Ollama,
    /// A GGUF model run in this process, on the CPU; needs no key.
    Local,
    /// The answer is already in the data.
    Recorded,
}

impl Provider {
    /// All providers.
    pub const ALL: [Self; 7] = [
        Self::Openai,
        Self::Anthropic,
        Self::Gemini,
        Self::Xai,
        Self::Ollama,
        Self::Local,
        Self::Recorded,
    ];

    /// The word used in files.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Xai => "xai",
            Self::Ollama => "ollama",
            Self::Local => "local",
            Self::Recorded => "recorded",
        }
    }

    /// The name people know it by.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Openai => "OpenAI",
            Self::Anthropic => "Anthropic",
            Self::Gemini => "Gemini",
            Self::Xai => "xAI",
            Self::Ollama => "Ollama",
            Self::Local => "a local model",
            Self::Recorded => "recorded",
        }
    }

    /// Where it is served unless `base_url` says otherwise; none where nothing is served.
    #[must_use]
    pub fn default_base_url(self) -> Option<&'static str> {
        match self {
            Self::Openai => Some("https://api.openai.com/v1"),
            Self::Anthropic => Some("https://api.anthropic.com/v1"),
            Self::Gemini => Some("https://generativelanguage.googleapis.com/v1beta"),
            Self::Xai => Some("https://api.x.ai/v1"),
            Self::Ollama => Some("http://127.0.0.1:11434/v1"),
            Self::Local | Self::Recorded => None,
        }
    }

    /// The environment variable with its key; none where no key is needed.
    #[must_use]
    pub fn default_key_variable(self) -> Option<&'static str> {
        match self {
            Self::Openai => Some("OPENAI_API_KEY"),
            Self::Anthropic => Some("ANTHROPIC_API_KEY"),
            Self::Gemini => Some("GEMINI_API_KEY"),
            Self::Xai => Some("XAI_API_KEY"),
            Self::Ollama | Self::Local | Self::Recorded => None,
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl FromStr for Provider {
    type Err = ConfigError;

    fn from_str(word: &str) -> Result<Self, ConfigError> {
        if let Some(provider) = Self::ALL.into_iter().find(|provider| provider.as_str() == word) {
            return Ok(provider);
        }
        let known = Self::ALL.map(Self::as_str).join(", ");
        let similarity =
            |provider: &Self| strsim::jaro_winkler(provider.as_str(), &word.to_lowercase());
        let nearest = Self::ALL
            .into_iter()
            .filter(|provider| similarity(provider) > 0.75)
            .max_by(|left, right| similarity(left).total_cmp(&similarity(right)));
        Err(ConfigError {
            field: "provider".to_owned(),
            message: format!("there is no provider `{word}`; the providers are {known}"),
            hint: nearest.map(|provider| format!("did you mean `{provider}`?")),
        })
    }
}
