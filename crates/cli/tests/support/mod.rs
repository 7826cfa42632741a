//! A folder with an evaluation in it, and the built binary run there.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "shared by several test files"
)]

pub(crate) mod collector;
pub(crate) mod moments;
pub(crate) mod receiver;
pub(crate) mod serving;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use fullbench_simllm::{Simulator, SimulatorConfig};
use serde_json::Value;

/// A temporary folder in which the binary is run.
pub(crate) struct Folder {
    folder: tempfile::TempDir,
}

/// What the binary said.
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Said {
    /// Its stdout as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}\n{}", self.stdout, self.stderr))
    }

    /// Its stdout as JSON lines.
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Folder {
    /// An empty folder.
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// A command of the binary, with a clean environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fullbench"));
        command.args(arguments).current_dir(self.path()).stdin(Stdio::null());
        for variable in [
            "OPENAI_API_KEY",
            "ANTHROPIC_API_KEY",
            "GEMINI_API_KEY",
            "XAI_API_KEY",
            "GITHUB_STEP_SUMMARY",
            "FULLBENCH_DATABASE",
            "FULLBENCH_OBJECTS",
            "FULLBENCH_CONFIG",
            "FULLBENCH_SECRET_KEY",
            "FULLBENCH_SECRET_KEY_OLD",
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        ] {
            command.env_remove(variable);
        }
        command.env_remove("FULLBENCH_LOG").env("FULLBENCH_HOME", self.path().join(".fullbench"));
        command
    }

    /// Runs the binary to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        said(self.command(arguments).output().unwrap())
    }
}

pub(crate) fn said(output: Output) -> Said {
    Said {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A simulated provider in this process.
pub(crate) fn simulator(config: SimulatorConfig) -> Simulator {
    Simulator::start(config).unwrap()
}

/// So many questions with their answers, as JSON lines.
pub(crate) fn arithmetic(count: usize) -> String {
    (0..count)
        .map(|i| {
            format!(
                "{{\"id\":\"q{i}\",\"input\":\"What is {i} + {}?\",\"reference\":{}}}\n",
                i * 7,
                i * 8
            )
        })
        .collect()
}

/// An evaluation of one simulated model on `cases.jsonl`.
pub(crate) fn evaluation(url: &str, concurrency: usize, more: &str) -> String {
    format!(
        "name: test\ndataset: cases.jsonl\nprompt: \"Solve: {{{{ input }}}}\"\nmodels:\n  - {{ name: m, provider: openai, model: sim-80, base_url: \"{url}/v1\", price: {{ input: 1, output: 2 }} }}\nscorers:\n  - numeric_match\n  - {{ type: length, max: 500 }}\nlimits: {{ concurrency: {concurrency} }}\n{more}"
    )
}
