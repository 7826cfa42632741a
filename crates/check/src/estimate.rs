//! A number with how far it may be off.

use fullbench_analysis::Measured;
use fullbench_stats::{Interval, Undefined, wilson_interval};
use serde::Serialize;

/// An estimate, what it is made of, and its interval.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Estimate {
    /// How many observations.
    pub n: usize,
    /// The estimate.
    pub value: f64,
    /// Its interval, or why there is none.
    pub interval: Measured<Interval>,
}

impl Estimate {
    pub(crate) fn new(n: usize, value: f64, interval: Result<Interval, Undefined>) -> Self {
        Self { n, value, interval: interval.into() }
    }

    /// The share of `count` in `n`, with Wilson's interval (1927); undefined for none.
    pub(crate) fn share(count: usize, n: usize, confidence: f64, of: &str) -> Measured<Self> {
        Self::share_by(wilson_interval, count, n, confidence, of)
    }

    /// The share of `count` in `n` with an interval of one's choice.
    pub(crate) fn share_by(
        interval: fn(u64, u64, f64) -> Result<Interval, Undefined>,
        count: usize,
        n: usize,
        confidence: f64,
        of: &str,
    ) -> Measured<Self> {
        if n == 0 {
            return Measured::undefined(format!("there are no {of}"));
        }
        let value = count as f64 / n as f64;
        Measured::Value(Self::new(n, value, interval(count as u64, n as u64, confidence)))
    }

    /// The interval, where there is one.
    pub(crate) fn bounds(&self) -> Option<Interval> {
        self.interval.value().copied()
    }
}
