//! One sample of a judge: asked, read, and asked again with the complaint when it is no judgement.

use fullbench_types::{FinishReason, Generation, JudgeReply, Message, Role, UnscoredReason};

use crate::ask::{ATTEMPT_STEP, Ask, AskError, Question};
use crate::frame::escape;
use crate::judge::Request;

/// Why there is no score.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NoScore {
    pub(crate) reason: UnscoredReason,
    pub(crate) message: String,
}

impl NoScore {
    pub(crate) fn new(reason: UnscoredReason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into() }
    }

    /// Whether a reply came and was no judgement, as opposed to none at all.
    pub(crate) fn is_unparseable(&self) -> bool {
        self.reason == UnscoredReason::UnparseableJudgement
    }
}

/// What a reply says.
#[derive(Debug, Clone)]
pub(crate) struct Reading<T> {
    pub(crate) value: T,
    pub(crate) score: Option<f64>,
    pub(crate) distribution: Vec<(i32, f64)>,
}

impl<T> Reading<T> {
    /// Something without a number.
    pub(crate) fn of(value: T) -> Self {
        Self { value, score: None, distribution: Vec::new() }
    }
}

/// All replies of a sample, and what came of them.
#[derive(Debug)]
pub(crate) struct Sampled<T> {
    pub(crate) replies: Vec<JudgeReply>,
    pub(crate) result: Result<T, NoScore>,
}

/// The samples of one prompt together.
#[derive(Debug)]
pub(crate) struct Gathered<T> {
    pub(crate) replies: Vec<JudgeReply>,
    pub(crate) values: Vec<T>,
    pub(crate) missing: Vec<NoScore>,
}

impl<T> Gathered<T> {
    pub(crate) fn of(samples: Vec<Sampled<T>>) -> Self {
        let mut gathered = Self { replies: Vec::new(), values: Vec::new(), missing: Vec::new() };
        for Sampled { replies, result } in samples {
            gathered.replies.extend(replies);
            match result {
                Ok(value) => gathered.values.push(value),
                Err(missing) => gathered.missing.push(missing),
            }
        }
        gathered
    }

    /// Why there is no score at all: a call failed, which may pass by itself, and then all is tried again with what the cache has;
    /// or no more than half of the samples gave a judgement.
    pub(crate) fn no_score(&self) -> Option<NoScore> {
        let failed = self.missing.iter().find(|missing| !missing.is_unparseable());
        let is_too_few = self.values.len() <= self.missing.len();
        failed.or_else(|| self.missing.first().filter(|_| is_too_few)).cloned()
    }
}

/// What all samples of a subject share.
#[derive(Clone, Copy)]
pub(crate) struct Sampler<'ask> {
    pub(crate) ask: &'ask dyn Ask,
    pub(crate) key: &'ask str,
    pub(crate) repetition: u32,
    pub(crate) retries: u32,
}

/// Which sample of which request.
#[derive(Debug, Clone)]
pub(crate) struct Place<'ask> {
    pub(crate) index: usize,
    pub(crate) request: &'ask Request,
    pub(crate) sample: u32,
    pub(crate) part: Option<String>,
}

impl Sampler<'_> {
    /// Asks until a reply can be read or no further attempt is allowed.
    pub(crate) async fn sample<T>(
        &self,
        place: Place<'_>,
        mut messages: Vec<Message>,
        read: impl Fn(&Generation) -> Result<Reading<T>, String>,
    ) -> Sampled<T> {
        let mut replies = Vec::new();
        let mut complaint = String::new();
        let attempts = if self.ask.is_recorded() { 1 } else { self.retries + 1 };
        for attempt in 0..attempts {
            let question = Question {
                request: place.index,
                name: place.request.kind.as_str(),
                key: self.key,
                messages: messages.clone(),
                repetition: self.repetition,
                sample: place.sample + ATTEMPT_STEP * attempt,
            };
            let generation = match self.ask.ask(question).await {
                Ok(generation) => generation,
                Err(error) => return Sampled { replies, result: Err(failed(&error)) },
            };
            match read(&generation) {
                Ok(reading) => {
                    replies.push(JudgeReply {
                        score: reading.score,
                        distribution: reading.distribution,
                        ..kept(&generation, &place)
                    });
                    return Sampled { replies, result: Ok(reading.value) };
                }
                Err(problem) => {
                    complaint = with_cut(problem, &generation);
                    let problem = Some(complaint.clone());
                    replies.push(JudgeReply { problem, ..kept(&generation, &place) });
                    messages.extend(again(&generation, &complaint, &place.request.format));
                }
            }
        }
        let message = match &place.part {
            Some(part) => format!("no judgement of {part}: {complaint}"),
            None => format!("no judgement: {complaint}"),
        };
        let result = Err(NoScore::new(UnscoredReason::UnparseableJudgement, message));
        Sampled { replies, result }
    }
}

fn failed(error: &AskError) -> NoScore {
    NoScore::new(error.reason(), format!("the judge gave no reply: {error}"))
}

/// The complaint, with the cause where the reply was cut off.
fn with_cut(problem: String, generation: &Generation) -> String {
    if generation.finish_reason == FinishReason::Length {
        return format!("{problem}; it was cut off at the limit of tokens");
    }
    problem
}

/// The failed reply and what is wrong with it, as further messages.
fn again(generation: &Generation, complaint: &str, format: &str) -> [Message; 2] {
    // A reply may repeat the judged text, and no provider takes an empty message.
    let said = match generation.text.trim() {
        "" => "(nothing)".to_owned(),
        text => escape(text),
    };
    let request =
        format!("This reply cannot be used: {complaint}. Do the same task again.\n{format}");
    [Message::new(Role::Assistant, said), Message::new(Role::User, request)]
}

/// The reply as it is kept.
fn kept(generation: &Generation, place: &Place<'_>) -> JudgeReply {
    let usage = generation.usage.unwrap_or_default();
    JudgeReply {
        sample: place.sample,
        part: place.part.clone(),
        text: generation.text.clone(),
        score: None,
        distribution: Vec::new(),
        problem: None,
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        latency_us: generation.latency_us,
        cost: generation.cost,
        cached: generation.cached,
        saved: generation.saved,
        endpoint: generation.endpoint.clone(),
    }
}
