//! How batches behave: how long they take and what goes wrong in them.

use serde::{Deserialize, Serialize};

use crate::config::SimulatorConfigError;

/// What the simulated batch APIs do. The shares are of the requests in a batch, from 0 to 1; a request has at most one fault.
#[derive(Debug, Clone, Default, PartialEq, clap::Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BatchConfig {
    /// Time from the submission of a batch to its end, in milliseconds.
    #[arg(id = "batch_delay_ms", long = "batch-delay-ms", default_value_t = 0)]
    pub delay_ms: u64,
    /// Share of the requests in a batch whose result is left out.
    #[arg(id = "batch_missing", long = "batch-missing", default_value_t = 0.0)]
    pub missing: f64,
    /// Share of the requests in a batch with two results, half of them different ones.
    #[arg(id = "batch_doubled", long = "batch-doubled", default_value_t = 0.0)]
    pub doubled: f64,
    /// Share of the requests in a batch that fail with a server error.
    #[arg(id = "batch_errored", long = "batch-errored", default_value_t = 0.0)]
    pub errored: f64,
    /// Share of the requests in a batch that are not worked on in time.
    #[arg(id = "batch_expired", long = "batch-expired", default_value_t = 0.0)]
    pub expired: f64,
    /// Share of the requests in a batch with a further result for an id that nobody sent.
    #[arg(id = "batch_unknown", long = "batch-unknown", default_value_t = 0.0)]
    pub unknown: f64,
    /// Share of the requests in a batch whose result is a line that is not JSON.
    #[arg(id = "batch_garbled", long = "batch-garbled", default_value_t = 0.0)]
    pub garbled: f64,
    /// Batches that are taken, but whose submission is answered by a closed connection; the first so many.
    #[arg(id = "batch_lost_replies", long = "batch-lost-replies", default_value_t = 0)]
    pub lost_replies: u64,
    /// Share of the calls about batches that fail with 500 before anything is done.
    #[arg(id = "batch_trouble", long = "batch-trouble", default_value_t = 0.0)]
    pub trouble: f64,
    /// Requests that may be waiting in batches at one time; OpenAI's way refuses a batch beyond it while checking it.
    #[arg(id = "batch_most_waiting", long = "batch-most-waiting")]
    pub most_waiting: Option<usize>,
}

impl BatchConfig {
    /// Refuses shares outside 0 to 1, and more faults than requests.
    pub(crate) fn validate(&self) -> Result<(), SimulatorConfigError> {
        let faults = [
            ("batch-missing", self.missing),
            ("batch-doubled", self.doubled),
            ("batch-errored", self.errored),
            ("batch-expired", self.expired),
            ("batch-unknown", self.unknown),
            ("batch-garbled", self.garbled),
        ];
        for (flag, rate) in faults.into_iter().chain([("batch-trouble", self.trouble)]) {
            if !(0.0..=1.0).contains(&rate) {
                return Err(SimulatorConfigError::RateOutOfRange { flag, rate });
            }
        }
        let total: f64 = faults.iter().map(|(_, rate)| rate).sum();
        if total > 1.0 + 1e-9 {
            return Err(SimulatorConfigError::RatesExceedOne { total });
        }
        Ok(())
    }
}
