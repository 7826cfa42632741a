//! Asking a judge: connected models, or replies that were recorded before.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use fullbench_llm::{GenerateError, ModelHandle};
use fullbench_types::{Generation, Message, UnscoredReason};
use serde::Deserialize;

use crate::error::JudgeError;

/// What the second attempt at a sample adds to its number, the third adds twice, and so on: attempts are told apart from samples
/// in the key of the response cache.
pub const ATTEMPT_STEP: u32 = 1_000;

/// One question to a judge.
#[derive(Debug, Clone)]
pub struct Question<'ask> {
    /// Which request of the judge it is: the position in [`Judge::models`](crate::Judge::models).
    pub request: usize,
    /// The request's name: `g_eval`, `claims_check`, …
    pub name: &'ask str,
    /// Whose output is judged: the case's key.
    pub key: &'ask str,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// Repetition of the unit that is judged, counted from 0.
    pub repetition: u32,
    /// The sample, counted from 0, plus [`ATTEMPT_STEP`] for every attempt before this one. For claims it is the claim's position,
    /// for pairs the order.
    pub sample: u32,
}

/// Answers the questions of a judge.
#[async_trait]
pub trait Ask: Send + Sync {
    /// The reply to a question.
    ///
    /// # Errors
    /// When there is none.
    async fn ask(&self, question: Question<'_>) -> Result<Generation, AskError>;

    /// A part of a reply that was kept for this question.
    async fn kept(&self, _question: &Question<'_>) -> Option<Generation> {
        None
    }

    /// Keeps a part of a reply for this question, so that the whole need not be asked for again.
    async fn keep(&self, _question: &Question<'_>, _part: &Generation) {}

    /// The replies were given before, to prompts that may have been others: a plain number is read as well as JSON, and asking
    /// again is of no use.
    fn is_recorded(&self) -> bool {
        false
    }
}

/// Why a question has no reply.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AskError {
    /// The model gave none.
    #[error(transparent)]
    Generate(#[from] GenerateError),
    /// The recorded replies have none.
    #[error("the recorded replies have {found} for `{key}`, and number {} is needed", sample + 1)]
    NotRecorded {
        /// The case's key.
        key: String,
        /// The sample, counted from 0.
        sample: u32,
        /// How many there are.
        found: usize,
    },
    /// No model is connected for this request.
    #[error("no model is connected for request {request} of the judge")]
    NotConnected {
        /// The request's position.
        request: usize,
    },
}

impl AskError {
    /// What is recorded in place of the score.
    #[must_use]
    pub fn reason(&self) -> UnscoredReason {
        match self {
            Self::Generate(GenerateError::Failed { failure, .. }) => failure.reason.into(),
            Self::Generate(GenerateError::BudgetExhausted(_)) => UnscoredReason::BudgetExhausted,
            Self::Generate(GenerateError::Stopped) => UnscoredReason::Cancelled,
            Self::NotRecorded { .. } | Self::NotConnected { .. } => UnscoredReason::ScorerError,
        }
    }
}

/// Models of the run's gateway, one for each request of the judge.
#[derive(Clone)]
pub struct Connected(pub Vec<Arc<ModelHandle>>);

#[async_trait]
impl Ask for Connected {
    async fn ask(&self, question: Question<'_>) -> Result<Generation, AskError> {
        let Question { request, messages, repetition, sample, .. } = question;
        let handle = self.0.get(request).ok_or(AskError::NotConnected { request })?;
        Ok(handle.generate(messages, repetition, sample).await?)
    }

    async fn kept(&self, question: &Question<'_>) -> Option<Generation> {
        let Question { messages, repetition, sample, .. } = question;
        let handle = self.0.get(question.request)?;
        handle.cached(messages.clone(), *repetition, *sample).await
    }

    async fn keep(&self, question: &Question<'_>, part: &Generation) {
        let Question { messages, repetition, sample, .. } = question;
        if let Some(handle) = self.0.get(question.request) {
            handle.remember(messages.clone(), *repetition, *sample, part).await;
        }
    }
}

/// Replies given before, read from a file, used instead of calls.
#[derive(Debug, Clone, Default)]
pub struct RecordedReplies {
    replies: HashMap<(String, Option<String>), Vec<String>>,
}

/// One line of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    id: RowId,
    /// The request these replies belong to; any where none is named.
    #[serde(default)]
    request: Option<String>,
    #[serde(default)]
    reply: Option<String>,
    #[serde(default)]
    replies: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a text or a whole number")]
enum RowId {
    Text(String),
    Number(i64),
}

impl RecordedReplies {
    /// Reads JSON Lines: `{"id": …, "replies": [… one for each sample …]}`, or `{"id": …, "reply": …}` once for each sample, in
    /// the order of the samples. `"request": "claims_check"` tells the replies of a judge's requests apart, `"request": "2.g_eval"` those of a
    /// panel's members.
    ///
    /// # Errors
    /// Names the line that is no such object.
    pub fn parse(lines: &str) -> Result<Self, JudgeError> {
        let mut recorded = Self::default();
        for (index, line) in lines.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let wrong = |message: String| JudgeError::Recorded { line: index + 1, message };
            let row: Row = serde_json::from_str(line).map_err(|error| wrong(error.to_string()))?;
            let id = match row.id {
                RowId::Text(id) => id,
                RowId::Number(id) => id.to_string(),
            };
            let texts = match (row.reply, row.replies) {
                (Some(reply), None) => vec![reply],
                (None, Some(replies)) => replies,
                _ => return Err(wrong("it must have either `reply` or `replies`".to_owned())),
            };
            recorded.replies.entry((id, row.request)).or_default().extend(texts);
        }
        Ok(recorded)
    }

    /// How many items have replies.
    #[must_use]
    pub fn len(&self) -> usize {
        self.replies.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.replies.is_empty()
    }
}

#[async_trait]
impl Ask for RecordedReplies {
    async fn ask(&self, question: Question<'_>) -> Result<Generation, AskError> {
        let key = question.key.to_owned();
        let own = self.replies.get(&(key.clone(), Some(question.name.to_owned())));
        let any = || self.replies.get(&(key.clone(), None));
        let replies = own.or_else(any).map_or(&[][..], Vec::as_slice);
        let position = usize::try_from(question.sample).unwrap_or(usize::MAX);
        match replies.get(position) {
            Some(reply) => Ok(Generation::recorded(reply.clone())),
            None => Err(AskError::NotRecorded {
                key: question.key.to_owned(),
                sample: question.sample,
                found: replies.len(),
            }),
        }
    }

    fn is_recorded(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn question<'ask>(key: &'ask str, name: &'ask str, sample: u32) -> Question<'ask> {
        Question { request: 0, name, key, messages: Vec::new(), repetition: 0, sample }
    }

    #[tokio::test]
    async fn replies_are_found_by_item_request_and_sample() {
        let lines = concat!(
            "{\"id\": \"a\", \"replies\": [\"1\", \"2\"]}\n\n",
            "{\"id\": 7, \"reply\": \"3\"}\n{\"id\": 7, \"reply\": \"4\"}\n",
            "{\"id\": \"a\", \"request\": \"claims_check\", \"reply\": \"5\"}\n",
        );
        let recorded = RecordedReplies::parse(lines).unwrap();
        let text = async |key, name, sample| {
            recorded.ask(question(key, name, sample)).await.map(|reply| reply.text)
        };
        assert_eq!(text("a", "g_eval", 1).await.unwrap(), "2");
        assert_eq!(text("7", "g_eval", 1).await.unwrap(), "4");
        assert_eq!(text("a", "claims_check", 0).await.unwrap(), "5");
        let missing = text("a", "g_eval", 2).await.unwrap_err();
        assert_eq!(missing.reason(), UnscoredReason::ScorerError);
        assert_eq!(
            missing.to_string(),
            "the recorded replies have 2 for `a`, and number 3 is needed"
        );
        assert!(text("b", "g_eval", 0).await.unwrap_err().to_string().contains("have 0 for `b`"));
    }

    #[test]
    fn a_line_that_is_no_reply_is_named() {
        for line in [
            "{\"id\": \"a\"}",
            "{\"reply\": \"x\"}",
            "text",
            "{\"id\": \"a\", \"reply\": \"x\", \"replies\": []}",
        ] {
            let error = RecordedReplies::parse(&format!("\n{line}")).unwrap_err();
            assert!(matches!(error, JudgeError::Recorded { line: 2, .. }), "{line}: {error}");
        }
    }
}
