//! How judges, and the models they ask, do: values, pass rates, failures, time, tokens and cost.

use std::collections::{BTreeMap, HashMap};

use fullbench_stats::{Moments, ValueCounts};
use fullbench_types::{NanoDollars, Outcome, UnscoredReason};

use super::rows::{JudgedRow, Read};
use super::{JudgeKey, JudgedBy, JudgementFilter};
use crate::{ScopedStore, StoreError};

/// The judgements of a judge or a model, summed up.
#[derive(Debug, Clone, PartialEq)]
pub struct Performance {
    /// How many.
    pub judgements: u64,
    /// Those with a value.
    pub scored: u64,
    /// The mean of the values.
    pub mean: Option<f64>,
    /// Their standard deviation; none for fewer than two.
    pub spread: Option<f64>,
    /// Those that passed.
    pub passed: u64,
    /// Those that failed.
    pub failed: u64,
    /// How many have no value, for each reason that occurred.
    pub unscored: Vec<(UnscoredReason, u64)>,
    /// Mean seconds that the calls of a judgement took together; those served from the cache took none and do not count.
    pub mean_seconds: Option<f64>,
    /// The 95th percentile of the same.
    pub p95_seconds: Option<f64>,
    /// Tokens of all prompts.
    pub input_tokens: u64,
    /// Tokens of all replies.
    pub output_tokens: u64,
    /// What those with a known cost cost.
    pub cost: NanoDollars,
    /// Those with a known cost.
    pub priced: u64,
}

impl Performance {
    /// The share that passed, of those that passed or failed.
    #[must_use]
    pub fn pass_rate(&self) -> Option<f64> {
        let marked = self.passed + self.failed;
        (marked > 0).then(|| self.passed as f64 / marked as f64)
    }
}

/// How a judge does.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgePerformance {
    /// The judge.
    pub judge: JudgedBy,
    /// Its judgements.
    pub performance: Performance,
}

/// How a judging model does, in all judges that ask it.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelPerformance {
    /// The model's name.
    pub model: String,
    /// Their judgements.
    pub performance: Performance,
}

impl ScopedStore {
    /// How each judge does, by name.
    pub async fn judge_performance(
        &self,
        filter: &JudgementFilter,
    ) -> Result<Vec<JudgePerformance>, StoreError> {
        let mut judges: HashMap<JudgeKey, (JudgedBy, Sums)> = HashMap::new();
        self.each_judgement(filter, Read::Numbers, |row| {
            let (_, sums) =
                judges.entry(row.by.key).or_insert_with(|| (row.by.clone(), Sums::default()));
            sums.add(&row);
        })
        .await?;
        let mut performances: Vec<JudgePerformance> = judges
            .into_values()
            .map(|(judge, sums)| JudgePerformance { judge, performance: sums.performance() })
            .collect();
        performances.sort_by_cached_key(|performance| performance.judge.position());
        Ok(performances)
    }

    /// How each judging model does, by name.
    pub async fn judging_model_performance(
        &self,
        filter: &JudgementFilter,
    ) -> Result<Vec<ModelPerformance>, StoreError> {
        let mut models: BTreeMap<String, Sums> = BTreeMap::new();
        self.each_judgement(filter, Read::Numbers, |row| {
            models.entry(row.by.model.clone()).or_default().add(&row);
        })
        .await?;
        let performance = |(model, sums): (String, Sums)| ModelPerformance {
            model,
            performance: sums.performance(),
        };
        Ok(models.into_iter().map(performance).collect())
    }
}

/// Judgements summed up in bounded memory.
#[derive(Default)]
struct Sums {
    judgements: u64,
    values: Moments,
    passed: u64,
    failed: u64,
    unscored: [u64; UnscoredReason::ALL.len()],
    seconds: Moments,
    times: ValueCounts,
    input_tokens: u64,
    output_tokens: u64,
    cost: NanoDollars,
    priced: u64,
}

impl Sums {
    fn add(&mut self, row: &JudgedRow) {
        self.judgements += 1;
        if let Some(value) = row.value {
            self.values.add(value);
        }
        match row.outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Failed => self.failed += 1,
            Outcome::Unscored(reason) => {
                let counts = UnscoredReason::ALL.iter().zip(&mut self.unscored);
                counts.filter(|(one, _)| **one == reason).for_each(|(_, count)| *count += 1);
            }
            Outcome::Scored | Outcome::NotSampled => {}
        }
        let mut calls = row.replies.iter().filter(|reply| !reply.cached).peekable();
        if calls.peek().is_some() {
            let seconds = calls.map(|reply| reply.latency_us).sum::<u64>() as f64 / 1e6;
            self.seconds.add(seconds);
            self.times.add(seconds);
        }
        let (input, output) = row.tokens();
        self.input_tokens += input;
        self.output_tokens += output;
        if let Some(cost) = row.cost {
            self.cost += cost;
            self.priced += 1;
        }
    }

    fn performance(&self) -> Performance {
        let unscored = UnscoredReason::ALL.into_iter().zip(self.unscored);
        Performance {
            judgements: self.judgements,
            scored: self.values.count(),
            mean: self.values.mean().ok(),
            spread: self.values.variance().ok().map(f64::sqrt),
            passed: self.passed,
            failed: self.failed,
            unscored: unscored.filter(|(_, count)| *count > 0).collect(),
            mean_seconds: self.seconds.mean().ok(),
            p95_seconds: self.times.quantile(0.95).ok(),
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens,
            cost: self.cost,
            priced: self.priced,
        }
    }
}
