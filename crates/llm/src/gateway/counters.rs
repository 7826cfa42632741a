//! What a model has done so far, counted without locks.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};

use fullbench_types::NanoDollars;

use crate::model::FailureClass;

/// Output tokens expected of an answer before the first one is known.
const FIRST_GUESS: u64 = 256;

#[derive(Debug, Default)]
pub(super) struct Counters {
    in_flight: AtomicU32,
    calls: AtomicU64,
    cache_hits: AtomicU64,
    answers: AtomicU64,
    output_tokens: AtomicU64,
    spent: AtomicI64,
    retries: [AtomicU64; FailureClass::ALL.len()],
}

impl Counters {
    /// Counts a call, which is in flight until the guard is dropped.
    pub(super) fn begin_call(&self) -> InFlight<'_> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        InFlight(self)
    }

    pub(super) fn count_cache_hit(&self) {
        self.cache_hits.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_answer(&self, output_tokens: u64, cost: NanoDollars) {
        self.answers.fetch_add(1, Ordering::Relaxed);
        self.output_tokens.fetch_add(output_tokens, Ordering::Relaxed);
        self.spent.fetch_add(cost.0, Ordering::Relaxed);
    }

    pub(super) fn count_retry(&self, class: FailureClass) {
        let index = FailureClass::ALL.iter().position(|other| *other == class);
        if let Some(counter) = index.and_then(|index| self.retries.get(index)) {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Output tokens to expect of the next answer: the mean so far.
    pub(super) fn expected_output_tokens(&self, max_tokens: Option<u32>) -> u64 {
        let answers = self.answers.load(Ordering::Relaxed);
        let expected = match self.output_tokens.load(Ordering::Relaxed).checked_div(answers) {
            Some(mean) => mean,
            None => FIRST_GUESS,
        };
        max_tokens.map_or(expected, |most| expected.min(u64::from(most)))
    }

    pub(super) fn in_flight(&self) -> u32 {
        self.in_flight.load(Ordering::Relaxed)
    }

    pub(super) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    pub(super) fn answers(&self) -> u64 {
        self.answers.load(Ordering::Relaxed)
    }

    pub(super) fn cache_hits(&self) -> u64 {
        self.cache_hits.load(Ordering::Relaxed)
    }

    pub(super) fn spent(&self) -> NanoDollars {
        NanoDollars(self.spent.load(Ordering::Relaxed))
    }

    pub(super) fn retries_by_class(&self) -> BTreeMap<FailureClass, u64> {
        let counts = self.retries.iter().map(|counter| counter.load(Ordering::Relaxed));
        FailureClass::ALL.into_iter().zip(counts).filter(|(_, count)| *count > 0).collect()
    }
}

/// A call in flight.
pub(super) struct InFlight<'counters>(&'counters Counters);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}
