//! Waiting to within a fraction of a millisecond.
//!
//! The runtime's timer knows whole milliseconds only: at 50 ms that alone is an error of one or two percent, and it
//! makes calls that began at different moments end together. A thread that sleeps until the next moment is exact.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

/// An idle clock looks again after this long; any new alarm wakes it at once.
const IDLE: Duration = Duration::from_secs(60);

/// Wakes those who wait, each at its moment.
#[derive(Debug)]
pub(crate) struct Clock {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    alarms: Mutex<Alarms>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Alarms {
    next: BinaryHeap<Reverse<Alarm>>,
    stopped: bool,
}

#[derive(Debug)]
struct Alarm {
    moment: Instant,
    wake: oneshot::Sender<()>,
}

impl PartialEq for Alarm {
    fn eq(&self, other: &Self) -> bool {
        self.moment == other.moment
    }
}

impl Eq for Alarm {}

impl PartialOrd for Alarm {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Alarm {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.moment.cmp(&other.moment)
    }
}

impl Clock {
    /// Starts the clock's thread, which ends when the clock is dropped.
    pub(crate) fn start() -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let ticking = Arc::clone(&shared);
        std::thread::Builder::new()
            .name("simllm-clock".to_owned())
            .spawn(move || ticking.wake_the_due())?;
        Ok(Self { shared })
    }

    /// Waits until a moment.
    pub(crate) async fn wait_until(&self, moment: Instant) {
        if moment <= Instant::now() {
            return;
        }
        // The clock lives as long as the service that waits by it, so an alarm is never lost.
        let _ = self.alarm(moment).await;
    }

    fn alarm(&self, moment: Instant) -> oneshot::Receiver<()> {
        let (wake, woken) = oneshot::channel();
        let mut alarms = self.shared.lock();
        let is_first = alarms.next.peek().is_none_or(|Reverse(first)| moment < first.moment);
        alarms.next.push(Reverse(Alarm { moment, wake }));
        drop(alarms);
        if is_first {
            self.shared.changed.notify_one();
        }
        woken
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        self.shared.lock().stopped = true;
        self.shared.changed.notify_one();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Alarms> {
        self.alarms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake_the_due(&self) {
        let mut alarms = self.lock();
        while !alarms.stopped {
            let now = Instant::now();
            while alarms.next.peek().is_some_and(|Reverse(first)| first.moment <= now) {
                if let Some(Reverse(due)) = alarms.next.pop() {
                    // Whoever waited may have gone away with its connection.
                    let _ = due.wake.send(());
                }
            }
            let until = alarms.next.peek().map(|Reverse(first)| first.moment - now);
            let waited = self.changed.wait_timeout(alarms, until.unwrap_or(IDLE));
            alarms = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[tokio::test]
    async fn everyone_is_woken_and_nobody_early() {
        let clock = Clock::start().unwrap();
        let start = Instant::now();
        let wait = async |milliseconds| {
            let moment = start + Duration::from_millis(milliseconds);
            clock.wait_until(moment).await;
            assert!(Instant::now() >= moment, "woken before {milliseconds} ms");
        };
        tokio::join!(wait(30), wait(10), wait(20), wait(0));
    }
}
