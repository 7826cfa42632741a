//! `pairwise`: a judge compares the output with another answer, in both orders.

use std::borrow::Cow;
use std::sync::Arc;

use async_trait::async_trait;
use fullbench_judge::{Method, Pair, PairJudge, Preference, Subject};
use fullbench_llm::{ModelConfig, ModelHandle};
use fullbench_types::{JudgeReference, Score, UnscoredReason, text_of};
use futures::future::join_all;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::connection::Connection;
use super::single::JudgeParameters;
use super::subject::Shown;
use super::{problem, settled};
use crate::registry::ScorerConfigError;
use crate::scorer::{AskedCall, Item, Opposed};
use crate::scorers::expectation::missing_reference;
use crate::scorers::{BatchScorer, Parameters};

/// Parameters of `pairwise`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pairwise {
    /// The field of a case with the answer to compare with; the first reference unless this or `opponent` is given.
    #[serde(default)]
    against: Option<String>,
    /// The model of the run whose answer to the same case is compared with; it answers before the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    opponent: Option<String>,
    /// How it is judged: the parameters of a judge, such as `criterion` and `model`.
    judge: JudgeParameters,
}

/// A judge that compares.
pub(crate) struct PairScorer {
    judge: PairJudge,
    connection: Connection,
    against: Option<String>,
    opponent: Option<String>,
    context_field: String,
    stored: Option<JudgeReference>,
}

impl Parameters for Pairwise {
    type Scorer = PairScorer;

    const KIND: &'static str = "pairwise";
    const SUMMARY: &'static str = "A model compares the output with another answer, in both orders: 1 better, 0 worse, 0.5 a tie or a contradiction between the orders.";
    const EXAMPLE: &'static str = "{ type: pairwise, against: old_answer, judge: { criterion: helpfulness, model: openai:gpt-4o-mini } }";
    const BINARY: bool = false;
    const LINES_PARAMETERS: &'static [&'static str] = &["judge.replies"];
    const LANGUAGE_MODEL_PARAMETERS: &'static [&'static str] = &["judge.model"];

    fn build(self) -> Result<PairScorer, ScorerConfigError> {
        let within = |error: ScorerConfigError| ScorerConfigError {
            field: Some(match &error.field {
                Some(field) => format!("judge.{field}"),
                None => "judge".to_owned(),
            }),
            ..error
        };
        if self.against.is_some() && self.opponent.is_some() {
            let message = "there are both `against` and `opponent`";
            return Err(ScorerConfigError::at("opponent", message).hint("keep one of them"));
        }
        if self.judge.takes_similar() {
            let message = "a comparison is not taken from another";
            return Err(ScorerConfigError::at("judge.similar", message).hint("remove `similar`"));
        }
        let config = self.judge.config(Method::Pairwise).map_err(within)?;
        Ok(PairScorer {
            judge: PairJudge::new(config).map_err(|error| within(problem(&error)))?,
            connection: self.judge.connection().map_err(within)?,
            context_field: self.judge.context_field().to_owned(),
            stored: self.judge.stored().cloned(),
            against: self.against,
            opponent: self.opponent,
        })
    }
}

#[async_trait]
impl BatchScorer for PairScorer {
    fn models(&self) -> Vec<ModelConfig> {
        self.judge.models()
    }

    fn connect(&self, models: Vec<Arc<ModelHandle>>) {
        self.connection.connect(models);
    }

    fn calls(&self, item: &Item<'_>) -> Vec<AskedCall> {
        let Some(model) = self.judge.models().into_iter().next() else { return Vec::new() };
        if matches!(item.other, Some(Opposed::Itself)) {
            return Vec::new();
        }
        let other = self.other(item).unwrap_or_default();
        let shown = Shown::new(item, &self.context_field);
        let prompts = shown.shown(item, |subject| self.judge.prompts(&self.pair(subject, &other)));
        let prompts = prompts.into_iter().flatten();
        prompts
            .map(|messages| AskedCall {
                model: model.clone(),
                messages,
                times: (1, 1),
                together: 1,
                own: String::new(),
            })
            .collect()
    }

    fn opponent(&self) -> Option<&str> {
        self.opponent.as_deref()
    }

    async fn score_items(&self, items: &[Item<'_>]) -> Vec<Score> {
        join_all(items.iter().map(|item| self.score_one(item))).await
    }
}

impl PairScorer {
    /// The answer to compare with, or the score in its place.
    fn other<'unit>(&self, item: &Item<'unit>) -> Result<Cow<'unit, str>, Box<Score>> {
        if let Some(name) = &self.opponent {
            return match item.other {
                Some(Opposed::Answer(text)) => Ok(Cow::Borrowed(text)),
                Some(Opposed::Itself) => {
                    let itself = Score::not_sampled();
                    Err(Box::new(itself.because("a model is not compared with itself")))
                }
                // Asked for again when the run goes on: by then the opponent may have answered.
                Some(Opposed::Missing) | None => {
                    let missing = Score::unscored(UnscoredReason::ProviderError);
                    let why = format!("`{name}` has no answer to compare with");
                    Err(Box::new(missing.because(why)))
                }
            };
        }
        let other = match &self.against {
            Some(field) => item.case.field(field),
            None => item.case.references.first(),
        };
        other.filter(|value| !value.is_null()).map(text_of).ok_or_else(|| {
            let place = self.against.as_deref().unwrap_or("reference");
            let why = format!("the case has no `{place}` to compare with");
            Box::new(missing_reference().because(why))
        })
    }

    fn pair<'text>(&self, subject: &Subject<'text>, other: &'text str) -> Pair<'text> {
        Pair {
            key: subject.key,
            input: subject.input,
            first: subject.output,
            second: other,
            // Shown to judges that need one, unless it is what the output is compared with.
            references: match self.against.as_ref().or(self.opponent.as_ref()) {
                Some(_) => subject.references,
                None => &[],
            },
            context: subject.context,
            repetition: subject.repetition,
        }
    }

    async fn score_one(&self, item: &Item<'_>) -> Score {
        let other = match self.other(item) {
            Ok(other) => other,
            Err(score) => return *score,
        };
        let shown = Shown::new(item, &self.context_field);
        let compared = shown
            .with(item, async |subject| {
                self.judge.compare(&self.connection, &self.pair(subject, &other)).await
            })
            .await;
        settled(score(compared), self.stored.as_ref())
    }
}

fn score(compared: Preference) -> Score {
    let Preference { preference, orders, is_flipped, unscored, reasoning, cost, cached, judgement } =
        compared;
    let score = match (preference, unscored) {
        (Some(preference), _) => {
            let raw = f64::from(preference);
            Score::graded(raw, f64::midpoint(raw, 1.0), None)
        }
        (None, reason) => Score::unscored(reason.unwrap_or(UnscoredReason::ScorerError)),
    };
    let evidence: Value = json!({ "orders": orders, "flipped": is_flipped });
    Score {
        evidence: Some(evidence),
        cost,
        cached,
        judgement: Some(Box::new(judgement)),
        ..score.because(reasoning)
    }
}
