//! A cascade in numbers: the estimate of what its last tier would give on all outputs, and each tier's share of the work.

use fullbench_stats::Interval;
use fullbench_stats::sampling::{Target, WeightedSums, WeightedValues};
use fullbench_types::{CascadeEnd, CascadePath, NanoDollars, Outcome, Score, TierEntry, TierPath};
use serde::{Deserialize, Serialize};

use super::similar::SimilarSums;
use super::{CONFIDENCE, ClusteredSums, Estimated, SimilarSummary, add_money, dollars};

/// What a cascade says of one model.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CascadeSummary {
    /// Outputs that went through it.
    pub outputs: u64,
    /// Outputs that the last tier judged.
    pub judged: u64,
    /// The mean that the last tier would have given on all these outputs, with the uncertainty of the draw alone.
    pub mean_of_all: Option<Estimated>,
    /// The share that would have passed; none where the last tier has no threshold.
    pub passing: Option<Estimated>,
    /// Half the width of the interval of the mean, and what it would have been had everything been judged; the latter is not known where outputs are clustered.
    pub half_width: Option<(f64, Option<f64>)>,
    /// Outputs for which a condition could not be decided: they counted as doubts.
    pub undecided: u64,
    /// The tiers, in their order.
    pub tiers: Vec<TierSummary>,
    /// Outputs that a condition failed, and how many of them the last tier judged all the same.
    pub hard_fails: (u64, u64),
    /// What the last tier says of hard fails: far from 0 means that the condition is wrong.
    pub mean_of_hard_fails: Option<Estimated>,
    /// Outputs that ended with a confident tier, and how many of them the last tier judged all the same.
    pub confident: (u64, u64),
    /// What all tiers cost without the response cache, in dollars.
    pub cost_usd: Option<f64>,
    /// What it would have cost to judge everything by the last tier.
    pub cost_of_all_usd: Option<Estimated>,
}

/// One tier of a cascade.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TierSummary {
    /// Its name.
    pub tier: String,
    /// Outputs it scored.
    pub scored: u64,
    /// Of these, sent by a condition.
    pub escalated: u64,
    /// Of these, sent to see what a judge says of outputs that could have ended before.
    pub audited: u64,
    /// Outputs that passed.
    pub passed: u64,
    /// Outputs that failed.
    pub failed: u64,
    /// Outputs without a score.
    pub unscored: u64,
    /// What was paid, in dollars.
    pub paid_usd: Option<f64>,
    /// What it would have cost without the response cache.
    pub cost_usd: Option<f64>,
    /// How it agrees with the last tier; none for the last.
    pub agreement: Option<AgreementSummary>,
    /// What was taken from judgements of similar outputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similar: Option<SimilarSummary>,
}

/// A cheap tier beside the last one, on outputs that both scored. These are no random sample, so that shares are weighted.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AgreementSummary {
    /// Outputs that both scored.
    pub overlap: u64,
    /// Of those with a verdict of both, how many have the same.
    pub same_verdict: (u64, u64),
    /// The share of all outputs of which both would say the same.
    pub share: Option<Estimated>,
    /// What the last tier gives on average where this one passes.
    pub mean_where_passed: Option<Estimated>,
    /// What the last tier gives on average where this one fails.
    pub mean_where_failed: Option<Estimated>,
}

/// Sums over outputs.
#[derive(Default)]
pub(crate) struct CascadeSums {
    outputs: u64,
    values: ClusteredSums,
    pub(crate) quantiles: WeightedValues,
    /// Weights of values in equal steps from 0 to 1.
    pub(crate) steps: [f64; STEPS],
    /// Outputs that should have a value and have none, and their weight.
    pub(crate) missing: (u64, f64),
    undecided: u64,
    squares: (f64, f64, f64),
    passing: WeightedSums,
    costs: WeightedSums,
    hard_fails: (u64, u64, WeightedSums),
    confident: (u64, u64),
    tiers: Vec<TierSums>,
}

/// Steps of a histogram of values.
pub(crate) const STEPS: usize = 20;

#[derive(Default)]
struct TierSums {
    scored: u64,
    escalated: u64,
    audited: u64,
    passed: u64,
    failed: u64,
    unscored: u64,
    paid: Option<NanoDollars>,
    full: Option<NanoDollars>,
    overlap: u64,
    same_verdict: (u64, u64),
    agreement: WeightedSums,
    where_passed: WeightedSums,
    where_failed: WeightedSums,
    similar: Option<SimilarSums>,
}

impl CascadeSums {
    pub(super) fn add(&mut self, score: &Score, path: &CascadePath, cluster: Option<u32>) {
        self.outputs += 1;
        if self.tiers.len() < path.tiers.len() {
            self.tiers.resize_with(path.tiers.len(), TierSums::default);
        }
        for (sums, tier) in self.tiers.iter_mut().zip(&path.tiers) {
            sums.add(tier);
        }
        match path.audited.unwrap_or(path.end) {
            CascadeEnd::HardFail => self.hard_fails.0 += 1,
            CascadeEnd::Confident => self.confident.0 += 1,
            CascadeEnd::Judged | CascadeEnd::NotDrawn | CascadeEnd::Open => {}
        }
        self.undecided += u64::from(path.undecided);
        if let (CascadeEnd::Open, Some(last)) = (path.end, path.tiers.last()) {
            self.add_missing(last.probability);
        }
        let (CascadeEnd::Judged, Some((last, before))) = (path.end, path.tiers.split_last()) else {
            return;
        };
        let probability = last.probability;
        if let Some(cost) = last.full_cost {
            add(&mut self.costs, cost.dollars(), probability);
        }
        match score.value {
            Some(value) => self.add_value(value, probability, cluster),
            None => self.add_missing(probability),
        }
        if let (Outcome::Passed | Outcome::Failed, Some(_)) = (score.outcome, score.value) {
            add(&mut self.passing, share(score.outcome == Outcome::Passed), probability);
        }
        for (sums, tier) in self.tiers.iter_mut().zip(before) {
            sums.compare(tier, score, probability);
        }
        match path.audited {
            Some(CascadeEnd::HardFail) => {
                self.hard_fails.1 += 1;
                if let Some(value) = score.value {
                    add(&mut self.hard_fails.2, value, probability);
                }
            }
            Some(CascadeEnd::Confident) => self.confident.1 += 1,
            _ => {}
        }
    }

    fn add_missing(&mut self, probability: f64) {
        self.missing.0 += 1;
        self.missing.1 += 1.0 / probability;
    }

    fn add_value(&mut self, value: f64, probability: f64, cluster: Option<u32>) {
        let weight = 1.0 / probability;
        self.values.add(value, probability, cluster);
        let _ = self.quantiles.add(value, probability);
        let step = ((value * STEPS as f64) as usize).min(STEPS - 1);
        self.steps[step] += weight;
        self.squares.0 += weight;
        self.squares.1 += weight * value;
        self.squares.2 += weight * value * value;
    }

    /// Outputs that went through.
    pub(crate) fn outputs(&self) -> u64 {
        self.outputs
    }

    /// The sums of values, clusters closed.
    pub(crate) fn closed(&self) -> WeightedSums {
        self.values.closed()
    }

    /// The interval for other outputs like these.
    pub(crate) fn interval(&self) -> Option<Interval> {
        self.closed().score_interval(Target::OtherOutputs, CONFIDENCE).ok()
    }

    /// Half the width of the interval, and what it would be if every output had a value with this spread.
    fn half_width(&self) -> Option<(f64, Option<f64>)> {
        let interval = self.interval()?;
        let (weights, weighted, squares) = self.squares;
        let mean = weighted / weights;
        let variance = (squares / weights - mean * mean).max(0.0);
        let of_all = NORMAL_QUANTILE * (variance / self.outputs as f64).sqrt();
        let of_all = (!self.values.is_clustered()).then_some(of_all);
        Some(((interval.high - interval.low) / 2.0, of_all))
    }

    pub(super) fn summary(&self, names: &[String]) -> CascadeSummary {
        let values = self.closed();
        let full = self.tiers.iter().filter_map(|tier| tier.full).reduce(|sum, cost| sum + cost);
        let (hard_fails, audited, of_hard_fails) = &self.hard_fails;
        let last = self.tiers.len().max(names.len()).saturating_sub(1);
        let tiers = names.iter().enumerate().map(|(index, name)| match self.tiers.get(index) {
            Some(sums) => sums.summary(name, index == last),
            None => TierSums::default().summary(name, index == last),
        });
        CascadeSummary {
            outputs: self.outputs,
            judged: values.judged(),
            mean_of_all: Estimated::share(&values, Target::ThisPopulation),
            passing: Estimated::share(&self.passing, Target::ThisPopulation),
            half_width: self.half_width(),
            undecided: self.undecided,
            tiers: tiers.collect(),
            hard_fails: (*hard_fails, *audited),
            mean_of_hard_fails: Estimated::share(of_hard_fails, Target::ThisPopulation),
            confident: self.confident,
            cost_usd: dollars(full),
            cost_of_all_usd: Estimated::mean(&self.costs, Target::ThisPopulation)
                .map(|cost| cost.times(self.outputs as f64)),
        }
    }
}

/// The 97.5% quantile of the normal distribution.
const NORMAL_QUANTILE: f64 = 1.959_963_984_540_054;

impl TierSums {
    fn add(&mut self, tier: &TierPath) {
        self.scored += 1;
        match tier.entry {
            TierEntry::Drawn => {}
            TierEntry::Escalated => self.escalated += 1,
            TierEntry::Audited => self.audited += 1,
        }
        match tier.outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Failed => self.failed += 1,
            Outcome::Unscored(_) => self.unscored += 1,
            Outcome::Scored | Outcome::NotSampled => {}
        }
        if let Some(path) = &tier.similar {
            self.similar.get_or_insert_default().add(tier.value, path);
        }
        add_money(&mut self.paid, tier.cost);
        add_money(&mut self.full, tier.full_cost);
    }

    /// Sets what this tier said beside what the last one says, with the chance that the last one had of being asked.
    fn compare(&mut self, tier: &TierPath, last: &Score, probability: f64) {
        self.overlap += 1;
        let verdict = |outcome| match outcome {
            Outcome::Passed => Some(true),
            Outcome::Failed => Some(false),
            _ => None,
        };
        if let (Some(cheap), Some(dear)) = (verdict(tier.outcome), verdict(last.outcome)) {
            self.same_verdict.0 += u64::from(cheap == dear);
            self.same_verdict.1 += 1;
            add(&mut self.agreement, share(cheap == dear), probability);
        }
        if let (Some(cheap), Some(value)) = (verdict(tier.outcome), last.value) {
            let sums = if cheap { &mut self.where_passed } else { &mut self.where_failed };
            add(sums, value, probability);
        }
    }

    fn summary(&self, name: &str, is_last: bool) -> TierSummary {
        let of = |sums: &WeightedSums| Estimated::share(sums, Target::ThisPopulation);
        let agreement = (!is_last).then(|| AgreementSummary {
            overlap: self.overlap,
            same_verdict: self.same_verdict,
            share: of(&self.agreement),
            mean_where_passed: of(&self.where_passed),
            mean_where_failed: of(&self.where_failed),
        });
        TierSummary {
            tier: name.to_owned(),
            scored: self.scored,
            escalated: self.escalated,
            audited: self.audited,
            passed: self.passed,
            failed: self.failed,
            unscored: self.unscored,
            paid_usd: dollars(self.paid),
            cost_usd: dollars(self.full),
            agreement,
            similar: self.similar.as_ref().map(SimilarSums::summary),
        }
    }
}

fn share(is_so: bool) -> f64 {
    f64::from(u8::from(is_so))
}

/// Takes a value; one that is no number, which no scorer gives, is left out.
fn add(sums: &mut WeightedSums, value: f64, probability: f64) {
    let _ = sums.add(value, probability);
}
