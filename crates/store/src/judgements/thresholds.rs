//! What another threshold would change. Judgements keep the mark they were made by; this only asks.

use std::collections::BTreeMap;

use fullbench_types::Outcome;

use super::JudgementFilter;
use super::rows::Read;
use crate::{ScopedStore, StoreError};

/// What a threshold would do to the judgements by a criterion.
#[derive(Debug, Clone, PartialEq)]
pub struct ThresholdEffect {
    /// The criterion.
    pub criterion: String,
    /// The mark that was tried.
    pub threshold: f64,
    /// Judgements with a value.
    pub scored: u64,
    /// Those that would pass.
    pub would_pass: u64,
    /// Those that passed and would fail.
    pub passed_to_failed: u64,
    /// Those that failed and would pass.
    pub failed_to_passed: u64,
    /// Those that were judged without a mark, and so neither passed nor failed.
    pub without_threshold: u64,
}

impl ThresholdEffect {
    /// How many judgements would change.
    #[must_use]
    pub fn changed(&self) -> u64 {
        self.passed_to_failed + self.failed_to_passed
    }
}

impl ScopedStore {
    /// What a threshold would change, by criterion; without one, what the threshold that each criterion has today would.
    /// Criteria that have none are left out then.
    pub async fn threshold_effect(
        &self,
        threshold: Option<f64>,
        filter: &JudgementFilter,
    ) -> Result<Vec<ThresholdEffect>, StoreError> {
        if let Some(threshold) = threshold.filter(|mark| !(0.0..=1.0).contains(mark)) {
            return Err(StoreError::ThresholdInvalid(threshold));
        }
        let today = match threshold {
            Some(_) => BTreeMap::new(),
            None => self.thresholds_today().await?,
        };
        let mut effects: BTreeMap<String, ThresholdEffect> = BTreeMap::new();
        self.each_judgement(filter, Read::Numbers, |row| {
            let Some(value) = row.value else { return };
            let Some(mark) = threshold.or_else(|| today.get(&row.by.criterion).copied()) else {
                return;
            };
            let effect =
                effects.entry(row.by.criterion).or_insert_with_key(|criterion| ThresholdEffect {
                    criterion: criterion.clone(),
                    threshold: mark,
                    scored: 0,
                    would_pass: 0,
                    passed_to_failed: 0,
                    failed_to_passed: 0,
                    without_threshold: 0,
                });
            let passed = match (row.threshold, row.outcome) {
                (Some(kept), _) => Some(value >= kept),
                (None, Outcome::Passed) => Some(true),
                (None, Outcome::Failed) => Some(false),
                (None, _) => None,
            };
            effect.scored += 1;
            effect.would_pass += u64::from(value >= mark);
            match (passed, value >= mark) {
                (Some(true), false) => effect.passed_to_failed += 1,
                (Some(false), true) => effect.failed_to_passed += 1,
                (None, _) => effect.without_threshold += 1,
                (Some(_), _) => {}
            }
        })
        .await?;
        Ok(effects.into_values().collect())
    }

    async fn thresholds_today(&self) -> Result<BTreeMap<String, f64>, StoreError> {
        let mut today = BTreeMap::new();
        for criterion in self.criteria().await? {
            let name = criterion.criterion.name;
            if let Some(threshold) = self.threshold(&name).await? {
                today.insert(name, threshold.score);
            }
        }
        Ok(today)
    }
}
