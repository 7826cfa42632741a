//! How long to wait before a call is made again.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(20);

/// Exponential backoff with full jitter, at least what the provider asked for.
///
/// Full jitter: <https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/>. What the provider asked
/// for is stretched by up to a tenth, so that calls refused together do not come back together.
pub(super) fn pause_after(attempts: u32, retry_after: Option<Duration>) -> Duration {
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
