//! A judge: built from its configuration, asked for a score.

use std::sync::{Arc, OnceLock};

use fullbench_llm::{ModelConfig, Provider};
use fullbench_types::{
    ContentHash, Criterion, JudgeReply, Judgement, Message, NanoDollars, RubricLevel, Scale, Score,
    UnscoredReason,
};
use tokio::sync::OnceCell;

use crate::ask::Ask;
use crate::batch::{BatchRequest, batch_request};
use crate::config::{JudgeConfig, Method};
use crate::error::JudgeError;
use crate::methods;
use crate::prompts::{Given, PromptError, PromptKind, PromptSet, Slot, format_text, schema_for};
use crate::sampling::{NoScore, Sampler};
use crate::steps::StepsStore;
use crate::subject::Subject;

/// Alternatives asked for at each token.
const ALTERNATIVES: u32 = 20;

/// Longest scale whose numbers are looked for among the alternatives.
const MOST_NUMBERS: i64 = 20;

/// One kind of request of a judge.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) kind: PromptKind,
    pub(crate) model: ModelConfig,
    /// How to reply, in words.
    pub(crate) format: String,
    /// JSON Schema of the reply.
    pub(crate) schema: serde_json::Value,
}

/// A prompt as it would be sent.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderedPrompt {
    /// The request: `g_eval`, `claims_check`, …
    pub name: &'static str,
    /// BLAKE3 of its template.
    pub template: ContentHash,
    /// The model with the parameters of this request.
    pub model: ModelConfig,
    /// The messages.
    pub messages: Vec<Message>,
}

/// A model that judges by one criterion and one method.
pub struct Judge {
    pub(crate) config: JudgeConfig,
    pub(crate) criterion: Criterion,
    pub(crate) scale: Scale,
    pub(crate) levels: Vec<RubricLevel>,
    pub(crate) prompts: PromptSet,
    pub(crate) requests: Vec<Request>,
    /// How several outputs are asked about at a time, where they are.
    pub(crate) batch: Option<BatchRequest>,
    pub(crate) steps_store: OnceLock<Arc<dyn StepsStore>>,
    /// The steps, or why the model could not write them: it is not asked again for every output.
    pub(crate) steps: OnceCell<Result<Vec<String>, String>>,
}

/// What a method found, before it is put into a score.
pub(crate) struct Found {
    /// The score without what all scores of judges have.
    pub(crate) score: Result<Score, NoScore>,
    pub(crate) replies: Vec<JudgeReply>,
    /// The prompts that were sent, one of each kind.
    pub(crate) prompts: Vec<Vec<Message>>,
}

impl Judge {
    /// A judge of single outputs.
    ///
    /// # Errors
    /// Says which setting is wrong and what to do.
    pub fn new(config: JudgeConfig) -> Result<Self, JudgeError> {
        if config.method == Method::Pairwise {
            let hint = "use it where two models are compared";
            return Err(JudgeError::setting("method", "`pairwise` judges two answers", hint));
        }
        Self::build(config)
    }

    pub(crate) fn build(config: JudgeConfig) -> Result<Self, JudgeError> {
        config.check()?;
        let criterion = config.found_criterion()?;
        let mut prompts = PromptSet::builtin()?;
        for (kind, own) in &config.prompts {
            prompts.replace(*kind, own)?;
        }
        let (scale, levels) = match config.method {
            Method::Rubric => (Scale::HUNDRED, in_hundred(&criterion)),
            _ => (criterion.scale, criterion.levels.clone()),
        };
        let needed =
            |kind: &&PromptKind| **kind != PromptKind::GEvalSteps || config.steps.is_empty();
        let requests = config.method.requests().iter().filter(needed);
        let requests: Vec<Request> =
            requests.map(|kind| request(&config, &prompts, *kind, scale)).collect();
        check_models(&config, &requests)?;
        let batch = requests.first().and_then(|single| batch_request(&config, single));
        Ok(Self {
            config,
            criterion,
            scale,
            levels,
            prompts,
            requests,
            batch,
            steps_store: OnceLock::new(),
            steps: OnceCell::new(),
        })
    }

    /// Where the steps it generates are kept; without it they are kept as long as the judge is.
    pub fn keep_steps(&self, store: Arc<dyn StepsStore>) {
        // A judge that has a place keeps it: it is one of the same run.
        let _ = self.steps_store.set(store);
    }

    /// One model for each request the judge makes, with the request's schema and parameters; none when its replies are recorded.
    #[must_use]
    pub fn models(&self) -> Vec<ModelConfig> {
        if self.config.model.provider == Provider::Recorded {
            return Vec::new();
        }
        let batch = self.batch.as_ref().map(|batch| &batch.model);
        self.requests.iter().map(|request| &request.model).chain(batch).cloned().collect()
    }

    /// The judge's configuration.
    #[must_use]
    pub fn config(&self) -> &JudgeConfig {
        &self.config
    }

    /// What it judges.
    #[must_use]
    pub fn criterion(&self) -> &Criterion {
        &self.criterion
    }

    /// The numbers it gives.
    #[must_use]
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// BLAKE3 of the templates it uses.
    #[must_use]
    pub fn template(&self) -> ContentHash {
        let hashes: Vec<ContentHash> =
            self.requests.iter().map(|request| self.template_of(request.kind)).collect();
        match hashes.as_slice() {
            [only] => *only,
            several => {
                let parts: Vec<&[u8]> = several.iter().map(|hash| &hash.0[..]).collect();
                ContentHash::of_parts(&parts)
            }
        }
    }

    pub(crate) fn template_of(&self, kind: PromptKind) -> ContentHash {
        self.prompts.prompt(kind).map_or_else(|| ContentHash::of(b""), |prompt| prompt.hash())
    }

    /// The score of one output.
    pub async fn judge(&self, ask: &dyn Ask, subject: &Subject<'_>) -> Score {
        if let Some(missing) = self.missing_of(subject.references, subject.context) {
            return self.finished(Found {
                score: Err(missing),
                replies: Vec::new(),
                prompts: Vec::new(),
            });
        }
        let sampler = Sampler {
            ask,
            key: subject.key,
            repetition: subject.repetition,
            retries: self.config.retries,
        };
        let found = match self.config.method {
            Method::GEval | Method::Rubric | Method::Reference => {
                methods::rating::judge(self, sampler, subject).await
            }
            Method::Binary => methods::binary::judge(self, sampler, subject).await,
            Method::Claims => methods::claims::judge(self, sampler, subject).await,
            Method::Pairwise => Found {
                score: Err(NoScore::new(
                    UnscoredReason::ScorerError,
                    "`pairwise` judges two answers",
                )),
                replies: Vec::new(),
                prompts: Vec::new(),
            },
        };
        self.finished(found)
    }

    /// The prompts for one output as they would be sent. Steps and claims that are not known yet are named in their place.
    ///
    /// # Errors
    /// When a template of the user fails on this subject.
    pub fn prompts(&self, subject: &Subject<'_>) -> Result<Vec<RenderedPrompt>, PromptError> {
        let unknown = ["(written by the model when it is first asked)".to_owned()];
        let steps = match self.steps.get() {
            Some(Ok(steps)) => steps.as_slice(),
            _ if self.config.steps.is_empty() => &unknown,
            _ => &self.config.steps,
        };
        self.requests
            .iter()
            .map(|request| {
                let slots = match request.kind {
                    PromptKind::GEvalSteps => Vec::new(),
                    PromptKind::ClaimsSplit => self.split_slots(subject),
                    PromptKind::ClaimsCheck => {
                        self.check_slots(subject, "(each claim of the answer)")
                    }
                    _ => self.slots(subject),
                };
                Ok(RenderedPrompt {
                    name: request.kind.as_str(),
                    template: self.template_of(request.kind),
                    model: request.model.clone(),
                    messages: self.prompts.render(
                        request.kind,
                        &self.given(request, steps),
                        &slots,
                    )?,
                })
            })
            .collect()
    }

    /// What is missing to judge a subject at all.
    pub(crate) fn missing_of(&self, references: &[&str], context: &[&str]) -> Option<NoScore> {
        let method = self.config.method;
        let needs_reference = self.shows_references();
        let needs_context = self.criterion.needs_context || method == Method::Claims;
        let message = if needs_reference && references.is_empty() {
            "the case has no reference, and this judge compares with one"
        } else if needs_context && context.is_empty() {
            "the case has no context, and this judge compares with it"
        } else {
            return None;
        };
        Some(NoScore::new(UnscoredReason::MissingReference, message))
    }

    /// References are shown only to judges that compare with them: to others they would be a hint at what to prefer.
    pub(crate) fn shows_references(&self) -> bool {
        self.criterion.needs_reference || self.config.method == Method::Reference
    }

    pub(crate) fn given<'judge>(
        &'judge self,
        request: &'judge Request,
        steps: &'judge [String],
    ) -> Given<'judge> {
        Given {
            criterion: &self.criterion,
            scale: self.scale,
            levels: &self.levels,
            steps,
            format: &request.format,
        }
    }

    /// The framed texts of a prompt that shows everything.
    pub(crate) fn slots<'text>(&self, subject: &Subject<'text>) -> Vec<Slot<'text>> {
        let references = if self.shows_references() { subject.references } else { &[] };
        vec![
            Slot::One("input", subject.input),
            Slot::Many("context", "context", subject.context.to_vec()),
            Slot::Many("references", "reference", references.to_vec()),
            Slot::One("output", subject.output),
        ]
    }

    pub(crate) fn split_slots<'text>(&self, subject: &Subject<'text>) -> Vec<Slot<'text>> {
        vec![Slot::One("input", subject.input), Slot::One("output", subject.output)]
    }

    pub(crate) fn check_slots<'text>(
        &self,
        subject: &Subject<'text>,
        claim: &'text str,
    ) -> Vec<Slot<'text>> {
        vec![Slot::Many("context", "context", subject.context.to_vec()), Slot::One("claim", claim)]
    }

    /// The score with everything that is kept of a judgement.
    pub(crate) fn finished(&self, found: Found) -> Score {
        let Found { score, replies, prompts } = found;
        let score = score
            .unwrap_or_else(|missing| Score::unscored(missing.reason).because(missing.message));
        let cost = total_cost(&replies);
        let cached = replies.iter().any(|reply| reply.cached);
        Score {
            cost,
            cached,
            judgement: Some(Box::new(self.judgement(replies, &prompts))),
            ..score
        }
    }

    pub(crate) fn judgement(
        &self,
        replies: Vec<JudgeReply>,
        prompts: &[Vec<Message>],
    ) -> Judgement {
        Judgement {
            judge: None,
            criterion: self.criterion.name.clone(),
            method: self.config.method.as_str().to_owned(),
            model: self.config.model.display_name(),
            prompt: prompts
                .iter()
                .map(|messages| prompt_text(messages))
                .collect::<Vec<_>>()
                .join("\n\n"),
            template: self.template(),
            threshold: self.config.threshold,
            replies,
        }
    }
}

/// What all replies cost; none where no price is known.
pub(crate) fn total_cost(replies: &[JudgeReply]) -> Option<NanoDollars> {
    let known: Vec<NanoDollars> = replies.iter().filter_map(|reply| reply.cost).collect();
    (!known.is_empty()).then(|| known.into_iter().sum())
}

/// A template failed on a subject.
pub(crate) fn prompt_failed(error: &PromptError) -> NoScore {
    NoScore::new(UnscoredReason::ScorerError, error.to_string())
}

pub(crate) fn prompt_text(messages: &[Message]) -> String {
    let shown =
        messages.iter().map(|message| format!("[{}]\n{}", message.role.as_str(), message.content));
    shown.collect::<Vec<_>>().join("\n\n")
}

/// The levels on a scale from 0 to 100.
fn in_hundred(criterion: &Criterion) -> Vec<RubricLevel> {
    let levels = criterion.levels.iter().map(|level| {
        let value = criterion.scale.value(f64::from(level.score));
        let score = Scale::HUNDRED.raw(value).round() as i32;
        RubricLevel { score, description: level.description.clone() }
    });
    levels.collect()
}

/// Refuses what the provider would, before any call.
fn check_models(config: &JudgeConfig, requests: &[Request]) -> Result<(), JudgeError> {
    if config.model.provider == Provider::Recorded {
        return Ok(());
    }
    for request in requests {
        request.model.validate().map_err(|error| match error.field.as_str() {
            "top_logprobs" => JudgeError::setting("logprobs", error.message, "use `auto` or `off`"),
            _ => JudgeError::Model(error),
        })?;
    }
    Ok(())
}

fn request(config: &JudgeConfig, prompts: &PromptSet, kind: PromptKind, scale: Scale) -> Request {
    let schema = prompts.prompt(kind).map(|prompt| schema_for(&prompt.schema, scale));
    let schema = schema.unwrap_or_default();
    let format = format_text(&schema, config.enforces_schema());
    let is_rating = matches!(kind, PromptKind::GEval | PromptKind::Reference);
    let is_short = i64::from(scale.max) - i64::from(scale.min) < MOST_NUMBERS;
    let asks_logprobs = is_rating && is_short && config.asks_logprobs();
    let is_sampled = !matches!(kind, PromptKind::GEvalSteps);
    let mut model = config.model.clone();
    model.temperature = match is_sampled {
        true => config.effective_temperature(),
        false => config.model.temperature.or((!config.reasons()).then_some(0.0)),
    };
    model.max_tokens = config.effective_max_tokens();
    model.top_logprobs = asks_logprobs.then_some(ALTERNATIVES);
    model.json_schema = config.enforces_schema().then(|| schema.clone());
    Request { kind, model, format, schema }
}
