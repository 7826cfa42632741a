//! How long a call may take, whether it is made again, and when: the same for answers and for embeddings.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::config::Limits;
use crate::model::{CallError, FailureClass};

const FIRST: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(20);

/// Makes one call within its time: its own, and what is left of all attempts.
pub(crate) async fn call_in_time<T>(
    limits: &Limits,
    deadline: Instant,
    call: impl Future<Output = Result<T, CallError>>,
) -> Result<T, CallError> {
    let until = deadline.min(Instant::now() + limits.timeout());
    let allowed = until.saturating_duration_since(Instant::now());
    match timeout_at(until, call).await {
        Ok(result) => result,
        Err(_) => {
            let message = format!("no complete reply within {:.1} s", allowed.as_secs_f64());
            Err(CallError::new(FailureClass::Timeout, message))
        }
    }
}

/// How long to wait before the call is made again; none when this failure is the last.
pub(crate) fn pause_before_retry(
    error: &CallError,
    attempts: u32,
    limits: &Limits,
    deadline: Instant,
) -> Option<Duration> {
    if !error.class.is_retryable() || attempts >= limits.attempts {
        return None;
    }
    let pause = pause_after(attempts, error.retry_after);
    (Instant::now() + pause < deadline).then_some(pause)
}

/// Exponential backoff with full jitter, at least what the provider asked for.
///
/// Full jitter: <https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/>. What the provider asked
/// for is stretched by up to a tenth, so that calls refused together do not come back together.
pub(crate) fn pause_after(attempts: u32, retry_after: Option<Duration>) -> Duration {
    let doublings = attempts.saturating_sub(1).min(16);
    let bound = (FIRST * 2_u32.pow(doublings)).min(LONGEST);
    let jitter = bound.mul_f64(fastrand::f64());
    match retry_after {
        Some(wait) => jitter.max(wait + wait.mul_f64(fastrand::f64() * 0.1)),
        None => jitter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_their_bound_and_respect_the_provider() {
        for attempts in 1..40 {
            let longest = (0..200).map(|_| pause_after(attempts, None)).max().unwrap_or_default();
            assert!(longest <= LONGEST);
            assert!(attempts < 8 || longest > LONGEST / 2, "attempt {attempts}: {longest:?}");
        }
        let first = (0..200).map(|_| pause_after(1, None)).max().unwrap_or_default();
        assert!(first <= FIRST);
        let asked = Duration::from_secs(100);
        let pause = pause_after(1, Some(asked));
        assert!(pause >= asked && pause <= asked + asked / 10);
    }
}
