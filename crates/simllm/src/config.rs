//! What to simulate: flags of the binary, and the same as plain data for tests.

use serde::{Deserialize, Serialize};

use crate::batches::BatchConfig;

const DEFAULT_RETRY_AFTER_MS: u64 = 50;
const DEFAULT_STALL_MS: u64 = 30_000;
const DEFAULT_REPLY_WORDS: usize = 12;

/// What the simulated provider does. The rates are shares of calls from 0 to 1; a call has at most one fault.
#[derive(Debug, Clone, PartialEq, clap::Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SimulatorConfig {
    /// Port on 127.0.0.1; 0 takes any free one.
    #[arg(long, default_value_t = 0)]
    pub port: u16,
    /// Seed of every answer and every fault.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Time to answer in milliseconds; the median where there is a sigma.
    #[arg(long, default_value_t = 0.0)]
    pub latency_ms: f64,
    /// Spread of a log-normal latency; 0 is a fixed latency.
    #[arg(long, default_value_t = 0.0)]
    pub latency_sigma: f64,
    /// Share of calls refused with 429.
    #[arg(long, default_value_t = 0.0)]
    pub rate_limit: f64,
    /// What a 429 asks the client to wait, in milliseconds.
    #[arg(long, default_value_t = DEFAULT_RETRY_AFTER_MS)]
    pub retry_after_ms: u64,
    /// Share of calls that fail with 500, or with the wire's own word for overload.
    #[arg(long, default_value_t = 0.0)]
    pub error: f64,
    /// Share of calls whose connection is closed with no reply.
    #[arg(long, default_value_t = 0.0)]
    pub drop: f64,
    /// Share of calls that hang before they are answered.
    #[arg(long, default_value_t = 0.0)]
    pub stall: f64,
    /// How long a stalled call hangs, in milliseconds.
    #[arg(long, default_value_t = DEFAULT_STALL_MS)]
    pub stall_ms: u64,
    /// Share of calls answered with half of the JSON.
    #[arg(long, default_value_t = 0.0)]
    pub truncate: f64,
    /// Share of calls answered with 200 and something that is not valid for the wire format.
    #[arg(long, default_value_t = 0.0)]
    pub malform: f64,
    /// Calls let through per minute; the others get 429.
    #[arg(long)]
    pub requests_per_minute: Option<u32>,
    /// Every call after this many gets 401.
    #[arg(long)]
    pub fail_after: Option<u64>,
    /// The key a caller must send; 401 otherwise.
    #[arg(long)]
    pub require_key: Option<String>,
    /// Longest prompt in tokens; 400 beyond it.
    #[arg(long)]
    pub max_context_tokens: Option<u64>,
    /// Words of an answer that is only text.
    #[arg(long, default_value_t = DEFAULT_REPLY_WORDS)]
    pub reply_words: usize,
    /// How batches behave.
    #[command(flatten)]
    pub batch: BatchConfig,
}

impl Default for SimulatorConfig {
    fn default() -> Self {
        Self {
            port: 0,
            seed: 0,
            latency_ms: 0.0,
            latency_sigma: 0.0,
            rate_limit: 0.0,
            retry_after_ms: DEFAULT_RETRY_AFTER_MS,
            error: 0.0,
            drop: 0.0,
            stall: 0.0,
            stall_ms: DEFAULT_STALL_MS,
            truncate: 0.0,
            malform: 0.0,
            requests_per_minute: None,
            fail_after: None,
            require_key: None,
            max_context_tokens: None,
            reply_words: DEFAULT_REPLY_WORDS,
            batch: BatchConfig::default(),
        }
    }
}

/// A setting that cannot be simulated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SimulatorConfigError {
    /// A rate outside 0 to 1.
    #[error("--{flag} is {rate}, but a share of calls is between 0 and 1")]
    RateOutOfRange {
        /// The flag's name.
        flag: &'static str,
        /// What was given.
        rate: f64,
    },
    /// More faults than calls.
    #[error("the fault rates add up to {total}, but a call has at most one fault")]
    RatesExceedOne {
        /// Their sum.
        total: f64,
    },
    /// A time that is negative or not a number.
    #[error("--{flag} is {value}, but it cannot be negative")]
    Negative {
        /// The flag's name.
        flag: &'static str,
        /// What was given.
        value: f64,
    },
    /// A limit that lets nothing through.
    #[error("--requests-per-minute is 0, so no call could ever be answered")]
    NoRequests,
}

impl SimulatorConfig {
    /// Refuses what cannot be simulated.
    ///
    /// # Errors
    /// When a rate is outside 0 to 1, the rates exceed 1 together, a time is negative or a limit is 0.
    pub fn validate(&self) -> Result<(), SimulatorConfigError> {
        let rates = [
            ("rate-limit", self.rate_limit),
            ("error", self.error),
            ("drop", self.drop),
            ("stall", self.stall),
            ("truncate", self.truncate),
            ("malform", self.malform),
        ];
        for (flag, rate) in rates {
            if !(0.0..=1.0).contains(&rate) {
                return Err(SimulatorConfigError::RateOutOfRange { flag, rate });
            }
        }
        let total: f64 = rates.iter().map(|(_, rate)| rate).sum();
        if total > 1.0 + 1e-9 {
            return Err(SimulatorConfigError::RatesExceedOne { total });
        }
        for (flag, value) in
            [("latency-ms", self.latency_ms), ("latency-sigma", self.latency_sigma)]
        {
            if !value.is_finite() || value < 0.0 {
                return Err(SimulatorConfigError::Negative { flag, value });
            }
        }
        if self.requests_per_minute == Some(0) {
            return Err(SimulatorConfigError::NoRequests);
        }
        self.batch.validate()
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        config: SimulatorConfig,
    }

    #[test]
    fn the_flags_and_the_plain_data_have_the_same_defaults() {
        assert_eq!(Command::parse_from(["simllm"]).config, SimulatorConfig::default());
    }

    #[test]
    fn impossible_rates_are_refused() {
        let too_many = SimulatorConfig { error: 0.7, drop: 0.7, ..SimulatorConfig::default() };
        assert!(matches!(too_many.validate(), Err(SimulatorConfigError::RatesExceedOne { .. })));
        let not_a_number = SimulatorConfig { error: f64::NAN, ..SimulatorConfig::default() };
        assert!(not_a_number.validate().is_err());
        let full = SimulatorConfig { error: 0.5, drop: 0.5, ..SimulatorConfig::default() };
        assert_eq!(full.validate(), Ok(()));
    }
}
