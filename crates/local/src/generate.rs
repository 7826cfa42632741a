//! Writes one text behind a prompt that was read.

use std::time::Instant;

use fullbench_llm::Parameters;
use fullbench_types::{FinishReason, TokenLogprob, TopLogprob};
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::vocab::LlamaVocab;
use tokio::sync::mpsc;

use crate::answer::AnswerText;
use crate::probability::LogProbabilities;
use crate::sampler::Sampler;
use crate::schema::SchemaMatcher;
use crate::session::{ReadError, Session};

/// Tokens of an answer whose length is not limited.
const DEFAULT_MAX_TOKENS: u32 = 512;

/// Writes texts behind one prompt.
pub(crate) struct Generator<'worker, 'model> {
    session: &'worker mut Session<'model>,
    vocabulary: LlamaVocab<'model>,
    parameters: &'worker Parameters,
    room: usize,
}

/// A text that was written.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) text: String,
    pub(crate) finish_reason: FinishReason,
    pub(crate) logprobs: Option<Vec<TokenLogprob>>,
    pub(crate) tokens: u64,
    pub(crate) first_token: Option<Instant>,
}

impl<'worker, 'model> Generator<'worker, 'model> {
    /// A generator for a prompt of so many tokens.
    pub(crate) fn new(
        session: &'worker mut Session<'model>,
        vocabulary: LlamaVocab<'model>,
        parameters: &'worker Parameters,
        prompt_tokens: usize,
    ) -> Self {
        let most = parameters.max_tokens.unwrap_or(DEFAULT_MAX_TOKENS) as usize;
        let room = session.capacity().saturating_sub(prompt_tokens).min(most);
        Self { session, vocabulary, parameters, room }
    }

    /// Writes until the model is done, a stop text appears, the schema is complete, or there is no room.
    pub(crate) fn write(
        &mut self,
        first_scores: &[f32],
        mut schema: Option<SchemaMatcher>,
        (seed, alternative): (u64, u32),
        pieces: Option<&mpsc::UnboundedSender<String>>,
        is_cancelled: impl Fn() -> bool,
    ) -> Result<Written, ReadError> {
        let mut sampler = Sampler::new(self.parameters, seed, alternative);
        let mut answer = AnswerText::new(&self.parameters.stop);
        let mut logprobs = self.parameters.top_logprobs.map(|_| Vec::new());
        let mut finish_reason = FinishReason::Length;
        let mut first_token = None;
        let mut tokens = 0;
        let mut scores = first_scores;
        while tokens < self.room {
            if is_cancelled() {
                return Err(ReadError::Cancelled);
            }
            let next = match &mut schema {
                None => sampler.next(scores, |_| true),
                Some(schema) if schema.is_complete() => None,
                Some(schema) => {
                    let allowed = schema.allowed().map_err(ReadError::Failed)?;
                    sampler.next(scores, |token| allowed.is_allowed(token as u32))
                }
            };
            let Some(token) = next.filter(|token| !self.ends(*token)) else {
                finish_reason = FinishReason::Stop;
                break;
            };
            if let Some(schema) = &mut schema {
                schema.accept(token).map_err(ReadError::Failed)?;
            }
            if let Some(logprobs) = &mut logprobs {
                logprobs.push(token_logprob(&self.vocabulary, self.parameters, scores, token));
            }
            tokens += 1;
            first_token.get_or_insert_with(Instant::now);
            let has_stopped = answer.push(&bytes_of(&self.vocabulary, token));
            hand_on(pieces, answer.next_piece(false));
            if has_stopped {
                finish_reason = FinishReason::Stop;
                break;
            }
            if tokens < self.room {
                self.session.read_token(LlamaToken(token as i32))?;
                scores = self.session.logits();
            }
        }
        hand_on(pieces, answer.next_piece(true));
        let (text, spelled) = answer.finish();
        if let Some(logprobs) = &mut logprobs {
            spell(logprobs, spelled, finish_reason);
        }
        Ok(Written { text, finish_reason, logprobs, tokens: tokens as u64, first_token })
    }

    fn ends(&self, token: usize) -> bool {
        self.vocabulary.is_eog(LlamaToken(token as i32))
    }
}

/// The log-probability of a token, with the likeliest ones beside it.
pub(crate) fn token_logprob(
    vocabulary: &LlamaVocab<'_>,
    parameters: &Parameters,
    scores: &[f32],
    token: usize,
) -> TokenLogprob {
    let probabilities = LogProbabilities::of(scores);
    let count = parameters.top_logprobs.unwrap_or(0) as usize;
    let top = probabilities.top(count).into_iter().map(|token| TopLogprob {
        token: token_text(vocabulary, token),
        logprob: probabilities.of_token(token),
    });
    TokenLogprob {
        token: token_text(vocabulary, token),
        logprob: probabilities.of_token(token),
        top: top.collect(),
    }
}

/// Gives each token the text it added to the answer, so that together they spell it; tokens behind a stop are dropped.
fn spell(logprobs: &mut Vec<TokenLogprob>, spelled: Vec<String>, finish_reason: FinishReason) {
    for (logprob, text) in logprobs.iter_mut().zip(&spelled) {
        logprob.token.clone_from(text);
    }
    if finish_reason == FinishReason::Stop {
        let kept = spelled.iter().rposition(|text| !text.is_empty()).map_or(0, |last| last + 1);
        logprobs.truncate(kept);
    }
}

/// The bytes a token adds to an answer; none for control tokens.
fn bytes_of(vocabulary: &LlamaVocab<'_>, token: usize) -> Vec<u8> {
    vocabulary.token_to_piece(LlamaToken(token as i32), false, None)
}

/// A token as text of its own: control tokens by their names, bytes that are no text as U+FFFD.
fn token_text(vocabulary: &LlamaVocab<'_>, token: usize) -> String {
    let bytes = vocabulary.token_to_piece(LlamaToken(token as i32), true, None);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hand_on(pieces: Option<&mpsc::UnboundedSender<String>>, piece: &str) {
    if let Some(pieces) = pieces
        && !piece.is_empty()
    {
        // Whoever listened may have gone; the reply tells the worker.
        let _ = pieces.send(piece.to_owned());
    }
}
