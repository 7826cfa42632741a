//! What holds calls back: places in flight, pace per minute, and a breaker while the provider is down.

mod breaker;
mod concurrency;
mod pace;

pub use breaker::BreakerState;
pub(crate) use breaker::{Admission, Breaker};
pub(crate) use concurrency::{Concurrency, Permit};
pub(crate) use pace::Pacer;

use std::sync::Arc;

use crate::config::Limits;

/// The places and the pace of one provider, or of one model that has its own.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) concurrency: Arc<Concurrency>,
    pub(crate) pacer: Pacer,
}

impl Lane {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            concurrency: Arc::new(Concurrency::new(limits.concurrency)),
            pacer: Pacer::new(limits.requests_per_minute, limits.tokens_per_minute),
        }
    }
}
