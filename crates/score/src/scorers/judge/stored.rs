//! `judge`: a judge of the store, by its name.

use async_trait::async_trait;
use fullbench_types::{Score, UnscoredReason};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::registry::ScorerConfigError;
use crate::scorer::Item;
use crate::scorers::{BatchScorer, Parameters};

/// Parameters of `judge`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredJudge {
    /// The judge's name, as `fullbench judge list` shows it. The run keeps the judge as it is now.
    judge: String,
}

/// Stands for a judge until a run puts the judge itself in its place.
pub(crate) struct NamedJudge(String);

impl Parameters for StoredJudge {
    type Scorer = NamedJudge;

    const KIND: &'static str = "judge";
    const SUMMARY: &'static str = "A stored judge, made with `fullbench judge add`.";
    const EXAMPLE: &'static str = "{ type: judge, judge: strict_coherence }";
    const BINARY: bool = false;

    fn build(self) -> Result<NamedJudge, ScorerConfigError> {
        Ok(NamedJudge(self.judge))
    }
}

#[async_trait]
impl BatchScorer for NamedJudge {
    async fn score_items(&self, items: &[Item<'_>]) -> Vec<Score> {
        let unknown = || {
            Score::unscored(UnscoredReason::ScorerError)
                .because(format!("the judge `{}` was not found", self.0))
        };
        items.iter().map(|_| unknown()).collect()
    }
}
