//! Texts as the tokens of a model, cut where the model cannot read on.

use std::path::Path;

use tokenizers::Tokenizer;

use crate::EmbedError;

/// The tokens of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tokens {
    /// With the special ones at both ends.
    pub(crate) ids: Vec<u32>,
    /// For each: 1 for a special token, else 0.
    pub(crate) special: Vec<u32>,
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
        let plain = self.tokenizer.encode_fast(text, false).map_err(failed)?;
        let added = self
            .tokenizer
            .get_post_processor()
            .map_or(0, |processor| tokenizers::PostProcessor::added_tokens(processor, false));
        let room = self.max_tokens.saturating_sub(added);
        let truncated = plain.len() > room;
        let mut plain = plain;
        plain.truncate(room, 0, tokenizers::TruncationDirection::Right);
        let whole = self.tokenizer.post_process(plain, None, true).map_err(failed)?;
        Ok(Tokens {
            ids: whole.get_ids().to_vec(),
            special: whole.get_special_tokens_mask().to_vec(),
            truncated,
        })
    }
}
