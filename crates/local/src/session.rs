//! The llama.cpp context of one model, and the tokens its memory holds.
//!
//! A prompt is read in chunks that begin at multiples of [`CHUNK`]. What a chunk leaves in memory depends on the tokens
//! up to its end and on nothing else, so that whole chunks can be kept for the next prompt that begins alike:
//! the numbers are the same, to the last bit, as if everything had been read again. Answers are read token by
//! token, and are forgotten before the next prompt.

use std::num::NonZeroU32;

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::token::LlamaToken;

use crate::backend;
use crate::error::LocalError;
use crate::options::LocalOptions;

/// Tokens read at once.
pub(crate) const CHUNK: usize = 64;

/// The one sequence of the context.
const SEQUENCE: u32 = 0;

/// One model's context: reads tokens, and gives the scores of the next.
pub(crate) struct Session<'model> {
    context: LlamaContext<'model>,
    batch: LlamaBatch<'static>,
    /// Tokens in memory that were read in whole chunks.
    chunks: Vec<LlamaToken>,
    /// All tokens in memory.
    length: usize,
}

/// Why tokens were not read.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// Nobody waits for the answer any more.
    Cancelled,
    /// llama.cpp failed.
    Failed(String),
}

impl<'model> Session<'model> {
    /// A context with the memory for as many tokens as the options say.
    pub(crate) fn new(
        model: &'model LlamaModel,
        options: &LocalOptions,
    ) -> Result<Self, LocalError> {
        let tokens = options.context_tokens_for(model.n_ctx_train());
        let threads = options.thread_count();
        let parameters = LlamaContextParams::default()
            .with_n_ctx(NonZeroU32::new(tokens))
            .with_n_batch(CHUNK as u32)
            .with_n_ubatch(CHUNK as u32)
            .with_n_seq_max(1)
            .with_n_threads(threads)
            .with_n_threads_batch(threads)
            .with_no_perf(true);
        let context = model
            .new_context(backend::get()?, parameters)
            .map_err(|error| LocalError::Context { tokens, message: error.to_string() })?;
        Ok(Self { context, batch: LlamaBatch::new(CHUNK, 1), chunks: Vec::new(), length: 0 })
    }

    /// Tokens that prompt and answer may have together.
    pub(crate) fn capacity(&self) -> usize {
        self.context.n_ctx() as usize
    }

    /// Reads a prompt of at least one token; gives how many of its tokens were still in memory.
    pub(crate) fn read_prompt(
        &mut self,
        tokens: &[LlamaToken],
        is_cancelled: impl Fn() -> bool,
    ) -> Result<usize, ReadError> {
        let kept = self.keep_common_chunks(tokens);
        let mut position = kept;
        for chunk in tokens[kept..].chunks(CHUNK) {
            if is_cancelled() {
                return Err(ReadError::Cancelled);
            }
            self.read(chunk, position, false)?;
            position += chunk.len();
            if chunk.len() == CHUNK {
                self.chunks.extend_from_slice(chunk);
            }
        }
        Ok(kept)
    }

    /// Reads one token of an answer.
    pub(crate) fn read_token(&mut self, token: LlamaToken) -> Result<(), ReadError> {
        self.read(&[token], self.length, false)
    }

    /// Reads given tokens of an answer, and shows the scores after each.
    pub(crate) fn read_given(
        &mut self,
        tokens: &[LlamaToken],
        mut show: impl FnMut(&[f32]),
    ) -> Result<(), ReadError> {
        for chunk in tokens.chunks(CHUNK) {
            self.read(chunk, self.length, true)?;
            for index in 0..chunk.len() {
                show(self.context.get_logits_ith(index as i32));
            }
        }
        Ok(())
    }

    /// The scores of the token that follows the last one read.
    pub(crate) fn logits(&self) -> &[f32] {
        self.context.get_logits_ith(self.batch.n_tokens() - 1)
    }

    /// Forgets what was read after the prompt; a memory that cannot forget in part reads the prompt again.
    pub(crate) fn rewind(&mut self, prompt: &[LlamaToken]) -> Result<(), ReadError> {
        if self.forget_after(prompt.len()) {
            return Ok(());
        }
        self.forget_all();
        self.read_prompt(prompt, || false).map(|_| ())
    }

    /// Keeps the whole chunks that the prompt begins with, except the last: its end must be read to have scores.
    fn keep_common_chunks(&mut self, tokens: &[LlamaToken]) -> usize {
        let pairs = self.chunks.iter().zip(tokens);
        let common = pairs.take_while(|(old, new)| old == new).count();
        let kept = common.min(tokens.len().saturating_sub(1)) / CHUNK * CHUNK;
        if kept > 0 && self.forget_after(kept) {
            self.chunks.truncate(kept);
            return kept;
        }
        self.forget_all();
        0
    }

    /// Whether memory now ends at a position and still has everything before it.
    fn forget_after(&mut self, length: usize) -> bool {
        let removed = self.context.clear_kv_cache_seq(Some(SEQUENCE), Some(length as u32), None);
        let is_whole = self.context.kv_cache_seq_pos_min(SEQUENCE as i32) == 0;
        self.length = length;
        matches!(removed, Ok(true)) && is_whole
    }

    fn forget_all(&mut self) {
        self.context.clear_kv_cache();
        self.chunks.clear();
        self.length = 0;
    }

    fn read(&mut self, tokens: &[LlamaToken], position: usize, all: bool) -> Result<(), ReadError> {
        self.batch.clear();
        for (index, token) in tokens.iter().enumerate() {
            let has_scores = all || index + 1 == tokens.len();
            let position = i32::try_from(position + index)
                .map_err(|error| ReadError::Failed(error.to_string()))?;
            self.batch
                .add(*token, position, &[SEQUENCE as i32], has_scores)
                .map_err(|error| ReadError::Failed(error.to_string()))?;
        }
        if let Err(error) = self.context.decode(&mut self.batch) {
            self.forget_all();
            return Err(ReadError::Failed(error.to_string()));
        }
        self.length = position + tokens.len();
        Ok(())
    }
}
