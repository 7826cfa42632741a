//! A real limit of requests per minute, as providers enforce it.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A token bucket that holds one second's worth of calls.
#[derive(Debug)]
pub(crate) struct Limiter {
    interval: Duration,
    burst: Duration,
    /// The moment at which the bucket is full again.
    full_at: Mutex<Instant>,
}

impl Limiter {
    /// A limiter that lets so many calls through per minute.
    pub(crate) fn per_minute(requests: u32, now: Instant) -> Self {
        let interval = Duration::from_secs(60) / requests.max(1);
        Self { interval, burst: interval.max(Duration::from_secs(1)), full_at: Mutex::new(now) }
    }

    /// Lets a call through, or says how long to wait.
    pub(crate) fn admit(&self, now: Instant) -> Result<(), Duration> {
        let mut full_at = self.full_at.lock().unwrap_or_else(PoisonError::into_inner);
        let next = (*full_at).max(now) + self.interval;
        let ahead = next.duration_since(now);
        if ahead > self.burst {
            return Err(ahead - self.burst);
        }
        *full_at = next;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]
    use super::*;

    #[test]
    fn no_more_calls_pass_than_the_limit_and_its_burst() {
        let start = Instant::now();
        let limiter = Limiter::per_minute(600, start);
        let passed = (0..60_000)
            .filter(|millisecond| {
                limiter.admit(start + Duration::from_millis(*millisecond)).is_ok()
            })
            .count();
        assert!((600..=610).contains(&passed), "{passed}");
    }

    #[test]
    fn waiting_as_told_is_enough() {
        let start = Instant::now();
        let limiter = Limiter::per_minute(30, start);
        assert_eq!(limiter.admit(start), Ok(()));
        let wait = limiter.admit(start).expect_err("the second call comes too soon");
        assert_eq!(limiter.admit(start + wait), Ok(()));
    }
}
