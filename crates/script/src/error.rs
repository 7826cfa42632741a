//! Why a script could not be used, or gave nothing.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What is too large when it is TypeScript.
pub(crate) const TYPESCRIPT: &str = "the TypeScript";

/// Where in the user's source: its name, and the line and column where they are known, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The name that the script was given, such as its file.
    pub name: String,
    /// The line and the column.
    pub position: Option<(u32, u32)>,
}

impl Place {
    /// A script, without a line.
    pub(crate) fn of(name: &str) -> Self {
        Self { name: name.to_owned(), position: None }
    }

    /// A line and a column of a script.
    pub(crate) fn at(name: &str, line: usize, column: usize) -> Self {
        let saturated = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Self { name: name.to_owned(), position: Some((saturated(line), saturated(column))) }
    }

    /// The line and the column of a byte of the source.
    pub(crate) fn at_byte(name: &str, source: &str, byte: usize) -> Self {
        let before = &source[..byte];
        let column = before.chars().rev().take_while(|&character| character != '\n').count() + 1;
        Self::at(name, before.matches('\n').count() + 1, column)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            Some((line, column)) => write!(formatter, "{}:{line}:{column}", self.name),
            None => formatter.write_str(&self.name),
        }
    }
}

/// Why a script could not be used, or gave nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
pub enum ScriptError {
    /// The source is not JavaScript or TypeScript.
    #[error("{place}: {message}")]
    Syntax {
        /// Where.
        place: Place,
        /// What is wrong.
        message: String,
    },
    /// The source is right, but uses something that is not run here.
    #[error("{place}: {message}")]
    Unsupported {
        /// Where.
        place: Place,
        /// What it uses.
        message: String,
    },
    /// The script threw, or its promise was rejected.
    #[error("{place}: {message}")]
    Thrown {
        /// Where the error was made.
        place: Place,
        /// The error's name and message, or the value thrown.
        message: String,
    },
    /// The script took too long.
    #[error("{place}: did not end within {limit:?}")]
    OutOfTime {
        /// Which script.
        place: Place,
        /// How long it may take.
        limit: Duration,
    },
    /// The script needed too much memory.
    #[error("{place}: needed more than {} MB of memory", limit >> 20)]
    OutOfMemory {
        /// Where.
        place: Place,
        /// How many bytes it may hold.
        limit: usize,
    },
    /// Calls, values or source text were nested too deeply.
    #[error("{place}: {what} nested too deeply")]
    TooDeep {
        /// Where.
        place: Place,
        /// What was nested.
        what: String,
    },
    /// The default export is not a function, or there is none.
    #[error("{place}: the default export is {found} instead of a function")]
    NotAFunction {
        /// Which script.
        place: Place,
        /// What there is instead.
        found: String,
    },
    /// The returned promise can never be settled: nothing is left to run.
    #[error("{place}: the promise is never settled")]
    NeverSettled {
        /// Which script.
        place: Place,
    },
    /// The returned value cannot be written as JSON.
    #[error("{place}: {path} is {found}, which JSON cannot hold")]
    NotJson {
        /// Which script.
        place: Place,
        /// Where in the returned value, such as `result.evidence[2]`.
        path: String,
        /// What is there.
        found: String,
    },
    /// Something is larger than it may be.
    #[error("{place}: {what} has more than {limit} bytes")]
    TooLarge {
        /// Which script.
        place: Place,
        /// What is too large.
        what: String,
        /// How many bytes it may have.
        limit: usize,
    },
    /// The sandbox itself could not do its work.
    #[error("{place}: the sandbox {reason}")]
    Sandbox {
        /// Which script.
        place: Place,
        /// What happened.
        reason: String,
    },
}

impl ScriptError {
    /// Where it happened.
    pub fn place(&self) -> &Place {
        match self {
            Self::Syntax { place, .. }
            | Self::Unsupported { place, .. }
            | Self::Thrown { place, .. }
            | Self::OutOfTime { place, .. }
            | Self::OutOfMemory { place, .. }
            | Self::TooDeep { place, .. }
            | Self::NotAFunction { place, .. }
            | Self::NeverSettled { place }
            | Self::NotJson { place, .. }
            | Self::TooLarge { place, .. }
            | Self::Sandbox { place, .. } => place,
        }
    }

    /// What the user can do, where that is known.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Syntax { .. } => None,
            Self::Unsupported { .. } => Some(
                "a script is one file: it imports nothing, and its TypeScript has types only, which are removed",
            ),
            Self::Thrown { message, .. } => absent_name_hint(message),
            Self::OutOfTime { .. } => Some(
                "look for a loop that does not end or a regular expression with nested repetition",
            ),
            Self::OutOfMemory { .. } => Some("look for a list or a text that grows in a loop"),
            Self::TooDeep { .. } => Some("look for a function that calls itself without an end"),
            Self::NotAFunction { .. } => Some(
                "write `export default ({ input, output, reference, metadata }) => ({ score: 1 })`",
            ),
            Self::NeverSettled { .. } => Some(
                "there are no timers and no network here, so a promise must be settled by the script itself",
            ),
            Self::NotJson { .. } => Some(
                "return numbers that are finite, texts, booleans, null, lists and plain objects",
            ),
            Self::TooLarge { what, .. } if what == TYPESCRIPT => {
                Some("turn it into JavaScript first, which may be longer")
            }
            Self::TooLarge { .. } => Some("return or write less"),
            Self::Sandbox { .. } => None,
        }
    }
}

/// What to say when a script asks for a name that other places have.
fn absent_name_hint(message: &str) -> Option<&'static str> {
    if message.starts_with("ReferenceError: could not load module") {
        return Some("a script is one file: it imports nothing");
    }
    let name = message.strip_prefix("ReferenceError: ")?.strip_suffix(" is not defined")?;
    match name {
        "Date" | "performance" | "Intl" => {
            Some("a score must come out the same every time, so there is no clock and no locale")
        }
        "require" | "process" | "fetch" | "XMLHttpRequest" | "Deno" | "Bun" | "Buffer" => {
            Some("a script computes only: it has no modules, no files and no network")
        }
        "setTimeout" | "setInterval" | "setImmediate" | "queueMicrotask" => {
            Some("there are no timers; return the value, or a promise that the script settles")
        }
        "eval" => Some("code made at run time is not run"),
        _ => None,
    }
}
