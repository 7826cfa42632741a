//! Texts as the tokens of a model, cut where the model cannot read on.

use std::path::Path;

use serde::Deserialize;
use tokenizers::{PreTokenizerWrapper, Tokenizer};

use crate::EmbedError;
use crate::files::read_json_if_any;

/// The tokens of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tokens {
    /// With the special ones at both ends.
    pub(crate) ids: Vec<u32>,
    /// The text was longer than the model reads.
    pub(crate) truncated: bool,
}

/// The tokenizer of a model.
#[derive(Debug)]
pub(crate) struct TextTokenizer {
    tokenizer: Tokenizer,
    max_tokens: usize,
}

impl TextTokenizer {
    /// Reads `tokenizer.json` of a folder. What it says of cutting and padding is for another use and left aside.
    pub(crate) fn load(folder: &Path, max_tokens: usize) -> Result<Self, EmbedError> {
        let path = folder.join("tokenizer.json");
        let unreadable = |reason: String| EmbedError::Unreadable { path: path.clone(), reason };
        let mut tokenizer =
            Tokenizer::from_file(&path).map_err(|error| unreadable(error.to_string()))?;
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|error| unreadable(error.to_string()))?;
        Ok(Self { tokenizer, max_tokens })
    }

    /// The tokens of a text, special ones included.
    pub(crate) fn tokens(&self, text: &str) -> Result<Tokens, EmbedError> {
        let failed = |error: tokenizers::Error| EmbedError::Tokenizer(error.to_string());
        let mut plain = self.tokenizer.encode_fast(text, false).map_err(failed)?;
        let added = self
            .tokenizer
            .get_post_processor()
            .map_or(0, |processor| tokenizers::PostProcessor::added_tokens(processor, false));
        let room = self.max_tokens.saturating_sub(added);
        let truncated = plain.len() > room;
        plain.truncate(room, 0, tokenizers::TruncationDirection::Right);
        let whole = self.tokenizer.post_process(plain, None, true).map_err(failed)?;
        Ok(Tokens { ids: whole.get_ids().to_vec(), truncated })
    }

    /// Whether a word has another token after a space than at the start of a text, as in GPT-2 and RoBERTa.
    pub(crate) fn tells_spaces_apart(&self) -> bool {
        matches!(
            self.tokenizer.get_pre_tokenizer(),
            Some(PreTokenizerWrapper::ByteLevel(bytes)) if !bytes.add_prefix_space
        )
    }
}

#[derive(Debug, Deserialize)]
struct TokenizerFile {
    /// Written as a huge float where there is no limit.
    model_max_length: Option<f64>,
}

/// Most tokens of a text by `tokenizer_config.json`, if it says so.
pub(crate) fn max_tokens(folder: &Path) -> Result<Option<usize>, EmbedError> {
    let file: Option<TokenizerFile> = read_json_if_any(&folder.join("tokenizer_config.json"))?;
    // A conversion from a float stops at the largest number.
    Ok(file.and_then(|file| file.model_max_length).map(|most| most as usize))
}

/// A text without space at its ends, as Python's `strip` takes it away, which counts four separators of ASCII as space.
pub(crate) fn stripped(text: &str) -> &str {
    text.trim_matches(|character: char| {
        character.is_whitespace() || ('\x1c'..='\x1f').contains(&character)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn space_is_what_python_takes_for_it() {
        assert_eq!(stripped("\u{1c}\u{a0} a b\u{2028}\u{1f}\n"), "a b");
        assert_eq!(stripped("\u{200b}a\0"), "\u{200b}a\0");
        assert_eq!(stripped(" \t "), "");
    }

    #[test]
    fn the_longest_text_is_read_from_the_tokenizers_settings() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokenizer_config.json");
        assert_eq!(max_tokens(folder.path()).unwrap(), None);
        for (json, most) in [
            (r#"{"model_max_length": 512}"#, Some(512)),
            (r#"{"model_max_length": 1000000000000000019884624838656}"#, Some(usize::MAX)),
            ("{}", None),
        ] {
            std::fs::write(&path, json).unwrap();
            assert_eq!(max_tokens(folder.path()).unwrap(), most);
        }
    }
}
