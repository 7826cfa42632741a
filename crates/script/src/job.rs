//! What a worker is asked, and what it answers: plain data, so that a worker can be another process.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Place, ScriptError};
use crate::language::Language;
use crate::limits::Limits;

/// A question to a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    /// What to do.
    pub(crate) task: Task,
    /// The script's name, for messages.
    pub(crate) name: String,
    /// Its source.
    pub(crate) source: String,
    /// What it may use.
    pub(crate) limits: Limits,
}

/// What to do with a source.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Task {
    /// Turn it into JavaScript, and see that its default export is a function.
    Prepare(Language),
    /// Call the default export of JavaScript with an argument, which is JSON.
    Call(String),
}

/// A worker's answer.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Reply {
    /// What came out.
    pub(crate) result: Result<Output, ScriptError>,
    /// What the script wrote to the console.
    pub(crate) log: Vec<String>,
}

/// What comes out of a task.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Output {
    /// The JavaScript of a source.
    Prepared(String),
    /// What a call returned.
    Returned(Value),
}

impl Job {
    /// The script as a place, without a line.
    pub(crate) fn place(&self) -> Place {
        Place::of(&self.name)
    }
}

impl Reply {
    /// The answer that something went wrong before the script could write anything.
    pub(crate) fn error(error: ScriptError) -> Self {
        Self { result: Err(error), log: Vec::new() }
    }
}
