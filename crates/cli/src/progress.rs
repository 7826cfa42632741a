//! The live display of a run on stderr: a bar in a terminal, plain lines elsewhere.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use fullbench_engine::{Progress, ProgressSnapshot};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::task::JoinHandle;

/// How often the bar is drawn.
const FRAME: Duration = Duration::from_millis(100);
/// How often a line is written where there is no terminal.
const LINE: Duration = Duration::from_secs(5);

/// A display that runs until it is ended.
pub(crate) struct Display {
    task: JoinHandle<()>,
    bar: Option<ProgressBar>,
    progress: Arc<Progress>,
}

impl Display {
    /// Starts showing the counters.
    pub(crate) fn start(progress: Arc<Progress>) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| bar(&progress));
        let (shown, counters) = (bar.clone(), progress.clone());
        let task = tokio::spawn(async move {
            let mut tick = tokio::time::interval(if shown.is_some() { FRAME } else { LINE });
            tick.tick().await;
            loop {
                tick.tick().await;
                match &shown {
                    Some(bar) => draw(bar, &counters.snapshot()),
                    None => write_line(&line(&counters.snapshot())),
                }
            }
        });
        Self { task, bar, progress }
    }

    /// Stops, and leaves a last line.
    pub(crate) fn end(self) {
        self.task.abort();
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
        write_line(&line(&self.progress.snapshot()));
    }
}

fn bar(progress: &Progress) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(
        Some(progress.snapshot().planned),
        ProgressDrawTarget::stderr(),
    );
    let style = ProgressStyle::with_template("{bar:32.green/dim} {msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("━╸─"));
    bar
}

fn draw(bar: &ProgressBar, snapshot: &ProgressSnapshot) {
    bar.set_position(snapshot.done);
    let mut text = line(snapshot);
    for lane in &snapshot.lanes {
        text.push_str(&format!(
            "\n  {:<28} {:>7}/{} · {} in flight · {} retries",
            lane.name, lane.done, lane.planned, lane.in_flight, lane.retries
        ));
    }
    bar.set_message(text);
}

/// `120/400 · 58/s · 5s left · $0.0012 · 3 timeout`.
fn line(snapshot: &ProgressSnapshot) -> String {
    let mut parts = vec![
        format!("{}/{}", snapshot.done, snapshot.planned),
        format!("{:.0}/s", snapshot.rate()),
    ];
    if let Some(left) = snapshot.seconds_left().filter(|left| *left >= 1.0) {
        parts.push(format!("{} left", duration(left)));
    }
    if snapshot.spent.0 > 0 {
        parts.push(snapshot.spent.to_string());
    }
    parts.extend(snapshot.failures.iter().map(|(reason, count)| format!("{count} {reason}")));
    parts.join(" · ")
}

/// Seconds as `45s`, `3m20s` or `2h05m`.
pub(crate) fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        0..60 => format!("{whole}s"),
        60..3600 => format!("{}m{:02}s", whole / 60, whole % 60),
        _ => format!("{}h{:02}m", whole / 3600, whole % 3600 / 60),
    }
}

/// A line on stderr.
pub(crate) fn write_line(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_short() {
        assert_eq!(duration(44.6), "45s");
        assert_eq!(duration(200.0), "3m20s");
        assert_eq!(duration(7500.0), "2h05m");
    }
}
