//! A script that is ready to be called.

use serde_json::Value;

use crate::convert::is_shallow;
use crate::error::{Place, ScriptError};
use crate::job::{Job, Output, Task};
use crate::language::Language;
use crate::limits::Limits;
use crate::worker;

/// A module whose default export is a function.
#[derive(Clone, Debug)]
pub struct Script {
    name: String,
    javascript: String,
    limits: Limits,
}

/// What a call gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// What the function returned.
    pub result: Result<Value, ScriptError>,
    /// What it wrote with `console.log`, also when it failed.
    pub log: Vec<String>,
}

impl Script {
    /// Reads a source: takes its types out, compiles it, and runs it once to see that its default export is a function.
    /// The name is for messages, such as the file's.
    pub fn new(
        source: &str,
        name: &str,
        language: Language,
        limits: Limits,
    ) -> Result<Self, ScriptError> {
        let job = Job {
            task: Task::Prepare(language),
            name: name.to_owned(),
            source: source.to_owned(),
            limits,
        };
        let reply = worker::ask(&job);
        match reply.result? {
            Output::Prepared(javascript) => {
                Ok(Self { name: job.name, javascript, limits: job.limits })
            }
            Output::Returned(_) => Err(worker::confused(&job)),
        }
    }

    /// Calls the function. Nothing is left of a call that another could see. Blocks until the script has ended or its
    /// time is over.
    pub fn call(&self, argument: &Value) -> Call {
        if !is_shallow(argument) {
            let place = Place::of(&self.name);
            let error = ScriptError::TooDeep { place, what: "the argument is".to_owned() };
            return Call { result: Err(error), log: Vec::new() };
        }
        let job = Job {
            task: Task::Call(argument.to_string()),
            name: self.name.clone(),
            source: self.javascript.clone(),
            limits: self.limits.clone(),
        };
        let reply = worker::ask(&job);
        let result = reply.result.and_then(|output| match output {
            Output::Returned(value) => Ok(value),
            Output::Prepared(_) => Err(worker::confused(&job)),
        });
        Call { result, log: reply.log }
    }

    /// The name it was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What its calls may use.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }
}
