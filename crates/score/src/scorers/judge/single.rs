//! `g_eval`, `rubric`, `binary`, `reference`, `claims`: one judge looks at one output.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use fullbench_judge::{
    CriterionChoice, Judge, JudgeConfig, Logprobs, Method, PromptKind, PromptOverride, Structured,
    Subject,
};
use fullbench_llm::{ModelConfig, ModelHandle};
use fullbench_types::{Criterion, JudgeReference, Score, UnscoredReason};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::connection::Connection;
use super::similar::{SemanticCache, SimilarParameters};
use super::subject::Shown;
use super::{calls, problem, settled};
use crate::memory::Memory;
use crate::registry::ScorerConfigError;
use crate::scorer::{AskedCall, Item};
use crate::scorers::{BatchScorer, Parameters};

/// Parameters of a judge.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct JudgeParameters {
    /// What is judged: the name of a criterion, which `fullbench criterion list` shows, or a criterion written in place.
    #[serde(default)]
    criterion: Option<CriterionChoice>,
    /// The model that judges: `provider:model`, or a mapping as under `models`. Not needed with `replies`.
    #[serde(default)]
    #[schemars(with = "Option<Value>")]
    model: Option<Value>,
    /// `g_eval` only: the evaluation steps; written by the model, once, unless given.
    #[serde(default)]
    steps: Vec<String>,
    /// How often the model is asked about one output, 1 to 100.
    #[serde(default = "one")]
    samples: u32,
    /// Sampling temperature; 0 for one sample and 0.7 for several unless given.
    #[serde(default)]
    temperature: Option<f64>,
    /// Most tokens of a reply; 2048 unless given.
    #[serde(default)]
    max_tokens: Option<u32>,
    /// How often a reply that is no judgement is asked for again, 0 to 10.
    #[serde(default = "one")]
    retries: u32,
    /// How the reply gets its shape: by a JSON Schema that the provider takes, or by the prompt alone.
    #[serde(default)]
    structured: Structured,
    /// Whether log-probabilities of the score are asked for.
    #[serde(default)]
    logprobs: Logprobs,
    /// Passed when the value, from 0 to 1, is at least this much; the criterion's threshold of the day unless given.
    #[serde(default)]
    threshold: Option<f64>,
    /// How many outputs are shown in one prompt, 1 to 100: cheaper, since what is common is sent once. Items are told apart by ids, and what a reply leaves out is asked for by itself. Not for `claims`.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    batch: u32,
    /// Templates in the place of built-in ones, by request: `g_eval`, `g_eval_steps`, `rubric`, …
    #[serde(default)]
    prompts: BTreeMap<PromptKind, PromptOverride>,
    /// The field of a case with the context the answer was to rest on: a text, or a list of them.
    #[serde(default = "context")]
    context: String,
    /// Semantic cache: the score of an output that says the same as one judged before, by the same judge and reference, is taken from there. Off unless given; `{}` for the defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    similar: Option<SimilarParameters>,
    /// Replies given before, instead of a model: a JSON Lines file with rows such as `{"id": "case 1", "replies": ["…"]}`.
    #[serde(default)]
    #[schemars(with = "Option<Value>")]
    replies: Option<Value>,
    /// The stored judge this is; filled in by `type: judge`.
    #[serde(default)]
    #[schemars(with = "Option<Value>")]
    stored: Option<JudgeReference>,
}

fn one() -> u32 {
    1
}

fn is_one(number: &u32) -> bool {
    *number == 1
}

fn context() -> String {
    "context".to_owned()
}

impl JudgeParameters {
    /// The judge's configuration for a method.
    pub(super) fn config(&self, method: Method) -> Result<JudgeConfig, ScorerConfigError> {
        Ok(JudgeConfig {
            name: self.stored.as_ref().map(|stored| stored.name.clone()),
            method,
            criterion: self.criterion.clone(),
            model: model(self.model.as_ref(), self.replies.is_some())?,
            steps: self.steps.clone(),
            samples: self.samples,
            temperature: self.temperature,
            max_tokens: self.max_tokens,
            retries: self.retries,
            structured: self.structured,
            logprobs: self.logprobs,
            threshold: self.threshold,
            batch: self.batch,
            prompts: self.prompts.clone(),
        })
    }

    pub(super) fn connection(&self) -> Result<Connection, ScorerConfigError> {
        Connection::new(self.replies.as_ref())
    }

    pub(super) fn context_field(&self) -> &str {
        &self.context
    }

    /// A parameter that is given and has no meaning in a panel's member.
    pub(super) fn not_for_members(&self) -> Option<&'static str> {
        let given = [
            ("replies", self.replies.is_some()),
            ("context", self.context != context()),
            ("batch", self.batch != 1),
            ("similar", self.similar.is_some()),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
    }

    pub(super) fn takes_similar(&self) -> bool {
        self.similar.is_some()
    }

    pub(super) fn stored(&self) -> Option<&JudgeReference> {
        self.stored.as_ref()
    }
}

/// The model of a judge; with recorded replies none is needed.
fn model(given: Option<&Value>, recorded: bool) -> Result<ModelConfig, ScorerConfigError> {
    let wrong = |message: String| {
        ScorerConfigError::at("model", message)
            .hint("name the judging model, for example `model: openai:gpt-4o-mini`")
    };
    match given {
        _ if recorded => ModelConfig::parse("recorded").map_err(|error| wrong(error.message)),
        None => Err(wrong("a judge needs a model".to_owned())),
        Some(Value::String(text)) => ModelConfig::parse(text).map_err(|error| wrong(error.message)),
        Some(mapping) => {
            serde_json::from_value(mapping.clone()).map_err(|error| wrong(error.to_string()))
        }
    }
}

/// A judge of single outputs.
pub(crate) struct SingleJudge {
    judge: Judge,
    connection: Connection,
    context_field: String,
    stored: Option<JudgeReference>,
    similar: Option<SemanticCache>,
    is_binary: bool,
}

impl SingleJudge {
    fn new(parameters: &JudgeParameters, method: Method) -> Result<Self, ScorerConfigError> {
        let config = parameters.config(method)?;
        let judge = Judge::new(config).map_err(|error| problem(&error))?;
        let similar = parameters.similar.clone();
        similar.as_ref().map_or(Ok(()), SimilarParameters::check)?;
        Ok(Self {
            similar: similar.map(|similar| SemanticCache::new(similar, &judge)),
            judge,
            connection: parameters.connection()?,
            context_field: parameters.context_field().to_owned(),
            stored: parameters.stored().cloned(),
            is_binary: method == Method::Binary,
        })
    }
}

impl SingleJudge {
    /// What the judge says.
    async fn judged(&self, subjects: &[Subject<'_>]) -> Vec<Score> {
        let scores = self.judge.judge_all(&self.connection, subjects).await;
        scores.into_iter().map(|score| settled(score, self.stored.as_ref())).collect()
    }

    /// What was judged before of outputs that say the same, and what the judge says of the others.
    async fn score_similar(
        &self,
        similar: &SemanticCache,
        items: &[Item<'_>],
        subjects: &[Subject<'_>],
    ) -> Vec<Score> {
        let Some(looked) = similar.look(subjects).await else { return self.judged(subjects).await };
        let mut scores: Vec<Option<Score>> =
            looked.iter().zip(items).map(|(looked, item)| similar.taken(looked, item)).collect();
        let open: Vec<usize> = (0..scores.len()).filter(|at| scores[*at].is_none()).collect();
        let asked: Vec<Subject<'_>> = open.iter().map(|at| subjects[*at]).collect();
        let mut judged = self.judged(&asked).await.into_iter();
        for (at, looked) in looked.into_iter().enumerate().filter(|(at, _)| open.contains(at)) {
            if let Some(score) = judged.next() {
                scores[at] = Some(similar.keep(looked, &subjects[at], score).await);
            }
        }
        let missing = || Score::unscored(UnscoredReason::ScorerError);
        scores.into_iter().map(|score| score.unwrap_or_else(missing)).collect()
    }
}

#[async_trait]
impl BatchScorer for SingleJudge {
    fn is_binary(&self) -> bool {
        self.is_binary
    }

    fn models(&self) -> Vec<ModelConfig> {
        self.judge.models()
    }

    fn embedders(&self) -> Vec<ModelConfig> {
        self.similar.as_ref().and_then(SemanticCache::embedder).into_iter().collect()
    }

    fn connect(&self, models: Vec<Arc<ModelHandle>>) {
        self.connection.connect(models);
    }

    fn criterion(&self) -> Option<&Criterion> {
        Some(self.judge.criterion())
    }

    fn calls(&self, item: &Item<'_>) -> Vec<AskedCall> {
        let shown = Shown::new(item, &self.context_field);
        shown.shown(item, |subject| calls::of(&self.judge, subject))
    }

    fn batch_size(&self) -> usize {
        self.judge.batch_size()
    }

    fn remember(&self, memory: &Memory) {
        self.judge.keep_steps(Arc::clone(&memory.steps));
        if let (Some(similar), Some(judged)) = (&self.similar, &memory.judged) {
            similar.keep_in(judged);
        }
    }

    fn ready(&self) -> Result<(), ScorerConfigError> {
        self.similar.as_ref().map_or(Ok(()), SemanticCache::ready)
    }

    fn has_paths(&self) -> bool {
        self.similar.is_some()
    }

    async fn score_items(&self, items: &[Item<'_>]) -> Vec<Score> {
        let shown: Vec<Shown> =
            items.iter().map(|item| Shown::new(item, &self.context_field)).collect();
        let lists: Vec<_> = shown.iter().map(Shown::lists).collect();
        let subjects: Vec<Subject<'_>> = items
            .iter()
            .zip(&shown)
            .zip(&lists)
            .map(|((item, shown), (references, context))| shown.subject(item, references, context))
            .collect();
        match &self.similar {
            Some(similar) => self.score_similar(similar, items, &subjects).await,
            None => self.judged(&subjects).await,
        }
    }
}

/// A kind of scorer for a method.
macro_rules! judge {
    ($name:ident, $kind:literal, $method:expr, $binary:literal, $reference:literal, $summary:literal, $example:literal) => {
        #[doc = concat!("Parameters of `", $kind, "`.")]
        #[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        pub(crate) struct $name(JudgeParameters);

        impl Parameters for $name {
            type Scorer = SingleJudge;

            const KIND: &'static str = $kind;
            const SUMMARY: &'static str = $summary;
            const EXAMPLE: &'static str = $example;
            const BINARY: bool = $binary;
            const NEEDS_REFERENCE: bool = $reference;
            const LINES_PARAMETERS: &'static [&'static str] = &["replies"];
            const MODEL_PARAMETERS: &'static [&'static str] = &["similar.model"];
            const LANGUAGE_MODEL_PARAMETERS: &'static [&'static str] = &["model"];

            fn build(self) -> Result<SingleJudge, ScorerConfigError> {
                SingleJudge::new(&self.0, $method)
            }
        }
    };
}

judge!(
    GEval,
    "g_eval",
    Method::GEval,
    false,
    false,
    "A model judges by a criterion's rubric: reasoning first, then a score, weighted by its probabilities where they are told.",
    "{ type: g_eval, criterion: coherence, model: openai:gpt-4o-mini, samples: 5, threshold: 0.7 }"
);
judge!(
    Rubric,
    "rubric",
    Method::Rubric,
    false,
    false,
    "A model gives 0 to 100 points with feedback, strengths, weaknesses and evidence.",
    "{ type: rubric, criterion: helpfulness, model: openai:gpt-4o-mini }"
);
judge!(
    Binary,
    "binary",
    Method::Binary,
    true,
    false,
    "A model says pass, fail or unsure; what it is unsure about waits for a person.",
    "{ type: binary, criterion: safety, model: openai:gpt-4o-mini }"
);
judge!(
    Reference,
    "reference",
    Method::Reference,
    false,
    true,
    "A model judges the output against the reference.",
    "{ type: reference, model: openai:gpt-4o-mini, threshold: 0.75 }"
);
judge!(
    Claims,
    "claims",
    Method::Claims,
    false,
    false,
    "A model splits the output into claims and checks each against the context: the share that is supported, with quotes.",
    "{ type: claims, model: openai:gpt-4o-mini, context: passages }"
);
