//! What is measured of calls, for whoever installs a recorder; nothing is kept where nobody does.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use fullbench_types::{Generation, NanoDollars};

use crate::model::{CallError, Reply};

/// Names of a kind that are told apart; what comes after is `other`, so that users cannot make measurements grow without end.
const NAMES: usize = 300;

/// Names of one kind that were measured. Each kind has its own, so that the names of one do not take the places of another.
#[derive(Debug, Default)]
pub struct MeasuredNames(Mutex<BTreeSet<String>>);

impl MeasuredNames {
    /// None so far.
    #[must_use]
    pub const fn new() -> Self {
        Self(Mutex::new(BTreeSet::new()))
    }

    /// The name as a measurement may have it.
    #[must_use]
    pub fn named(&self, name: &str) -> String {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.contains(name) || (seen.len() < NAMES && seen.insert(name.to_owned())) {
            return name.to_owned();
        }
        "other".to_owned()
    }
}

static MODELS: MeasuredNames = MeasuredNames::new();

/// A call of a provider that has ended.
pub(crate) fn call_ended(
    provider: &'static str,
    model: &str,
    result: &Result<Reply, CallError>,
    took: Duration,
) {
    let outcome = match result {
        Ok(_) => "answered".to_owned(),
        Err(error) => error.class.to_string(),
    };
    let model = MODELS.named(model);
    metrics::counter!("fullbench_provider_calls_total",
        "provider" => provider, "model" => model.clone(), "outcome" => outcome)
    .increment(1);
    metrics::histogram!("fullbench_provider_call_seconds", "provider" => provider, "model" => model)
        .record(took.as_secs_f64());
}

/// What an answer cost.
pub(crate) fn paid(provider: &'static str, generation: &Generation) {
    let cost = generation.cost.unwrap_or(NanoDollars::ZERO).0;
    let tokens = generation.usage.unwrap_or_default();
    metrics::counter!("fullbench_cost_nanodollars_total", "provider" => provider)
        .increment(u64::try_from(cost).unwrap_or_default());
    for (kind, count) in [("input", tokens.input_tokens), ("output", tokens.output_tokens)] {
        metrics::counter!("fullbench_tokens_total", "provider" => provider, "kind" => kind)
            .increment(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_end_are_one_and_take_no_place_of_another_kind() {
        let (models, scorers) = (MeasuredNames::new(), MeasuredNames::new());
        for number in 0..NAMES {
            assert_eq!(models.named(&number.to_string()), number.to_string());
        }
        assert_eq!(models.named("one more"), "other");
        assert_eq!(models.named("7"), "7");
        assert_eq!(scorers.named("one more"), "one more");
    }
}
