//! `cascade`: cheap scorers on everything, dearer ones on a part, the last tier on a sample and on every doubt.
//!
//! Every output has a chance above 0 of reaching the last tier, and the chance is known from what the tiers before said of it:
//! hard fails and confident exits are audited with a small one. Weighted by its inverse, the outputs that the last tier judged
//! stand for all of them. What the scores then say is worked out where runs are summed up.

mod condition;
mod tier;
mod walk;

use async_trait::async_trait;
use fullbench_types::Score;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::tier::{BuiltTier, Tier, build_tiers};
use super::{BatchScorer, Parameters};
use crate::registry::{NamedScorer, ScorerConfigError};
use crate::scorer::{AskedCall, Item};
use crate::scorers::composite::Children;

/// Most outputs that go through the tiers together.
const MOST_TOGETHER: usize = 512;

/// Parameters of `cascade`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CascadeParameters {
    /// The tiers, from the cheapest to the one whose mean is wanted, which has one scorer.
    tiers: Vec<Tier>,
    /// An output ends with the first tier that is at least this confident of it, 0 to 1, unless it is escalated.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    target_confidence: Option<f64>,
    /// The share of hard fails and of confident exits that go to the last tier all the same, so that the mean stands for them too; above 0.
    #[serde(default = "audit")]
    #[schemars(range(min = 0.0, max = 1.0))]
    audit: f64,
    /// The seed of all draws.
    #[serde(default)]
    seed: u64,
}

fn audit() -> f64 {
    0.05
}

/// Tiers of scorers.
pub(crate) struct Cascade {
    tiers: Vec<BuiltTier>,
    /// The scorers of all tiers, in their order.
    children: Children,
    target_confidence: Option<f64>,
    audit: f64,
    seed: u64,
    is_binary: bool,
}

impl Parameters for CascadeParameters {
    type Scorer = Cascade;

    const KIND: &'static str = "cascade";
    const SUMMARY: &'static str = "Tiers from cheap to dear: each scores a known share of the outputs of the one before, and every failure or doubt; the mean is an estimate of what the last tier would give on all.";
    const EXAMPLE: &'static str = "{ type: cascade, tiers: [{ name: checks, scorers: [json_valid], hard_fail: checks.failed }, { name: fast, sample: 0.1, scorers: [{ type: binary, criterion: helpfulness, model: openai:gpt-4o-mini }] }, { name: full, sample: 0.1, scorers: [{ type: g_eval, criterion: helpfulness, model: openai:gpt-4o }] }] }";
    const BINARY: bool = false;
    const SCORER_PARAMETERS: &'static [&'static str] = &["tiers.scorers"];

    fn build(self) -> Result<Cascade, ScorerConfigError> {
        let is_share = |share: f64| share > 0.0 && share <= 1.0;
        if !is_share(self.audit) {
            return Err(ScorerConfigError::at("audit", "a share is above 0 and at most 1")
                .hint("outputs that are never judged make the mean of all unknowable: keep a small share, such as 0.05"));
        }
        if self.target_confidence.is_some_and(|target| !(0.0..=1.0).contains(&target)) {
            return Err(ScorerConfigError::at("target_confidence", "a confidence is from 0 to 1"));
        }
        let (tiers, children) = build_tiers(&self.tiers)?;
        let expression = tiers.iter().position(|tier| tier.confidence.is_some());
        if let (Some(index), None) = (expression, self.target_confidence) {
            let place = format!("tiers[{index}].confidence");
            return Err(ScorerConfigError::at(place, "there is no `target_confidence` to reach")
                .hint(
                    "say how confident a tier must be to end the way of an output, or remove this",
                ));
        }
        let last = tiers.last().map_or(0, |tier| tier.children.start);
        let measures = |child: &NamedScorer| {
            !child.scorer.models().is_empty()
                || ["javascript", "command"].contains(&child.kind.as_str())
        };
        if self.target_confidence.is_some()
            && expression.is_none()
            && !children.iter().take(last).any(measures)
        {
            return Err(ScorerConfigError::at(
                "target_confidence",
                "no tier measures a confidence",
            )
            .hint("give a tier `confidence:`, such as `0.97 if token_f1.value > 0.9 else 0`"));
        }
        let last = tiers.last().map(|tier| tier.children.clone());
        let is_binary = children.iter().enumerate().any(|(index, child)| {
            last.as_ref().is_some_and(|last| last.contains(&index)) && child.binary
        });
        Ok(Cascade {
            tiers,
            children,
            target_confidence: self.target_confidence,
            audit: self.audit,
            seed: self.seed,
            is_binary,
        })
    }
}

#[async_trait]
impl BatchScorer for Cascade {
    fn is_binary(&self) -> bool {
        self.is_binary
    }

    fn children(&self) -> Option<&Children> {
        Some(&self.children)
    }

    fn tiers(&self) -> Vec<String> {
        self.tiers.iter().map(|tier| tier.name.clone()).collect()
    }

    fn has_paths(&self) -> bool {
        true
    }

    /// Enough for the tiers that judge several outputs with one prompt, as few as may come to them.
    fn batch_size(&self) -> usize {
        let mut share = 1.0;
        let mut largest = 1;
        for tier in &self.tiers {
            share *= tier.sample;
            let children = self.children.iter().enumerate();
            let own = children.filter(|(index, _)| tier.children.contains(index));
            let wanted = own.map(|(_, child)| child.scorer.batch_size()).max().unwrap_or(1);
            if wanted > 1 {
                largest = largest.max((wanted as f64 / share).ceil() as usize);
            }
        }
        largest.min(MOST_TOGETHER)
    }

    fn calls(&self, item: &Item<'_>) -> Vec<AskedCall> {
        self.expected_calls(item)
    }

    fn calls_for_all(&self, item: &Item<'_>) -> Vec<AskedCall> {
        let last = self.tiers.last().map(|tier| tier.children.clone()).unwrap_or_default();
        self.children.calls(item, |child| last.contains(&child))
    }

    async fn score_items(&self, items: &[Item<'_>]) -> Vec<Score> {
        self.walk(items).await
    }
}

#[cfg(test)]
mod tests;
