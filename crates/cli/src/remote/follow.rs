//! A run on the server, watched until it ends.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Deserialize;

use super::client::Client;
use crate::commands::run::next_signal;
use crate::failure::CliError;
use crate::progress::write_line;

/// How often the server is asked.
const LOOK: Duration = Duration::from_millis(300);
/// How often a line is written where there is no terminal.
const LINE: Duration = Duration::from_secs(5);

/// How far a batch has come.
#[derive(Deserialize)]
pub(super) struct Status {
    pub(super) status: String,
    progress: Progress,
    total_cost_usd: f64,
}

#[derive(Deserialize)]
struct Progress {
    total: u64,
    completed: u64,
    failed: u64,
}

impl Status {
    fn is_open(&self) -> bool {
        matches!(self.status.as_str(), "queued" | "running")
    }

    fn line(&self) -> String {
        let Progress { total, completed, failed } = &self.progress;
        let mut line = format!("{completed}/{total} units · ${:.4}", self.total_cost_usd);
        if *failed > 0 {
            line.push_str(&format!(" · {failed} failed"));
        }
        line
    }
}

/// Watches a run until it ends; none when the user stops watching, which leaves the run alone.
pub(super) async fn follow(
    client: &Client,
    run: &str,
    quiet: bool,
) -> Result<Option<Status>, CliError> {
    let bar = (!quiet && std::io::stderr().is_terminal()).then(bar);
    let mut written = Instant::now();
    let mut signal = std::pin::pin!(next_signal());
    loop {
        let status: Status = client.get(&["v1", "evaluations", "batch", run], &[]).await?;
        if let Some(bar) = &bar {
            bar.set_length(status.progress.total);
            bar.set_position(status.progress.completed + status.progress.failed);
            bar.set_message(status.line());
        } else if !quiet && (written.elapsed() >= LINE || !status.is_open()) {
            written = Instant::now();
            write_line(&status.line());
        }
        if !status.is_open() {
            if let Some(bar) = bar {
                bar.finish_and_clear();
            }
            return Ok(Some(status));
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            () = &mut signal => {
                if let Some(bar) = bar {
                    bar.finish_and_clear();
                }
                return Ok(None);
            }
        }
    }
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {msg}") {
        bar.set_style(style);
    }
    bar
}
