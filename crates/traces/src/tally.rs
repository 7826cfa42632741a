//! How many spans ended, were sent and were lost, and what the log is told of it: once, not for each of them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What became of spans.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    ended: AtomicU64,
    sent: AtomicU64,
    refused: AtomicU64,
    /// Spans that can wait or be on their way.
    room: u64,
    is_down: AtomicBool,
    is_full_told: AtomicBool,
}

impl Tally {
    pub(crate) fn new(room: u64) -> Self {
        Self { room, ..Self::default() }
    }

    /// A span ended and is to be sent.
    pub(crate) fn ended(&self) {
        self.ended.fetch_add(1, Ordering::Relaxed);
    }

    /// The collector took some spans, and refused some of the batch for good.
    pub(crate) fn taken(&self, sent: u64, refused: u64, collector: &str) {
        self.sent.fetch_add(sent, Ordering::Relaxed);
        self.refused.fetch_add(refused, Ordering::Relaxed);
        if self.is_down.swap(false, Ordering::Relaxed) {
            tracing::info!(collector, "the collector takes traces again");
        }
        self.tell_if_full();
    }

    /// The collector did not take a batch.
    pub(crate) fn lost(&self, spans: u64, collector: &str, why: &str) {
        self.refused.fetch_add(spans, Ordering::Relaxed);
        if !self.is_down.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                collector,
                error = why,
                "the collector takes no traces; everything else goes on, and this is not told again until it does"
            );
        }
        self.tell_if_full();
    }

    /// Spans that ended and that the collector does not have, and all that ended.
    pub(crate) fn missing(&self) -> (u64, u64) {
        let ended = self.ended.load(Ordering::Relaxed);
        (ended.saturating_sub(self.sent.load(Ordering::Relaxed)), ended)
    }

    /// Tells, once, that spans found no place to wait: more are under way than there is room for.
    fn tell_if_full(&self) {
        let refused = self.refused.load(Ordering::Relaxed);
        let under_way = self.missing().0.saturating_sub(refused);
        if under_way > self.room && !self.is_full_told.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                room = self.room,
                "spans of traces are dropped: they come faster than the collector takes them; OTEL_TRACES_SAMPLER keeps fewer"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_spans_under_way_than_there_is_room_for_were_dropped() {
        let tally = Tally::new(3);
        (0..4).for_each(|_| tally.ended());
        tally.taken(1, 0, "");
        assert!(!tally.is_full_told.load(Ordering::Relaxed), "three can wait");
        (0..2).for_each(|_| tally.ended());
        tally.lost(1, "", "status 503");
        assert!(tally.is_down.load(Ordering::Relaxed));
        assert!(tally.is_full_told.load(Ordering::Relaxed), "four cannot");
        tally.taken(2, 1, "");
        assert!(!tally.is_down.load(Ordering::Relaxed));
        assert_eq!(tally.missing(), (3, 6), "lost, refused, and one that found no place");
    }
}
