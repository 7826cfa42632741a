//! Replies that could not be used, and what judging takes.

use std::collections::BTreeMap;

use fullbench_analysis::Measured;
use fullbench_stats::quantile;
use fullbench_types::{NanoDollars, UnscoredReason};
use serde::{Serialize, Serializer};

use super::data::Data;
use crate::Estimate;

/// Replies that could not be used, and what judging takes.
#[derive(Debug, Clone, Serialize)]
pub struct ReplySection {
    /// Probes that were planned.
    pub planned: usize,
    /// Of those, how many nothing was observed of.
    pub not_run: usize,
    /// Share of judged probes without a score.
    pub unscored: Measured<Estimate>,
    /// The same by reason.
    pub unscored_by_reason: Vec<UnscoredLine>,
    /// Scores that are no number from 0 to 1, and were left out.
    pub unusable_values: usize,
    /// Share of replies that could not be used and were asked for again.
    pub unusable_replies: Measured<Estimate>,
    /// What all of it cost, where prices are known.
    #[serde(rename = "cost_usd", serialize_with = "dollars")]
    pub cost: Measured<NanoDollars>,
    /// What a judgement cost on average, of those whose price is known.
    #[serde(rename = "cost_of_each_usd", serialize_with = "dollars")]
    pub cost_of_each: Measured<NanoDollars>,
    /// Median of the seconds of a judgement, of those not served from the cache.
    pub seconds_median: Measured<f64>,
    /// Their 95th percentile.
    pub seconds_p95: Measured<f64>,
    /// Tokens of all prompts.
    pub input_tokens: u64,
    /// Tokens of all replies.
    pub output_tokens: u64,
}

/// One reason why there is no score.
#[derive(Debug, Clone, Serialize)]
pub struct UnscoredLine {
    /// The reason; none where none was given.
    pub reason: Option<UnscoredReason>,
    /// How many.
    pub count: usize,
}

/// Money in documents is in dollars.
fn dollars<S: Serializer>(cost: &Measured<NanoDollars>, serializer: S) -> Result<S::Ok, S::Error> {
    match cost {
        Measured::Value(cost) => serializer.serialize_f64(cost.dollars()),
        Measured::Undefined { .. } => cost.serialize(serializer),
    }
}

pub(super) fn of(data: &Data<'_>) -> ReplySection {
    let confidence = data.options.confidence;
    let judged: Vec<_> = data.observed.iter().copied().flatten().collect();
    let mut reasons: BTreeMap<Option<UnscoredReason>, usize> = BTreeMap::new();
    for one in judged.iter().filter(|one| one.value.is_none()) {
        *reasons.entry(one.unscored).or_default() += 1;
    }
    let unscored = reasons.values().sum();
    let replies: usize = judged.iter().map(|one| one.replies as usize).sum();
    // No more than there are, whatever was told.
    let unusable = judged.iter().map(|one| one.unusable_replies.min(one.replies) as usize).sum();
    let costs: Vec<NanoDollars> = judged.iter().filter_map(|one| one.cost).collect();
    let total: NanoDollars = costs.iter().copied().sum();
    let priced = |amount: i64| {
        if costs.is_empty() {
            Measured::undefined("no price is known")
        } else {
            Measured::Value(NanoDollars(amount))
        }
    };
    let seconds: Vec<f64> =
        judged.iter().filter_map(|one| one.seconds).filter(|one| one.is_finite()).collect();
    let time = |p: f64| match quantile(&seconds, p) {
        Ok(seconds) => Measured::Value(seconds),
        Err(_) => Measured::undefined("no judgement was timed: all came from the cache"),
    };
    ReplySection {
        planned: data.probes.len(),
        not_run: data.probes.len() - judged.len(),
        unscored: Estimate::share(unscored, judged.len(), confidence, "judged probes"),
        unscored_by_reason: reasons
            .into_iter()
            .map(|(reason, count)| UnscoredLine { reason, count })
            .collect(),
        unusable_values: data.unusable_values,
        unusable_replies: Estimate::share(unusable, replies, confidence, "replies"),
        cost: priced(total.0),
        cost_of_each: priced(total.0 / costs.len().max(1) as i64),
        seconds_median: time(0.5),
        seconds_p95: time(0.95),
        input_tokens: judged.iter().fold(0, |sum, one| sum.saturating_add(one.input_tokens)),
        output_tokens: judged.iter().fold(0, |sum, one| sum.saturating_add(one.output_tokens)),
    }
}
