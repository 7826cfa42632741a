//! `command`: any program, for those who trust it.

use std::process::Stdio;
use std::time::Duration;

use async_trait::async_trait;
use fullbench_types::Score;
use futures::StreamExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::argument::argument;
use super::returned::{score, wrong};
use crate::registry::ScorerConfigError;
use crate::scorer::Item;
use crate::scorers::{BatchScorer, Parameters};

/// Programs are run only where this variable says so: an evaluation file of somebody else must not start programs by itself.
const ENABLED: &str = "FULLBENCH_ALLOW_COMMANDS";
/// Most bytes that are read of what a program prints.
const MAX_OUTPUT: u64 = 1024 * 1024;
/// Programs that run at the same time.
const AT_ONCE: usize = 4;
/// What a program sees of the environment: keys of providers are not among it.
const PASSED_ON: [&str; 5] = ["PATH", "HOME", "LANG", "LC_ALL", "TMPDIR"];

/// Parameters of `command`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Command {
    /// The program and its arguments; no shell looks at them. It gets the case as JSON on stdin and prints a number, or an object with `score`.
    command: Vec<String>,
    /// Milliseconds it may take.
    #[serde(default = "ten_seconds")]
    #[schemars(range(min = 1, max = 600000))]
    time_ms: u64,
    /// The best score there is; the value from 0 to 1 is the score divided by it.
    #[serde(default = "one")]
    max_score: f64,
    /// Passed when the value is at least this much, unless the program says `passed`.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    threshold: Option<f64>,
}

fn ten_seconds() -> u64 {
    10_000
}

fn one() -> f64 {
    1.0
}

impl Parameters for Command {
    type Scorer = Self;

    const KIND: &'static str = "command";
    const SUMMARY: &'static str = "A program of your own: JSON on stdin, a score on stdout. Off unless FULLBENCH_ALLOW_COMMANDS=1, since it is not sandboxed.";
    const EXAMPLE: &'static str = "{ type: command, command: [python3, score.py], time_ms: 5000 }";
    const BINARY: bool = false;

    fn build(self) -> Result<Self, ScorerConfigError> {
        if self.command.first().is_none_or(|program| program.is_empty()) {
            return Err(ScorerConfigError::at("command", "there is no program")
                .hint("write it as a list: `command: [python3, score.py]`"));
        }
        if !(1..=600_000).contains(&self.time_ms) {
            return Err(ScorerConfigError::at("time_ms", "a program may take 1 to 600000 ms"));
        }
        if !(self.max_score.is_finite() && self.max_score > 0.0) {
            return Err(ScorerConfigError::at("max_score", "the best score is a number above 0"));
        }
        if self.threshold.is_some_and(|threshold| !(0.0..=1.0).contains(&threshold)) {
            return Err(ScorerConfigError::at("threshold", "a threshold is from 0 to 1"));
        }
        Ok(self)
    }
}

#[async_trait]
impl BatchScorer for Command {
    fn ready(&self) -> Result<(), ScorerConfigError> {
        if std::env::var(ENABLED).is_ok_and(|value| value == "1") {
            return Ok(());
        }
        Err(ScorerConfigError::at("command", "programs are not run unless they are allowed")
            .hint(format!("if you trust this evaluation file, set {ENABLED}=1; `javascript` runs in a sandbox and needs no leave")))
    }

    async fn score_items(&self, items: &[Item<'_>]) -> Vec<Score> {
        if self.ready().is_err() {
            let refused = || wrong(format!("programs are not run unless {ENABLED}=1"));
            return items.iter().map(|_| refused()).collect();
        }
        let runs: Vec<_> = items.iter().map(argument).map(|argument| self.run(argument)).collect();
        futures::stream::iter(runs).buffered(AT_ONCE).collect().await
    }
}

impl Command {
    async fn run(&self, argument: Value) -> Score {
        let limit = Duration::from_millis(self.time_ms);
        match tokio::time::timeout(limit, self.output(argument)).await {
            Ok(Ok(printed)) => match serde_json::from_slice(&printed) {
                Ok(value) => score(value, self.max_score, self.threshold),
                Err(error) => wrong(format!("what the program printed is not JSON: {error}")),
            },
            Ok(Err(message)) => wrong(message),
            Err(_) => wrong(format!("the program took longer than {} ms", self.time_ms)),
        }
    }

    /// What the program prints; it is killed when nobody waits for it any more.
    async fn output(&self, argument: Value) -> Result<Vec<u8>, String> {
        let Some((program, arguments)) = self.command.split_first() else {
            return Err("there is no program".to_owned());
        };
        let mut command = tokio::process::Command::new(program);
        command.args(arguments).env_clear().kill_on_drop(true);
        command.envs(PASSED_ON.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0);
        let mut child =
            command.spawn().map_err(|error| format!("`{program}` cannot be started: {error}"))?;
        let _group = child.id().and_then(ProcessGroup::of);
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let write = async {
            if let Some(mut stdin) = stdin {
                // A program that does not read its input may still print a score.
                let _ = stdin.write_all(argument.to_string().as_bytes()).await;
            }
        };
        let ((), printed, said) = tokio::join!(write, read(stdout), read(stderr));
        let status = child.wait().await.map_err(|error| format!("`{program}`: {error}"))?;
        if !status.success() {
            let said = String::from_utf8_lossy(&said);
            let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
            return Err(format!("`{program}` failed ({status}): {}", last.trim()));
        }
        if printed.len() as u64 >= MAX_OUTPUT {
            return Err(format!("`{program}` printed more than {MAX_OUTPUT} bytes"));
        }
        Ok(printed)
    }
}

/// The program and whatever it started: all of it ends with the score.
struct ProcessGroup(rustix::process::Pid);

impl ProcessGroup {
    fn of(leader: u32) -> Option<Self> {
        rustix::process::Pid::from_raw(i32::try_from(leader).ok()?).map(Self)
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        // Nothing is left to kill where all ended by themselves.
        let _ = rustix::process::kill_process_group(self.0, rustix::process::Signal::KILL);
    }
}

async fn read(source: Option<impl tokio::io::AsyncRead + Unpin>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(source) = source {
        let _ = source.take(MAX_OUTPUT).read_to_end(&mut bytes).await;
    }
    bytes
}
