//! The live display of a run on stderr: a bar in a terminal, plain lines elsewhere.

use std::collections::VecDeque;
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use fullbench_engine::{Progress, ProgressSnapshot};
use fullbench_llm::BatchProgress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::task::JoinHandle;

use crate::output::visible;

/// How often the bar is drawn.
const FRAME: Duration = Duration::from_millis(100);
/// How often a line is written where there is no terminal.
const LINE: Duration = Duration::from_secs(5);

/// The rate is that of the last while.
const RECENT: f64 = 15.0;

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
            let mut recent = Recent::default();
            tick.tick().await;
            loop {
                tick.tick().await;
                let snapshot = counters.snapshot();
                let pace = recent.pace(&snapshot);
                match &shown {
                    Some(bar) => draw(bar, &snapshot, pace),
                    None => write_line(&line(&snapshot, pace)),
                }
            }
        });
        Self { task, bar, progress }
    }

    /// Stops, and leaves a last line with the rate of the whole.
    pub(crate) fn end(self) {
        self.task.abort();
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
        let snapshot = self.progress.snapshot();
        let pace = Recent::default().pace(&snapshot);
        write_line(&line(&snapshot, pace));
    }
}

/// What each lane had done when, for the last while.
#[derive(Default)]
struct Recent(VecDeque<(f64, Vec<u64>)>);

/// Units a second, and how long the slowest lane still takes.
#[derive(Clone, Copy)]
struct Pace {
    rate: f64,
    seconds_left: f64,
}

impl Recent {
    /// The pace over the last while.
    fn pace(&mut self, snapshot: &ProgressSnapshot) -> Pace {
        let now: Vec<u64> = snapshot.lanes.iter().map(|lane| lane.done_now).collect();
        self.0.push_back((snapshot.seconds, now));
        while self.0.len() > 2 && self.0[1].0 < snapshot.seconds - RECENT {
            self.0.pop_front();
        }
        let from_start = snapshot.seconds <= RECENT || self.0.len() < 2;
        let since = if from_start { 0.0 } else { self.0[0].0 };
        let seconds = (snapshot.seconds - since).max(1e-6);
        let mut pace = Pace { rate: 0.0, seconds_left: 0.0 };
        for (index, lane) in snapshot.lanes.iter().enumerate() {
            let before =
                if from_start { 0 } else { self.0[0].1.get(index).copied().unwrap_or_default() };
            let rate = lane.done_now.saturating_sub(before) as f64 / seconds;
            let open = lane.planned.saturating_sub(lane.done);
            pace.rate += rate;
            if open > 0 {
                pace.seconds_left = pace.seconds_left.max(open as f64 / rate);
            }
        }
        pace
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

fn draw(bar: &ProgressBar, snapshot: &ProgressSnapshot, pace: Pace) {
    bar.set_position(snapshot.done);
    let mut text = line(snapshot, pace);
    for lane in &snapshot.lanes {
        text.push_str(&format!(
            "\n  {:<28} {:>7}/{} · in flight {} · retries {}",
            lane.name, lane.done, lane.planned, lane.in_flight, lane.retries
        ));
    }
    bar.set_message(text);
}

/// `120/400 · 58/s · 5s left · $0.0012 · 3 timeout`.
fn line(snapshot: &ProgressSnapshot, pace: Pace) -> String {
    let mut parts =
        vec![format!("{}/{}", snapshot.done, snapshot.planned), format!("{:.0}/s", pace.rate)];
    if pace.seconds_left.is_finite() && pace.seconds_left >= 1.0 {
        parts.push(format!("{} left", duration(pace.seconds_left)));
    }
    if snapshot.spent.0 > 0 {
        parts.push(snapshot.spent.to_string());
    }
    parts.extend(batches(&snapshot.batches));
    parts.extend(snapshot.failures.iter().map(|(reason, count)| format!("{count} {reason}")));
    let down: Vec<&str> = snapshot
        .lanes
        .iter()
        .filter(|lane| lane.provider_down)
        .map(|lane| lane.name.as_str())
        .collect();
    if !down.is_empty() {
        parts.push(format!("{}: the provider is down, trying again", down.join(", ")));
    }
    parts.join(" · ")
}

/// `2 batches at the provider, 300 of 1000 requests done`; none where there are no batches.
fn batches(batches: &[BatchProgress]) -> Option<String> {
    let count = batches.len();
    let done: u64 = batches.iter().map(|batch| batch.done).sum();
    let requests: u64 = batches.iter().map(|batch| batch.requests).sum();
    let noun = if count == 1 { "batch" } else { "batches" };
    (count > 0)
        .then(|| format!("{count} {noun} at the provider, {done} of {requests} requests done"))
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
    let _ = writeln!(std::io::stderr().lock(), "{}", visible(text));
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

    #[test]
    fn batches_are_summed_up() {
        let batch = |number, done| BatchProgress { number, done, requests: 500 };
        assert_eq!(batches(&[]), None);
        let one = batches(&[batch(1, 20)]);
        assert_eq!(one.as_deref(), Some("1 batch at the provider, 20 of 500 requests done"));
        let two = batches(&[batch(1, 20), batch(2, 0)]);
        assert_eq!(two.as_deref(), Some("2 batches at the provider, 20 of 1000 requests done"));
    }
}
