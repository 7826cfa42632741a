//! The probability of each of a given set of answers.
//!
//! An answer's probability is that of all its tokens, one after the other, at the beginning of the model's turn;
//! what would follow does not count. Each is read as given (teacher forcing) behind the same prompt, which is read once.
//! An answer that another one begins with is therefore never less likely than the longer one.

use fullbench_llm::{CallError, FailureClass, Parameters};
use fullbench_types::{ChoiceProbability, TokenLogprob};
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::token::LlamaToken;

use crate::generate::token_logprob;
use crate::probability::shares;
use crate::prompt::Prompt;
use crate::session::{ReadError, Session};
use crate::worker::call_error;

/// The likeliest answer, and how likely each is.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) text: String,
    pub(crate) tokens: u64,
    pub(crate) probabilities: Vec<ChoiceProbability>,
    pub(crate) logprobs: Option<Vec<TokenLogprob>>,
}

/// Weighs the choices of a request behind a prompt that was just read; of equally likely ones the first is chosen.
pub(crate) fn weigh(
    session: &mut Session<'_>,
    model: &LlamaModel,
    prompt: &mut Prompt<'_>,
    parameters: &Parameters,
    is_cancelled: impl Fn() -> bool,
) -> Result<Chosen, CallError> {
    let vocabulary = model.vocab();
    let first_scores = session.logits().to_vec();
    let mut read: Vec<Vec<TokenLogprob>> = Vec::new();
    for choice in &parameters.choices {
        if is_cancelled() {
            return Err(call_error(ReadError::Cancelled));
        }
        let tokens = prompt.continuation(choice);
        if prompt.tokens.len() + tokens.len() > session.capacity() {
            let message = format!(
                "the prompt has {} tokens and a choice {}, and the model's context holds {}",
                prompt.tokens.len(),
                tokens.len(),
                session.capacity()
            );
            return Err(CallError::new(FailureClass::ContextTooLong, message));
        }
        let mut logprobs = Vec::with_capacity(tokens.len());
        let mut expected = tokens.iter();
        let mut note = |scores: &[f32]| {
            if let Some(LlamaToken(token)) = expected.next() {
                let token = token.unsigned_abs() as usize;
                logprobs.push(token_logprob(&vocabulary, parameters, scores, token));
            }
        };
        note(&first_scores);
        if let Some((_, given @ [_, ..])) = tokens.split_last() {
            session.read_given(given, note).map_err(call_error)?;
            session.rewind(&prompt.tokens).map_err(call_error)?;
        }
        read.push(logprobs);
    }
    let totals: Vec<f64> =
        read.iter().map(|tokens| tokens.iter().map(|token| token.logprob).sum()).collect();
    let best =
        (0..totals.len()).rev().max_by(|left, right| totals[*left].total_cmp(&totals[*right]));
    let best = best.unwrap_or(0);
    let probabilities = parameters.choices.iter().zip(&totals).zip(shares(&totals));
    let probabilities: Vec<ChoiceProbability> = probabilities
        .map(|((choice, logprob), probability)| ChoiceProbability {
            choice: choice.clone(),
            logprob: *logprob,
            probability,
        })
        .collect();
    let logprobs = read.swap_remove(best);
    Ok(Chosen {
        text: parameters.choices[best].clone(),
        tokens: logprobs.len() as u64,
        probabilities,
        logprobs: parameters.top_logprobs.map(|_| logprobs),
    })
}
