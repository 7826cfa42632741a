//! Several outputs in one prompt: cheaper, since what is common is sent once.
//!
//! Items carry ids that no text can guess, stand in an order that no position effect can follow, and each reply is taken only where
//! its id names exactly one of the items: what is missing, doubled or renamed is asked for again by itself. A judgement is read by the
//! method's own reader, so that nothing counts in a batch that would not count alone.

mod prompt;
mod reply;

use fullbench_types::{
    ContentHash, Generation, JudgeReply, Message, NanoDollars, Score, UnscoredReason, Usage,
};
use futures::future::join_all;

use crate::ask::{Ask, AskError, Question};
use crate::judge::Judge;
use crate::methods;
use crate::sampling::Sampler;
use crate::subject::Subject;

pub(crate) use prompt::{BatchRequest, batch_request};

use prompt::Batch;
use reply::read_items;

/// What tells replies from batches of so many items apart from others in the response cache: added to the sample's number, times the size.
const BATCH_STEP: u32 = 1_000_000;

/// What is kept in the place of a part of a batch for an item that was asked about by itself.
const ALONE: &str = "asked by itself";

/// Most items of a prompt.
pub(crate) const MOST_ITEMS: u32 = 100;

impl Judge {
    /// How many outputs it judges with one prompt.
    #[must_use]
    pub fn batch_size(&self) -> usize {
        self.config.batch.max(1) as usize
    }

    /// The scores of several outputs, in the same order.
    pub async fn judge_all(&self, ask: &dyn Ask, subjects: &[Subject<'_>]) -> Vec<Score> {
        let Some(request) = self.batch.as_ref().filter(|_| !ask.is_recorded()) else {
            return join_all(subjects.iter().map(|subject| self.judge(ask, subject))).await;
        };
        let Some(first) = subjects.first() else { return Vec::new() };
        let sampler = Sampler { ask, key: first.key, repetition: 0, retries: self.config.retries };
        let steps = methods::rating::steps_of(self, sampler).await;
        let Ok(known_steps) = &steps.result else {
            return join_all(subjects.iter().map(|subject| self.judge(ask, subject))).await;
        };
        let mut scores: Vec<Option<Score>> = vec![None; subjects.len()];
        let mut open = Vec::new();
        for (at, subject) in subjects.iter().enumerate() {
            if self.missing_of(subject.references, subject.context).is_some() {
                scores[at] = Some(self.judge(ask, subject).await);
                continue;
            }
            match self.kept_part(ask, known_steps, subject).await {
                Some(score) => scores[at] = Some(score),
                None => open.push(at),
            }
        }
        // Neighbours in the data resemble each other: an order of its own spreads them.
        open.sort_by_key(|at| {
            ContentHash::of_parts(&[
                b"batch",
                subjects[*at].key.as_bytes(),
                subjects[*at].output.as_bytes(),
            ])
            .0
        });
        let batches = open.chunks(self.batch_size()).map(|chunk| async move {
            let of_chunk: Vec<Subject<'_>> = chunk.iter().map(|at| subjects[*at]).collect();
            (chunk, self.judge_batch(request, ask, known_steps, &of_chunk).await)
        });
        for (chunk, judged) in join_all(batches).await {
            for (at, score) in chunk.iter().zip(judged) {
                scores[*at] = Some(score);
            }
        }
        // The steps were paid for once, by the first.
        if let Some(Some(score)) = scores.first_mut() {
            prepend(score, steps.replies);
        }
        let missing = || Score::unscored(UnscoredReason::ScorerError);
        scores.into_iter().map(|score| score.unwrap_or_else(missing)).collect()
    }

    /// Judges some outputs with one prompt, and by themselves those that the reply does not judge.
    async fn judge_batch(
        &self,
        request: &BatchRequest,
        ask: &dyn Ask,
        steps: &[String],
        subjects: &[Subject<'_>],
    ) -> Vec<Score> {
        let alone =
            async || join_all(subjects.iter().map(|one| self.judge_alone(ask, steps, one))).await;
        let Some(first) = subjects.first().filter(|_| subjects.len() > 1) else {
            return alone().await;
        };
        let Ok(batch) = Batch::render(self, request, steps, subjects) else {
            return alone().await;
        };
        let question = Question {
            request: self.requests.len(),
            name: "batch",
            key: first.key,
            messages: batch.messages.clone(),
            repetition: first.repetition,
            sample: 0,
        };
        let generation = match ask.ask(question).await {
            Ok(generation) => generation,
            // What the budget or a stop cut off stays open; another failure may be that of the long prompt.
            Err(error) => match error.reason() {
                reason @ (UnscoredReason::BudgetExhausted | UnscoredReason::Cancelled) => {
                    let unasked = Score::unscored(reason).because(error.to_string());
                    return subjects.iter().map(|_| unasked.clone()).collect();
                }
                _ => return alone().await,
            },
        };
        let parts = read_items(&generation, &batch.ids);
        let judged = subjects.iter().zip(parts).enumerate().map(|(at, (subject, part))| {
            let share = share_of(&generation, at, subjects.len());
            self.judge_part(ask, steps, subject, (part, share), &batch)
        });
        join_all(judged).await
    }

    /// The score of one item by its part of the reply, or, where that is none, by itself.
    async fn judge_part(
        &self,
        ask: &dyn Ask,
        steps: &[String],
        subject: &Subject<'_>,
        (part, share): (Result<String, String>, Generation),
        batch: &Batch,
    ) -> Score {
        let size = batch.ids.len();
        let problem = match part {
            Ok(text) => {
                let part = Generation { text, ..share.clone() };
                let score = self.judge(&Part(&part), subject).await;
                if is_judged(&score) {
                    if let Some(question) = self.part_question(steps, subject) {
                        ask.keep(&question, &part).await;
                    }
                    return self.in_batch(score, &batch.messages, size);
                }
                let said =
                    score.judgement.and_then(|judgement| judgement.replies.into_iter().next());
                said.and_then(|reply| reply.problem).or(score.reasoning).unwrap_or_default()
            }
            Err(problem) => problem,
        };
        let mut score = self.judge_alone(ask, steps, subject).await;
        let reply = JudgeReply {
            sample: 0,
            part: Some(format!("batch of {size}")),
            text: String::new(),
            score: None,
            distribution: Vec::new(),
            problem: Some(problem),
            input_tokens: share.usage.unwrap_or_default().input_tokens,
            output_tokens: share.usage.unwrap_or_default().output_tokens,
            latency_us: share.latency_us,
            cost: share.cost,
            cached: share.cached,
            saved: share.saved,
            endpoint: share.endpoint,
        };
        prepend(&mut score, vec![reply]);
        score
    }

    /// The score of an output by itself. The next run asks in the same way, which the response cache answers, whatever its batches are.
    async fn judge_alone(&self, ask: &dyn Ask, steps: &[String], subject: &Subject<'_>) -> Score {
        let score = self.judge(ask, subject).await;
        if is_judged(&score)
            && let Some(question) = self.part_question(steps, subject)
        {
            ask.keep(&question, &Generation::recorded(ALONE.to_owned())).await;
        }
        score
    }

    /// The score of an item whose part of a batch is in the response cache.
    async fn kept_part(
        &self,
        ask: &dyn Ask,
        steps: &[String],
        subject: &Subject<'_>,
    ) -> Option<Score> {
        let size = self.batch_size();
        let question = self.part_question(steps, subject)?;
        let part = ask.kept(&question).await?;
        if part.text == ALONE {
            return Some(self.judge(ask, subject).await);
        }
        let score = self.judge(&Part(&part), subject).await;
        is_judged(&score).then(|| self.in_batch(score, &question.messages, size))
    }

    /// The question that stands for an item in batches of so many: the one it would be asked by itself.
    fn part_question<'subject>(
        &self,
        steps: &[String],
        subject: &Subject<'subject>,
    ) -> Option<Question<'subject>> {
        let request = self.requests.first()?;
        let given = self.given(request, steps);
        let messages = self.prompts.render(request.kind, &given, &self.slots(subject)).ok()?;
        Some(Question {
            request: self.requests.len(),
            name: "batch",
            key: subject.key,
            messages,
            repetition: subject.repetition,
            sample: BATCH_STEP * self.config.batch,
        })
    }

    /// Marks a score as one of a batch.
    fn in_batch(&self, mut score: Score, messages: &[Message], size: usize) -> Score {
        if let Some(judgement) = &mut score.judgement {
            for reply in &mut judgement.replies {
                reply.part = Some(format!("batch of {size}"));
            }
            judgement.prompt = crate::judge::prompt_text(messages);
            judgement.template = self.batch_template();
        }
        score
    }
}

/// Whether a score is one, or a judge's word that it cannot tell.
fn is_judged(score: &Score) -> bool {
    let unsure = score.outcome.reason() == Some(UnscoredReason::PendingHuman);
    score.value.is_some() || unsure
}

/// Puts replies before those of a score, which then costs as much more.
fn prepend(score: &mut Score, mut replies: Vec<JudgeReply>) {
    let costs: Vec<NanoDollars> = replies.iter().filter_map(|reply| reply.cost).collect();
    if !costs.is_empty() {
        let more: NanoDollars = costs.into_iter().sum();
        score.cost = Some(score.cost.unwrap_or_default() + more);
    }
    if let Some(judgement) = &mut score.judgement {
        replies.append(&mut judgement.replies);
        judgement.replies = replies;
    }
}

/// Answers with one item's part of a batch, once.
struct Part<'part>(&'part Generation);

#[async_trait::async_trait]
impl Ask for Part<'_> {
    async fn ask(&self, question: Question<'_>) -> Result<Generation, AskError> {
        if question.sample == 0 {
            return Ok(self.0.clone());
        }
        Err(AskError::NotConnected { request: question.request })
    }
}

/// A batch's reply as that of one item, without its text: equal parts of tokens and money that add up to the whole.
fn share_of(whole: &Generation, at: usize, items: usize) -> Generation {
    let (at, items) = (at as u64, items as u64);
    let part = |whole: u64| whole / items + u64::from(at < whole % items);
    let money =
        |whole: NanoDollars| NanoDollars(part(whole.0.max(0).cast_unsigned()).cast_signed());
    let usage = whole.usage.map(|usage| Usage {
        input_tokens: part(usage.input_tokens),
        output_tokens: part(usage.output_tokens),
        cached_input_tokens: part(usage.cached_input_tokens),
        cache_write_tokens: part(usage.cache_write_tokens),
        reasoning_tokens: part(usage.reasoning_tokens),
    });
    Generation {
        usage,
        latency_us: whole.latency_us,
        cost: whole.cost.map(money),
        saved: whole.saved.map(money),
        cached: whole.cached,
        attempts: whole.attempts,
        endpoint: whole.endpoint.clone(),
        finish_reason: whole.finish_reason,
        reported_model: whole.reported_model.clone(),
        ..Generation::recorded(String::new())
    }
}
