//! Where a judge's replies come from: models of the run, or a file.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use fullbench_judge::{Ask, AskError, Connected, Question, RecordedReplies};
use fullbench_llm::ModelHandle;
use fullbench_types::Generation;
use serde_json::Value;

use super::problem;
use crate::registry::ScorerConfigError;

/// The source of a judge's replies.
pub(super) enum Connection {
    /// Models, once they are there.
    Models(OnceLock<Connected>),
    /// Replies given before.
    Recorded(RecordedReplies),
}

impl Connection {
    /// Recorded replies where there are some, otherwise models that are connected later.
    pub(super) fn new(replies: Option<&Value>) -> Result<Self, ScorerConfigError> {
        let Some(replies) = replies else { return Ok(Self::Models(OnceLock::new())) };
        let lines = match replies {
            Value::String(text) => text.clone(),
            Value::Array(rows) => {
                rows.iter().map(|row| format!("{row}\n")).collect::<Vec<_>>().concat()
            }
            _ => {
                return Err(ScorerConfigError::at("replies", "recorded replies are a list of objects")
                    .hint("name a JSON Lines file with rows such as {\"id\": \"case 1\", \"replies\": [\"…\"]}"));
            }
        };
        let recorded = RecordedReplies::parse(&lines).map_err(|error| {
            let error = problem(&error);
            ScorerConfigError { field: Some("replies".to_owned()), ..error }
        })?;
        Ok(Self::Recorded(recorded))
    }

    pub(super) fn connect(&self, models: Vec<Arc<ModelHandle>>) {
        if let Self::Models(connected) = self {
            // A scorer that is connected again keeps the models it has: they are of the same run.
            let _ = connected.set(Connected(models));
        }
    }
}

#[async_trait]
impl Ask for Connection {
    async fn ask(&self, question: Question<'_>) -> Result<Generation, AskError> {
        match self {
            Self::Recorded(replies) => replies.ask(question).await,
            Self::Models(connected) => match connected.get() {
                Some(models) => models.ask(question).await,
                None => Err(AskError::NotConnected { request: question.request }),
            },
        }
    }

    async fn kept(&self, question: &Question<'_>) -> Option<Generation> {
        match self {
            Self::Recorded(_) => None,
            Self::Models(connected) => connected.get()?.kept(question).await,
        }
    }

    async fn keep(&self, question: &Question<'_>, part: &Generation) {
        if let Self::Models(connected) = self
            && let Some(models) = connected.get()
        {
            models.keep(question, part).await;
        }
    }

    fn is_recorded(&self) -> bool {
        matches!(self, Self::Recorded(_))
    }
}
