//! What becomes of one call: how long it takes and whether it goes wrong.

use std::time::Duration;

use crate::config::SimulatorConfig;
use crate::dice::{Dice, Purpose};

/// How a call goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    RateLimit,
    Error,
    Drop,
    Stall,
    Truncate,
    Malform,
}

/// What becomes of one attempt.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fate {
    pub(crate) fault: Option<Fault>,
    pub(crate) latency: Duration,
    /// Chooses among the shapes of a fault.
    pub(crate) variant: u64,
}

impl Fate {
    /// The fate of an attempt; `dice` are those of the prompt and the attempt.
    pub(crate) fn of(config: &SimulatorConfig, dice: Dice) -> Self {
        let fault = fault(config, dice.share(Purpose::Fault));
        Self { fault, latency: latency(config, dice), variant: dice.bits(Purpose::FaultVariant) }
    }
}

fn fault(config: &SimulatorConfig, share: f64) -> Option<Fault> {
    let rates = [
        (Fault::RateLimit, config.rate_limit),
        (Fault::Error, config.error),
        (Fault::Drop, config.drop),
        (Fault::Stall, config.stall),
        (Fault::Truncate, config.truncate),
        (Fault::Malform, config.malform),
    ];
    let mut bound = 0.0;
    for (fault, rate) in rates {
        bound += rate;
        if share < bound {
            return Some(fault);
        }
    }
    None
}

/// Fixed, or log-normal with the configured median: `median · exp(σ · z)`, z by Box and Muller.
fn latency(config: &SimulatorConfig, dice: Dice) -> Duration {
    if config.latency_sigma == 0.0 || config.latency_ms == 0.0 {
        return milliseconds(config.latency_ms);
    }
    let radius = (-2.0 * (1.0 - dice.share(Purpose::LatencyRadius)).ln()).sqrt();
    let normal = radius * (std::f64::consts::TAU * dice.share(Purpose::LatencyAngle)).cos();
    milliseconds(config.latency_ms * (config.latency_sigma * normal).exp())
}

fn milliseconds(milliseconds: f64) -> Duration {
    const HOUR_MS: f64 = 3_600_000.0;
    Duration::from_secs_f64(milliseconds.clamp(0.0, HOUR_MS) / 1_000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_come_at_their_rates() {
        let config =
            SimulatorConfig { rate_limit: 0.1, error: 0.05, malform: 0.02, ..Default::default() };
        let fates: Vec<_> =
            (0..20_000).map(|key| Fate::of(&config, Dice::new(3, key)).fault).collect();
        let share = |fault| fates.iter().filter(|found| **found == fault).count() as f64 / 20_000.0;
        assert!((share(Some(Fault::RateLimit)) - 0.1).abs() < 0.01);
        assert!((share(Some(Fault::Error)) - 0.05).abs() < 0.01);
        assert!((share(Some(Fault::Malform)) - 0.02).abs() < 0.01);
        assert_eq!(share(Some(Fault::Drop)), 0.0);
    }

    #[test]
    fn a_log_normal_latency_has_the_configured_median() {
        let config = SimulatorConfig { latency_ms: 50.0, latency_sigma: 0.5, ..Default::default() };
        let mut times: Vec<_> =
            (0..5_001).map(|key| Fate::of(&config, Dice::new(3, key)).latency).collect();
        times.sort();
        let median = times[2_500].as_secs_f64() * 1_000.0;
        assert!((median - 50.0).abs() < 2.0, "{median}");
        assert!(times[4_900].as_secs_f64() > 0.1);
    }
}
