//! `javascript`: a function of the user in JavaScript or TypeScript, run in a sandbox.

use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use async_trait::async_trait;
use fullbench_script::{Language, Limits, Script, ScriptError};
use fullbench_types::Score;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::argument::argument;
use super::returned::{score, wrong};
use crate::registry::ScorerConfigError;
use crate::scorer::Item;
use crate::scorers::{BatchScorer, Parameters};

/// The language of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ScriptLanguage {
    /// JavaScript.
    Js,
    /// TypeScript; its types are taken out.
    Ts,
}

/// Parameters of `javascript`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct JavaScript {
    /// The module, whose default export is the function: `export default ({ input, output, reference, metadata }) => ({ score, reason, evidence })`.
    #[serde(default)]
    code: Option<String>,
    /// A `.js` or `.ts` file with the module, instead of `code`.
    #[serde(default, skip_serializing)]
    file: Option<String>,
    /// The language; by the ending of the file, and otherwise TypeScript, of which JavaScript is a part.
    #[serde(default)]
    language: Option<ScriptLanguage>,
    /// The best score there is; the value from 0 to 1 is the score divided by it.
    #[serde(default = "one")]
    max_score: f64,
    /// Passed when the value is at least this much, unless the function says `passed`.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    threshold: Option<f64>,
    /// Milliseconds a call may take.
    #[serde(default = "two_seconds")]
    #[schemars(range(min = 1, max = 60000))]
    time_ms: u64,
    /// Megabytes of memory a call may use.
    #[serde(default = "megabytes")]
    #[schemars(range(min = 1, max = 1024))]
    memory_mb: u64,
}

fn one() -> f64 {
    1.0
}

fn two_seconds() -> u64 {
    2_000
}

fn megabytes() -> u64 {
    64
}

/// A function of the user.
pub(crate) struct ScriptScorer {
    code: String,
    name: String,
    language: Language,
    limits: Limits,
    max_score: f64,
    threshold: Option<f64>,
    /// Made when it is first needed: reading a run's results builds its scorers, and needs no sandbox.
    script: OnceLock<Result<Script, ScriptError>>,
}

impl Parameters for JavaScript {
    type Scorer = ScriptScorer;

    const KIND: &'static str = "javascript";
    const SUMMARY: &'static str = "A function of your own in JavaScript or TypeScript, run in a sandbox without any access, 2 seconds and 64 MB.";
    const EXAMPLE: &'static str = "{ type: javascript, code: \"export default ({ output }) => ({ score: output.includes('because') ? 1 : 0 })\" }";
    const BINARY: bool = false;
    const CODE_PARAMETERS: &'static [(&'static str, &'static str)] = &[("file", "code")];

    fn build(self) -> Result<ScriptScorer, ScorerConfigError> {
        let Some(code) = self.code else {
            return Err(ScorerConfigError::at("code", "there is no function")
                .hint("write it under `code`, or name its file under `file`"));
        };
        if !(self.max_score.is_finite() && self.max_score > 0.0) {
            return Err(ScorerConfigError::at("max_score", "the best score is a number above 0"));
        }
        if self.threshold.is_some_and(|threshold| !(0.0..=1.0).contains(&threshold)) {
            return Err(ScorerConfigError::at("threshold", "a threshold is from 0 to 1"));
        }
        if !(1..=60_000).contains(&self.time_ms) {
            return Err(ScorerConfigError::at("time_ms", "a call may take 1 to 60000 ms"));
        }
        if !(1..=1_024).contains(&self.memory_mb) {
            return Err(ScorerConfigError::at("memory_mb", "a call may use 1 to 1024 MB"));
        }
        let by_ending = self.file.as_deref().and_then(|file| Language::of(Path::new(file)));
        let language = match self.language {
            Some(ScriptLanguage::Js) => Language::JavaScript,
            Some(ScriptLanguage::Ts) => Language::TypeScript,
            None => by_ending.unwrap_or(Language::TypeScript),
        };
        Ok(ScriptScorer {
            code,
            name: self.file.unwrap_or_else(|| "code".to_owned()),
            language,
            limits: Limits {
                time: Duration::from_millis(self.time_ms),
                memory: self.memory_mb as usize * 1024 * 1024,
                ..Limits::default()
            },
            max_score: self.max_score,
            threshold: self.threshold,
            script: OnceLock::new(),
        })
    }
}

impl ScriptScorer {
    fn script(&self) -> &Result<Script, ScriptError> {
        self.script
            .get_or_init(|| Script::new(&self.code, &self.name, self.language, self.limits.clone()))
    }
}

#[async_trait]
impl BatchScorer for ScriptScorer {
    fn ready(&self) -> Result<(), ScorerConfigError> {
        match self.script() {
            Ok(_) => Ok(()),
            Err(error) => {
                let wrong = ScorerConfigError::at("code", error.to_string());
                Err(match error.hint() {
                    Some(hint) => wrong.hint(hint),
                    None => wrong,
                })
            }
        }
    }

    async fn score_items(&self, items: &[Item<'_>]) -> Vec<Score> {
        let script = match self.script() {
            Ok(script) => script.clone(),
            Err(error) => return items.iter().map(|_| wrong(error.to_string())).collect(),
        };
        let arguments: Vec<Value> = items.iter().map(argument).collect();
        let (max_score, threshold) = (self.max_score, self.threshold);
        let called = tokio::task::spawn_blocking(move || {
            let one = |argument| match script.call(argument).result {
                Ok(value) => score(value, max_score, threshold),
                Err(error) => wrong(error.to_string()),
            };
            arguments.iter().map(one).collect::<Vec<Score>>()
        });
        let ended = || wrong("the function's sandbox ended".to_owned());
        called.await.unwrap_or_else(|_| items.iter().map(|_| ended()).collect())
    }
}
