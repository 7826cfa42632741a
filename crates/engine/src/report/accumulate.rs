//! Sums up the results of one model as they are read, in bounded memory.

use std::collections::{BTreeMap, HashMap};

use fullbench_score::NamedScorer;
use fullbench_stats::{
    ClusterSums, Interval, Moments, ValueCounts, mean_interval, wilson_interval,
};
use fullbench_store::{GenerationCount, ScoreCount, UnitResult};
use fullbench_types::{FinishReason, NanoDollars, Outcome, Score, UnscoredReason};

use super::sampled::{CascadeSums, PathSums, RouteSummary};
use super::summary::{LatencyStep, LatencySummary, ModelSummary, ScorerSummary};

/// The confidence of every interval.
const CONFIDENCE: f64 = 0.95;
/// What an interval is called whose values are of two judges.
const MIXED: &str = "mixed_judges";
/// Steps of a score histogram.
const SCORE_STEPS: usize = 20;
/// Steps of a latency histogram.
const LATENCY_STEPS: usize = 24;

/// What counts as one independent observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clustered {
    /// Every value.
    No,
    /// A case with its repetitions.
    ByCase,
    /// A group of cases with their repetitions.
    ByGroup,
}

/// Sums of every model, over all units or a part of them.
pub(crate) struct ModelAccumulators {
    pub(crate) models: Vec<ModelAccumulator>,
    /// Groups numbered anew, so that a part of the units takes no room for groups it does not have.
    groups: HashMap<u32, u32>,
}

impl ModelAccumulators {
    pub(crate) fn new(names: &[String], scorers: &[NamedScorer], clustered: Clustered) -> Self {
        let model = |name: &String| ModelAccumulator::new(name.clone(), scorers, clustered);
        Self { models: names.iter().map(model).collect(), groups: HashMap::new() }
    }

    /// Takes one unit, with the number of its group; units of one case come one after the other.
    pub(crate) fn add(&mut self, unit: &UnitResult, group: Option<u32>) {
        let next = self.groups.len() as u32;
        let group = group.map(|group| *self.groups.entry(group).or_insert(next));
        if let Some(model) = self.models.get_mut(unit.key.model_index as usize) {
            model.add(unit, group);
        }
    }

    /// The summaries, given how many units of each model were planned and why open ones are open.
    pub(crate) fn summaries(self, planned: u64, open_reason: UnscoredReason) -> Vec<ModelSummary> {
        self.models.into_iter().map(|model| model.summary(planned, open_reason)).collect()
    }
}

/// Sums of one model.
pub(crate) struct ModelAccumulator {
    name: String,
    answered: u64,
    failures: BTreeMap<String, u64>,
    from_cache: u64,
    cost: NanoDollars,
    priced: u64,
    tokens: [u64; 4],
    retries: u64,
    latency: Times,
    first_token: Times,
    scorers: Vec<ScorerAccumulator>,
}

#[derive(Default)]
struct Times {
    moments: Moments,
    values: ValueCounts,
}

impl Times {
    fn add(&mut self, microseconds: u64, count: u64) {
        if count > 0 {
            let milliseconds = microseconds as f64 / 1000.0;
            self.moments.add_many(milliseconds, count);
            self.values.add_many(milliseconds, count);
        }
    }

    fn summary(&self) -> Option<LatencySummary> {
        Some(LatencySummary {
            mean: self.moments.mean().ok()?,
            p50: self.values.quantile(0.5).ok()?,
            p95: self.values.quantile(0.95).ok()?,
            max: self.values.max()?,
        })
    }

    fn histogram(&self) -> Vec<LatencyStep> {
        let Some(top) = self.values.quantile(0.99).ok().filter(|top| *top > 0.0) else {
            return Vec::new();
        };
        let width = top / (LATENCY_STEPS - 1) as f64;
        let mut counts = vec![0; LATENCY_STEPS];
        for (value, count) in self.values.iter() {
            counts[((value / width) as usize).min(LATENCY_STEPS - 1)] += count;
        }
        let last = self.values.max().unwrap_or(top);
        let step = |(index, count)| {
            let from = index as f64 * width;
            let to = if index + 1 == LATENCY_STEPS { last.max(from) } else { from + width };
            LatencyStep { from, to, count }
        };
        counts.into_iter().enumerate().map(step).collect()
    }
}

impl ModelAccumulator {
    pub(crate) fn new(name: String, scorers: &[NamedScorer], clustered: Clustered) -> Self {
        Self {
            name,
            answered: 0,
            failures: BTreeMap::new(),
            from_cache: 0,
            cost: NanoDollars::ZERO,
            priced: 0,
            tokens: [0; 4],
            retries: 0,
            latency: Times::default(),
            first_token: Times::default(),
            scorers: scorers
                .iter()
                .map(|scorer| ScorerAccumulator::new(scorer, clustered))
                .collect(),
        }
    }

    /// Takes one unit, with the number of its group; units of one case come one after the other.
    pub(crate) fn add(&mut self, unit: &UnitResult, group: Option<u32>) {
        let generation = unit.result.as_ref().ok();
        let attempts =
            unit.result.as_ref().map_or_else(|failure| failure.attempts, |answer| answer.attempts);
        let usage = generation.and_then(|answer| answer.usage).unwrap_or_default();
        let cost = generation.and_then(|answer| answer.cost);
        self.add_generations(&GenerationCount {
            model_index: unit.key.model_index,
            failure: unit.result.as_ref().err().map(|failure| failure.reason),
            recorded: generation
                .is_some_and(|answer| answer.finish_reason == FinishReason::Recorded),
            count: 1,
            retries: u64::from(attempts.saturating_sub(1)),
            cached: generation.map_or(0, |answer| u64::from(answer.cached)),
            priced: u64::from(cost.is_some()),
            cost: cost.unwrap_or_default(),
            tokens: [
                usage.input_tokens,
                usage.output_tokens,
                usage.cached_input_tokens,
                usage.reasoning_tokens,
            ],
        });
        if let Some(answer) = generation {
            self.add_latency(answer.latency_us, u64::from(answer.latency_us > 0));
            let first_token = answer.time_to_first_token_us.unwrap_or_default();
            self.add_first_token(first_token, u64::from(first_token > 0));
        }
        for entry in &unit.scores {
            for scorer in self.scorers.iter_mut().filter(|scorer| scorer.hash == entry.scorer) {
                scorer.add(entry.score.outcome, entry.score.value, 1);
                scorer.add_to_cluster(unit.key.case_index, group, entry.score.value);
                scorer.add_path(unit.key.case_index, group, &entry.score);
            }
        }
    }

    /// Takes units that ended alike.
    pub(crate) fn add_generations(&mut self, units: &GenerationCount) {
        self.retries += units.retries;
        if let Some(reason) = units.failure {
            *self.failures.entry(reason.to_string()).or_default() += units.count;
            self.scorers.iter_mut().for_each(|scorer| scorer.unscored(reason.into(), units.count));
            return;
        }
        self.answered += units.count;
        self.from_cache += units.cached;
        self.priced += if units.recorded { units.count } else { units.priced };
        self.cost += units.cost;
        self.tokens.iter_mut().zip(units.tokens).for_each(|(sum, count)| *sum += count);
    }

    /// Takes answers that took equally long.
    pub(crate) fn add_latency(&mut self, microseconds: u64, count: u64) {
        self.latency.add(microseconds, count);
    }

    /// Takes answers whose first token took equally long.
    pub(crate) fn add_first_token(&mut self, microseconds: u64, count: u64) {
        self.first_token.add(microseconds, count);
    }

    /// Takes scores that are alike.
    pub(crate) fn add_scores(&mut self, scores: &ScoreCount) {
        for scorer in self.scorers.iter_mut().filter(|scorer| scorer.hash == scores.scorer) {
            scorer.add(scores.outcome, scores.value, scores.count);
        }
    }

    /// The summary, given how many units were planned and why open ones are open.
    pub(crate) fn summary(self, planned: u64, open_reason: UnscoredReason) -> ModelSummary {
        let failed: u64 = self.failures.values().sum();
        let remaining = planned.saturating_sub(self.answered + failed);
        let whole_cost = self.priced == self.answered && self.answered > 0;
        ModelSummary {
            model: self.name,
            planned,
            answered: self.answered,
            failures: self.failures,
            remaining,
            from_cache: self.from_cache,
            cost_usd: whole_cost.then(|| self.cost.dollars()),
            input_tokens: self.tokens[0],
            output_tokens: self.tokens[1],
            cached_input_tokens: self.tokens[2],
            reasoning_tokens: self.tokens[3],
            retries: self.retries,
            latency_ms: self.latency.summary(),
            time_to_first_token_ms: self.first_token.summary(),
            latency_histogram: self.latency.histogram(),
            scores: self
                .scorers
                .into_iter()
                .map(|scorer| scorer.summary(self.answered, remaining, open_reason))
                .collect(),
        }
    }
}

/// Sums of one scorer on one model.
struct ScorerAccumulator {
    name: String,
    hash: [u8; 16],
    binary: bool,
    clustered: Clustered,
    moments: Moments,
    values: ValueCounts,
    clusters: ClusterSums,
    /// The case whose repetitions are being read.
    open_case: Option<(u64, f64, u64)>,
    /// Sum and number of values by group: groups may come in any order.
    groups: Vec<(f64, u32)>,
    passed: u64,
    failed: u64,
    scored: u64,
    unscored: BTreeMap<String, u64>,
    seen: u64,
    /// The names of a cascade's tiers.
    tiers: Vec<String>,
    /// The ways that outputs took, where they took different ones.
    paths: Option<PathSums>,
    /// Cases numbered anew, as clusters of a cascade's repetitions.
    last_case: Option<(u64, u32)>,
}

impl ScorerAccumulator {
    fn new(scorer: &NamedScorer, clustered: Clustered) -> Self {
        Self {
            name: scorer.name.clone(),
            hash: scorer.hash.short(),
            binary: scorer.binary,
            clustered,
            moments: Moments::default(),
            values: ValueCounts::default(),
            clusters: ClusterSums::default(),
            open_case: None,
            groups: Vec::new(),
            passed: 0,
            failed: 0,
            scored: 0,
            unscored: BTreeMap::new(),
            seen: 0,
            tiers: scorer.scorer.tiers(),
            paths: scorer.scorer.has_paths().then(PathSums::default),
            last_case: None,
        }
    }

    /// Takes the way an output took, where that matters.
    fn add_path(&mut self, case_index: u64, group: Option<u32>, score: &Score) {
        let Some(paths) = &mut self.paths else { return };
        let cluster = match self.clustered {
            Clustered::No => None,
            Clustered::ByGroup => group,
            Clustered::ByCase => {
                let number = match self.last_case {
                    Some((case, number)) if case == case_index => number,
                    Some((_, number)) => number + 1,
                    None => 0,
                };
                self.last_case = Some((case_index, number));
                Some(number)
            }
        };
        paths.add(score, cluster);
    }

    fn add(&mut self, outcome: Outcome, value: Option<f64>, count: u64) {
        self.seen += count;
        match outcome {
            Outcome::Passed => self.passed += count,
            Outcome::Failed => self.failed += count,
            Outcome::Scored => self.scored += count,
            Outcome::NotSampled => {}
            Outcome::Unscored(reason) => self.unscored(reason, count),
        }
        if let Some(value) = value {
            self.moments.add_many(value, count);
            self.values.add_many(value, count);
        }
    }

    /// Adds a value to its cluster.
    fn add_to_cluster(&mut self, case_index: u64, group: Option<u32>, value: Option<f64>) {
        let Some(value) = value else { return };
        match (self.clustered, group) {
            (Clustered::ByGroup, Some(group)) => {
                let group = group as usize;
                if self.groups.len() <= group {
                    self.groups.resize(group + 1, (0.0, 0));
                }
                self.groups[group].0 += value;
                self.groups[group].1 += 1;
            }
            (Clustered::ByCase, _) => self.add_to_case(case_index, value),
            _ => {}
        }
    }

    fn add_to_case(&mut self, case_index: u64, value: f64) {
        match &mut self.open_case {
            Some((case, sum, count)) if *case == case_index => {
                *sum += value;
                *count += 1;
            }
            _ => {
                self.close_case();
                self.open_case = Some((case_index, value, 1));
            }
        }
    }

    fn unscored(&mut self, reason: UnscoredReason, count: u64) {
        *self.unscored.entry(reason.to_string()).or_default() += count;
    }

    fn close_case(&mut self) {
        if let Some((_, sum, count)) = self.open_case.take() {
            self.clusters.add(sum, count);
        }
    }

    /// Adds up the clusters; groups of one value each are no clusters.
    fn close_clusters(&mut self) {
        self.close_case();
        if self.clustered != Clustered::ByGroup {
            return;
        }
        if self.groups.iter().all(|(_, count)| *count <= 1) {
            self.clustered = Clustered::No;
        }
        for (sum, count) in self.groups.drain(..) {
            self.clusters.add(sum, u64::from(count));
        }
    }

    /// The interval of the mean and the name of its method. Values are from 0 to 1, and so is what their mean may be.
    fn interval(&self) -> (Option<Interval>, &'static str) {
        let (interval, method) = self.computed_interval();
        let within = |interval: Interval| Interval {
            low: interval.low.clamp(0.0, 1.0),
            high: interval.high.clamp(0.0, 1.0),
        };
        (interval.map(within), method)
    }

    fn computed_interval(&self) -> (Option<Interval>, &'static str) {
        let (by_t, by_wilson) = match self.clustered {
            Clustered::No if self.binary => {
                let interval = wilson_interval(self.passed, self.passed + self.failed, CONFIDENCE);
                return (interval.ok(), "wilson");
            }
            Clustered::No => return (mean_interval(&self.moments, CONFIDENCE).ok(), "t"),
            Clustered::ByCase => ("t_clustered", "wilson_by_case"),
            Clustered::ByGroup => ("t_clustered_by_group", "wilson_by_group"),
        };
        let all_alike = self.passed == 0 || self.failed == 0;
        if self.binary && all_alike {
            let clusters = self.clusters.clusters();
            let successes = if self.passed > 0 { clusters } else { 0 };
            return (wilson_interval(successes, clusters, CONFIDENCE).ok(), by_wilson);
        }
        (self.clusters.interval(CONFIDENCE).ok(), by_t)
    }

    fn summary(
        mut self,
        answered: u64,
        remaining: u64,
        open_reason: UnscoredReason,
    ) -> ScorerSummary {
        self.close_clusters();
        let open = answered.saturating_sub(self.seen) + remaining;
        if open > 0 {
            *self.unscored.entry(open_reason.to_string()).or_default() += open;
        }
        let count = self.moments.count();
        let (interval, method) = self.interval();
        let missing = self.unscored.values().sum::<u64>() as f64;
        let bound = |filled: f64| {
            let units = count as f64 + missing;
            (units > 0.0).then(|| {
                (self.moments.mean().unwrap_or(0.0) * count as f64 + missing * filled) / units
            })
        };
        let mut histogram = vec![0; SCORE_STEPS];
        for (value, count) in self.values.iter() {
            histogram[((value * SCORE_STEPS as f64) as usize).min(SCORE_STEPS - 1)] += count;
        }
        let paths = self.paths.as_ref().map(|paths| paths.summary(&self.tiers));
        let paths = paths.unwrap_or_default();
        let mixed = paths.routes.as_ref().is_some_and(RouteSummary::is_mixed);
        let summary = ScorerSummary {
            scorer: self.name,
            count,
            mean: self.moments.mean().ok(),
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
            interval: interval.map(|_| if mixed { MIXED } else { method }.into()),
            clusters: (self.clustered != Clustered::No).then(|| self.clusters.clusters()),
            p50: self.values.quantile(0.5).ok(),
            p95: self.values.quantile(0.95).ok(),
            passed: self.passed,
            failed: self.failed,
            scored: self.scored,
            worst_mean: bound(0.0),
            best_mean: bound(1.0),
            unscored: self.unscored,
            histogram,
            cascade: paths.cascade,
            routes: paths.routes,
            similar: paths.similar,
        };
        let cascade = self.paths.and_then(|paths| paths.cascade);
        match cascade {
            Some(cascade) => weighted(summary, &cascade),
            None => summary,
        }
    }
}

/// The numbers of a cascade: judged outputs stand for all of them, each for as many as its chance says.
fn weighted(summary: ScorerSummary, cascade: &CascadeSums) -> ScorerSummary {
    let values = cascade.closed();
    let interval = cascade.interval();
    let mean = values.mean().ok();
    // Outputs that should have a value and have none stand for as many as their chance says, those without a record for themselves;
    // together they stand for all that the judged ones do not, at least.
    let (known, weight) = cascade.missing;
    let judged = values.population();
    let unscored = summary.unscored_count();
    let recorded = cascade.outputs() as f64;
    let open = unscored.saturating_sub(known) as f64;
    let missing = match unscored {
        0 => 0.0,
        _ => (weight + open).max(recorded + open - judged),
    };
    let bound = |filled: f64| {
        let units = judged + missing;
        (units > 0.0).then(|| (mean.unwrap_or(0.0) * judged + missing * filled) / units)
    };
    ScorerSummary {
        mean,
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
        interval: interval.map(|_| "weighted".into()),
        p50: cascade.quantiles.quantile(0.5).ok(),
        p95: cascade.quantiles.quantile(0.95).ok(),
        worst_mean: bound(0.0),
        best_mean: bound(1.0),
        histogram: cascade.steps.iter().map(|weight| weight.round() as u64).collect(),
        ..summary
    }
}
