//! The thread that owns a model: takes requests in the order they came, one after the other.
//!
//! One text at a time, on purpose: several sequences in one batch would share the work of reading the weights, but a
//! matrix product rounds differently with other columns beside it, and a text would depend on what else was
//! asked at the same time.

use std::path::Path;
use std::time::{Duration, Instant};

use fullbench_llm::{CallError, FailureClass, GenerationRequest, RateHeaders, Reply};
use fullbench_types::{FinishReason, Generation, TokenLogprob, Usage};
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;
use llama_cpp_2::vocab::VocabType;
use tokio::sync::{Mutex, mpsc, oneshot};

use crate::backend;
use crate::choices::weigh;
use crate::error::LocalError;
use crate::generate::Generator;
use crate::options::LocalOptions;
use crate::prompt::{Prompt, Prompts};
use crate::request::{refuse_unsupported, seed_of};
use crate::schema::Schemas;
use crate::session::{ReadError, Session};

/// Models compute in turn, in the order they ask: the threads of one wait for each other without sleeping, and two
/// models on the same processors would only keep each other waiting.
static TURN: Mutex<()> = Mutex::const_new(());

/// A request on its way to the worker.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) request: GenerationRequest,
    /// Where the answer goes; closed when nobody waits for it any more.
    pub(crate) reply: oneshot::Sender<Result<Reply, CallError>>,
    /// Where the pieces of the text go as they are made.
    pub(crate) pieces: Option<mpsc::UnboundedSender<String>>,
}

/// What is known of a loaded model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct About {
    /// The name in the file.
    pub(crate) name: Option<String>,
    /// Tokens that prompt and answer may have together.
    pub(crate) context_tokens: usize,
}

/// Loads a model, says how that went, and answers until nobody can ask any more.
pub(crate) fn run(
    path: &Path,
    options: &LocalOptions,
    loaded: &std::sync::mpsc::Sender<Result<About, LocalError>>,
    mut jobs: mpsc::Receiver<Job>,
) {
    let model = match load(path) {
        Ok(model) => model,
        Err(error) => return drop(loaded.send(Err(error))),
    };
    let session = match Session::new(&model, options) {
        Ok(session) => session,
        Err(error) => return drop(loaded.send(Err(error))),
    };
    let about =
        About { name: model.meta_val_str("general.name").ok(), context_tokens: session.capacity() };
    let prompts = Prompts::new(&model);
    let mut worker = Worker { model: &model, prompts: &prompts, session, schemas: None, about };
    if loaded.send(Ok(worker.about.clone())).is_err() {
        return;
    }
    while let Some(job) = jobs.blocking_recv() {
        let turn = TURN.blocking_lock();
        let answer = if job.reply.is_closed() { None } else { Some(worker.answer(&job)) };
        drop(turn);
        if let Some(answer) = answer {
            // Whoever asked may have gone; then the answer is for nobody.
            let _ = job.reply.send(answer);
        }
    }
}

fn load(path: &Path) -> Result<LlamaModel, LocalError> {
    let refused = || LocalError::Refused(path.to_owned());
    let parameters = LlamaModelParams::default().with_n_gpu_layers(0);
    let model =
        LlamaModel::load_from_file(backend::get()?, path, &parameters).map_err(|_| refused())?;
    let architecture = model.meta_val_str("general.architecture").unwrap_or_default();
    if model.meta_val_str(&format!("{architecture}.pooling_type")).is_ok() {
        return Err(LocalError::Embedding(path.to_owned()));
    }
    if model.vocab().vocab_type() == VocabType::NONE {
        return Err(refused());
    }
    Ok(model)
}

struct Worker<'model> {
    model: &'model LlamaModel,
    prompts: &'model Prompts<'model>,
    session: Session<'model>,
    /// Made for the first schema: it takes a walk through the whole vocabulary.
    schemas: Option<Schemas>,
    about: About,
}

/// Texts of one request, the first of which is its answer.
#[derive(Debug, Default)]
struct Texts {
    texts: Vec<String>,
    finish_reason: Option<FinishReason>,
    logprobs: Option<Vec<TokenLogprob>>,
    output_tokens: u64,
    first_token: Option<Instant>,
}

impl<'model> Worker<'model> {
    fn answer(&mut self, job: &Job) -> Result<Reply, CallError> {
        let started = Instant::now();
        let request = &job.request;
        let parameters = &request.parameters;
        refuse_unsupported(parameters)?;
        let mut prompt = self.prompt(request)?;
        let is_cancelled = || job.reply.is_closed();
        let kept = self.session.read_prompt(&prompt.tokens, is_cancelled).map_err(call_error)?;
        let mut generation = Generation {
            usage: Some(Usage {
                input_tokens: prompt.tokens.len() as u64,
                cached_input_tokens: kept as u64,
                ..Usage::default()
            }),
            finish_reason: FinishReason::Stop,
            reported_model: self.about.name.clone(),
            attempts: 1,
            ..Generation::recorded(String::new())
        };
        let first_token;
        let output_tokens;
        if parameters.choices.is_empty() {
            let texts = self.texts(job, &prompt)?;
            let mut alternatives = texts.texts.into_iter();
            generation.text = alternatives.next().unwrap_or_default();
            generation.alternatives = alternatives.collect();
            generation.finish_reason = texts.finish_reason.unwrap_or(FinishReason::Stop);
            generation.logprobs = texts.logprobs;
            first_token = texts.first_token;
            output_tokens = texts.output_tokens;
        } else {
            let chosen =
                weigh(&mut self.session, self.model, &mut prompt, parameters, is_cancelled)?;
            first_token = Some(Instant::now());
            output_tokens = chosen.tokens;
            generation.text = chosen.text;
            generation.logprobs = chosen.logprobs;
            generation.choices = Some(chosen.probabilities);
            if let Some(pieces) = &job.pieces {
                let _ = pieces.send(generation.text.clone());
            }
        }
        if let Some(usage) = &mut generation.usage {
            usage.output_tokens = output_tokens;
        }
        generation.latency_us = microseconds(started.elapsed());
        if parameters.stream {
            generation.time_to_first_token_us =
                first_token.map(|first| microseconds(first.duration_since(started)));
        }
        Ok(Reply { generation, rate: RateHeaders::default() })
    }

    /// The prompt, refused when no token of an answer would fit behind it.
    fn prompt(&self, request: &GenerationRequest) -> Result<Prompt<'model>, CallError> {
        let too_long = |tokens: String| {
            let capacity = self.about.context_tokens;
            let message = format!(
                "the prompt has {tokens} tokens, and the model's context holds {capacity} with the answer"
            );
            CallError::new(FailureClass::ContextTooLong, message)
        };
        let bytes: usize = request.messages.iter().map(|message| message.content.len()).sum();
        let fewest = self.prompts.fewest_tokens(bytes);
        if fewest > self.about.context_tokens {
            return Err(too_long(format!("at least {fewest}")));
        }
        let prompt = self
            .prompts
            .prompt(&request.messages, &request.parameters.choices)
            .map_err(|message| CallError::new(FailureClass::BadRequest, message))?;
        if prompt.tokens.is_empty() {
            return Err(CallError::new(FailureClass::BadRequest, "the prompt is empty"));
        }
        if prompt.tokens.len() >= self.about.context_tokens {
            return Err(too_long(prompt.tokens.len().to_string()));
        }
        Ok(prompt)
    }

    /// The answer and its alternatives, written one after the other behind the same prompt.
    fn texts(&mut self, job: &Job, prompt: &Prompt<'_>) -> Result<Texts, CallError> {
        let parameters = &job.request.parameters;
        if let (Some(_), None) = (&parameters.json_schema, &self.schemas) {
            let schemas = Schemas::new(self.model)
                .map_err(|message| CallError::new(FailureClass::Server, message))?;
            self.schemas = Some(schemas);
        }
        let seed = seed_of(&job.request);
        let first_scores = self.session.logits().to_vec();
        let mut texts = Texts::default();
        for alternative in 0..parameters.n.unwrap_or(1) {
            if alternative > 0 {
                self.session.rewind(&prompt.tokens).map_err(call_error)?;
            }
            let schema = match (&parameters.json_schema, &self.schemas) {
                (Some(schema), Some(schemas)) => {
                    Some(schemas.matcher(schema).map_err(|reason| {
                        let message = format!("`json_schema` cannot be enforced: {reason}");
                        CallError::new(FailureClass::BadRequest, message)
                    })?)
                }
                _ => None,
            };
            let mut generator = Generator::new(
                &mut self.session,
                self.model.vocab(),
                parameters,
                prompt.tokens.len(),
            );
            let pieces = job.pieces.as_ref().filter(|_| alternative == 0);
            let written = generator
                .write(&first_scores, schema, (seed, alternative), pieces, || job.reply.is_closed())
                .map_err(call_error)?;
            texts.output_tokens += written.tokens;
            texts.texts.push(written.text);
            if alternative == 0 {
                texts.finish_reason = Some(written.finish_reason);
                texts.logprobs = written.logprobs;
                texts.first_token = written.first_token;
            }
        }
        Ok(texts)
    }
}

fn microseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// A failure to read as a failure of the call.
pub(crate) fn call_error(error: ReadError) -> CallError {
    match error {
        ReadError::Cancelled => CallError::new(FailureClass::Timeout, "the request was given up"),
        ReadError::Failed(message) => {
            CallError::new(FailureClass::Server, format!("llama.cpp failed: {message}"))
        }
    }
}
