//! What the simulator saw: cheap counters, and how often each prompt was asked.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::dice::PromptKey;

const SHARDS: usize = 64;

/// Calls that went wrong, by how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultCounts {
    /// 429 by chance.
    pub rate_limited: u64,
    /// 429 by the limit of requests per minute.
    pub over_limit: u64,
    /// 500 or overloaded.
    pub errors: u64,
    /// Closed with no reply.
    pub dropped: u64,
    /// Hung, then answered.
    pub stalled: u64,
    /// Half of the reply.
    pub truncated: u64,
    /// Not valid for the wire format.
    pub malformed: u64,
    /// 401.
    pub unauthorized: u64,
    /// 400 for a prompt that is too long.
    pub context_too_long: u64,
    /// 400 or 404 for a request that makes no sense.
    pub invalid: u64,
}

/// What the simulator saw since it started or was reset.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistics {
    /// Calls of a model.
    pub calls: u64,
    /// Calls answered in full.
    pub successes: u64,
    /// Calls that went wrong.
    pub faults: FaultCounts,
    /// Different prompts, counted per model.
    pub distinct_prompts: u64,
    /// Calls beyond the first of their prompt.
    pub repeated_prompts: u64,
    /// Calls whose prompt had already been answered in full.
    pub repeats_after_success: u64,
    /// Calls being answered now.
    pub in_flight: u64,
    /// The most calls answered at one time.
    pub peak_in_flight: u64,
    /// Batches that were submitted.
    pub batches: u64,
    /// Requests in those batches.
    pub batched_requests: u64,
}

/// How a call went wrong, for counting.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Counted {
    RateLimited,
    OverLimit,
    Errors,
    Dropped,
    Stalled,
    Truncated,
    Malformed,
    Unauthorized,
    ContextTooLong,
    Invalid,
}

const COUNTED: usize = 10;

/// The live counters.
#[derive(Debug)]
pub(crate) struct Recorder {
    calls: AtomicU64,
    successes: AtomicU64,
    faults: [AtomicU64; COUNTED],
    repeated: AtomicU64,
    repeated_after_success: AtomicU64,
    in_flight: AtomicU64,
    peak_in_flight: AtomicU64,
    batches: AtomicU64,
    batched_requests: AtomicU64,
    shards: [Mutex<Shard>; SHARDS],
}

type Shard = HashMap<PromptKey, Asked, BuildHasherDefault<KeyHasher>>;

#[derive(Debug, Default, Clone, Copy)]
struct Asked {
    times: u32,
    attempts: u32,
    answered: bool,
}

impl Recorder {
    pub(crate) fn new() -> Self {
        Self {
            calls: AtomicU64::new(0),
            successes: AtomicU64::new(0),
            faults: std::array::from_fn(|_| AtomicU64::new(0)),
            repeated: AtomicU64::new(0),
            repeated_after_success: AtomicU64::new(0),
            in_flight: AtomicU64::new(0),
            peak_in_flight: AtomicU64::new(0),
            batches: AtomicU64::new(0),
            batched_requests: AtomicU64::new(0),
            shards: std::array::from_fn(|_| Mutex::new(Shard::default())),
        }
    }

    /// Counts a call that begins, and gives its number, counted from 1.
    pub(crate) fn call(&self) -> u64 {
        self.calls.fetch_add(1, Relaxed) + 1
    }

    /// Counts a batch of so many requests.
    pub(crate) fn batch(&self, requests: usize) {
        self.batches.fetch_add(1, Relaxed);
        self.batched_requests.fetch_add(requests as u64, Relaxed);
    }

    /// Counts a call as being answered until `leave`.
    pub(crate) fn enter(&self) {
        let now = self.in_flight.fetch_add(1, Relaxed) + 1;
        self.peak_in_flight.fetch_max(now, Relaxed);
    }

    pub(crate) fn leave(&self) {
        self.in_flight.fetch_sub(1, Relaxed);
    }

    /// Counts that a prompt was asked, whatever becomes of it.
    pub(crate) fn asked(&self, key: PromptKey) {
        let mut shard = self.shard(key);
        let asked = shard.entry(key).or_default();
        let (first, answered) = (asked.times == 0, asked.answered);
        asked.times = asked.times.saturating_add(1);
        drop(shard);
        if !first {
            self.repeated.fetch_add(1, Relaxed);
        }
        if answered {
            self.repeated_after_success.fetch_add(1, Relaxed);
        }
    }

    /// The number of this attempt at a prompt, counted from 0.
    pub(crate) fn attempt(&self, key: PromptKey) -> u32 {
        let mut shard = self.shard(key);
        let asked = shard.entry(key).or_default();
        let attempt = asked.attempts;
        asked.attempts = attempt.saturating_add(1);
        attempt
    }

    /// Counts a full answer.
    pub(crate) fn success(&self, key: PromptKey) {
        self.shard(key).entry(key).or_default().answered = true;
        self.successes.fetch_add(1, Relaxed);
    }

    pub(crate) fn fault(&self, fault: Counted) {
        self.faults[fault as usize].fetch_add(1, Relaxed);
    }

    pub(crate) fn snapshot(&self) -> Statistics {
        let fault = |fault: Counted| self.faults[fault as usize].load(Relaxed);
        Statistics {
            calls: self.calls.load(Relaxed),
            successes: self.successes.load(Relaxed),
            faults: FaultCounts {
                rate_limited: fault(Counted::RateLimited),
                over_limit: fault(Counted::OverLimit),
                errors: fault(Counted::Errors),
                dropped: fault(Counted::Dropped),
                stalled: fault(Counted::Stalled),
                truncated: fault(Counted::Truncated),
                malformed: fault(Counted::Malformed),
                unauthorized: fault(Counted::Unauthorized),
                context_too_long: fault(Counted::ContextTooLong),
                invalid: fault(Counted::Invalid),
            },
            distinct_prompts: self.shards.iter().map(|shard| locked(shard).len() as u64).sum(),
            repeated_prompts: self.repeated.load(Relaxed),
            repeats_after_success: self.repeated_after_success.load(Relaxed),
            in_flight: self.in_flight.load(Relaxed),
            peak_in_flight: self.peak_in_flight.load(Relaxed),
            batches: self.batches.load(Relaxed),
            batched_requests: self.batched_requests.load(Relaxed),
        }
    }

    /// Forgets everything but the calls being answered now.
    pub(crate) fn reset(&self) {
        for shard in &self.shards {
            locked(shard).clear();
        }
        for counter in [
            &self.calls,
            &self.successes,
            &self.repeated,
            &self.repeated_after_success,
            &self.batches,
            &self.batched_requests,
        ] {
            counter.store(0, Relaxed);
        }
        for counter in &self.faults {
            counter.store(0, Relaxed);
        }
        self.peak_in_flight.store(self.in_flight.load(Relaxed), Relaxed);
    }

    fn shard(&self, key: PromptKey) -> MutexGuard<'_, Shard> {
        locked(&self.shards[(key >> 64) as usize % SHARDS])
    }
}

fn locked(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keys are hashes already.
#[derive(Debug, Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u128(&mut self, key: u128) {
        self.0 = key as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retry_is_no_repeat_after_success() {
        let recorder = Recorder::new();
        recorder.asked(1);
        assert_eq!(recorder.attempt(1), 0);
        recorder.asked(1);
        assert_eq!(recorder.attempt(1), 1);
        recorder.success(1);
        assert_eq!(recorder.snapshot().repeats_after_success, 0);
        recorder.asked(1);
        let seen = recorder.snapshot();
        assert_eq!(
            (seen.distinct_prompts, seen.repeated_prompts, seen.repeats_after_success),
            (1, 2, 1)
        );
        recorder.reset();
        assert_eq!(recorder.snapshot(), Statistics::default());
    }
}
