//! `panel`: several judges look at the same output.

use std::sync::Arc;

use async_trait::async_trait;
use fullbench_judge::{Combine, Method, Panel, PanelConfig};
use fullbench_llm::{ModelConfig, ModelHandle};
use fullbench_types::Score;
use futures::future::join_all;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::connection::Connection;
use super::single::JudgeParameters;
use super::subject::Shown;
use super::{calls, problem, settled};
use crate::memory::Memory;
use crate::registry::ScorerConfigError;
use crate::scorer::{AskedCall, Item};
use crate::scorers::{BatchScorer, Parameters};

/// A member of a panel.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Member {
    /// How it judges.
    method: Method,
    /// The parameters of a judge, such as `criterion` and `model`.
    judge: JudgeParameters,
}

/// Parameters of `panel`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct JudgePanel {
    /// The judges, two or more.
    members: Vec<Member>,
    /// How their values become one.
    #[serde(default)]
    combine: Combine,
    /// `weighted` only: one weight for each member.
    #[serde(default)]
    weights: Vec<f64>,
    /// Passed when the value, from 0 to 1, is at least this much. `majority` needs none.
    #[serde(default)]
    threshold: Option<f64>,
    /// The field of a case with the context the answer was to rest on.
    #[serde(default = "context")]
    context: String,
    /// Replies given before, instead of models: a JSON Lines file; `request` tells the members apart, `2.g_eval` for the second.
    #[serde(default)]
    #[schemars(with = "Option<Value>")]
    replies: Option<Value>,
}

fn context() -> String {
    "context".to_owned()
}

/// Several judges.
pub(crate) struct PanelScorer {
    panel: Panel,
    connection: Connection,
    context_field: String,
}

impl Parameters for JudgePanel {
    type Scorer = PanelScorer;

    const KIND: &'static str = "panel";
    const SUMMARY: &'static str = "Several models judge the output: the mean, median, majority or weighted mean of what they give.";
    const EXAMPLE: &'static str = "{ type: panel, combine: median, members: [{ method: g_eval, judge: { criterion: clarity, model: openai:gpt-4o-mini } }, { method: g_eval, judge: { criterion: clarity, model: anthropic:claude-haiku-4-5 } }] }";
    const BINARY: bool = false;
    const LINES_PARAMETERS: &'static [&'static str] = &["replies"];
    const LANGUAGE_MODEL_PARAMETERS: &'static [&'static str] = &["members.judge.model"];

    fn build(self) -> Result<PanelScorer, ScorerConfigError> {
        let mut judges = Vec::new();
        for (index, member) in self.members.iter().enumerate() {
            let within = |error: ScorerConfigError| ScorerConfigError {
                field: Some(match &error.field {
                    Some(field) => format!("members[{index}].judge.{field}"),
                    None => format!("members[{index}]"),
                }),
                ..error
            };
            if let Some(field) = member.judge.not_for_members() {
                let message = "this is set for the panel as a whole";
                let hint = format!("write `{field}` beside `members`");
                return Err(within(ScorerConfigError::at(field, message).hint(hint)));
            }
            judges.push(member.judge.config(member.method).map_err(within)?);
        }
        let config = PanelConfig {
            name: None,
            judges,
            combine: self.combine,
            weights: self.weights,
            threshold: self.threshold,
        };
        Ok(PanelScorer {
            panel: Panel::new(config).map_err(|error| problem(&error))?,
            connection: Connection::new(self.replies.as_ref())?,
            context_field: self.context,
        })
    }
}

#[async_trait]
impl BatchScorer for PanelScorer {
    fn models(&self) -> Vec<ModelConfig> {
        self.panel.models()
    }

    fn connect(&self, models: Vec<Arc<ModelHandle>>) {
        self.connection.connect(models);
    }

    fn calls(&self, item: &Item<'_>) -> Vec<AskedCall> {
        let shown = Shown::new(item, &self.context_field);
        let members = self.panel.members().iter();
        shown.shown(item, |subject| members.flat_map(|one| calls::of(one, subject)).collect())
    }

    fn remember(&self, memory: &Memory) {
        for member in self.panel.members() {
            member.keep_steps(Arc::clone(&memory.steps));
        }
    }

    async fn score_items(&self, items: &[Item<'_>]) -> Vec<Score> {
        join_all(items.iter().map(|item| async {
            let shown = Shown::new(item, &self.context_field);
            let judged = shown
                .with(item, async |subject| self.panel.judge(&self.connection, subject).await)
                .await;
            settled(judged, None)
        }))
        .await
    }
}
