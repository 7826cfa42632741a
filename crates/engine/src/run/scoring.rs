//! Scoring: answers that are safely recorded get their scores.

use std::sync::Arc;

use fullbench_score::{Item, NamedScorer};
use fullbench_store::ScoreRecord;
use fullbench_types::{Outcome, Score, UnscoredReason};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::lane::GeneratedUnit;
use super::recorder::ScoredUnit;

/// Units scored together.
const BATCH: usize = 256;
/// Batches scored at the same time.
const MAX_BATCHES: usize = 8;

/// Why some scores are missing that were never asked for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LeftOpen {
    /// The budget had no room for a scorer's call.
    pub(crate) out_of_budget: bool,
    /// The run was stopped before a scorer's call.
    pub(crate) stopped: bool,
}

/// Scores batches of answers.
pub(crate) struct Scoring {
    scorers: Arc<Vec<NamedScorer>>,
    scored: mpsc::Sender<ScoredUnit>,
}

impl Scoring {
    pub(crate) fn new(scorers: Arc<Vec<NamedScorer>>, scored: mpsc::Sender<ScoredUnit>) -> Self {
        Self { scorers, scored }
    }

    /// Runs until no more answers come and all are scored, or left open.
    pub(crate) async fn run(
        self,
        mut answers: mpsc::UnboundedReceiver<Vec<GeneratedUnit>>,
    ) -> LeftOpen {
        let mut open = LeftOpen::default();
        let mut batches = JoinSet::new();
        while let Some(mut units) = answers.recv().await {
            while !units.is_empty() {
                let batch = units.split_off(units.len().saturating_sub(BATCH));
                if batches.len() >= MAX_BATCHES
                    && let Some(Ok(batch)) = batches.join_next().await
                {
                    open = open.and(batch);
                }
                batches.spawn(score_batch(self.scorers.clone(), batch, self.scored.clone()));
            }
        }
        while let Some(batch) = batches.join_next().await {
            open = open.and(batch.unwrap_or_default());
        }
        open
    }
}

impl LeftOpen {
    fn and(self, other: Self) -> Self {
        Self {
            out_of_budget: self.out_of_budget || other.out_of_budget,
            stopped: self.stopped || other.stopped,
        }
    }

    /// Notes a score that was never asked for, and says whether it is one.
    fn notes(&mut self, score: &Score) -> bool {
        match score.outcome {
            Outcome::Unscored(UnscoredReason::BudgetExhausted) => self.out_of_budget = true,
            Outcome::Unscored(UnscoredReason::Cancelled) => self.stopped = true,
            _ => return false,
        }
        true
    }
}

async fn score_batch(
    scorers: Arc<Vec<NamedScorer>>,
    units: Vec<GeneratedUnit>,
    scored: mpsc::Sender<ScoredUnit>,
) -> LeftOpen {
    let mut open = LeftOpen::default();
    let units = Arc::new(units);
    let mut by_scorer = Vec::with_capacity(scorers.len());
    for index in 0..scorers.len() {
        by_scorer.push(scores_of(scorers.clone(), index, units.clone()).await);
    }
    let Some(units) = Arc::into_inner(units) else { return open };
    for (position, unit) in units.into_iter().enumerate() {
        let mut scores = Vec::with_capacity(scorers.len());
        for (scorer, of_scorer) in scorers.iter().zip(&mut by_scorer) {
            let taken = Score::unscored(UnscoredReason::ScorerError);
            let score = std::mem::replace(&mut of_scorer[position], taken);
            if !open.notes(&score) {
                let scorer = scorer.hash.short();
                scores.push(ScoreRecord { key: unit.key, scorer, revision: 0, score });
            }
        }
        let complete = scores.len() == scorers.len();
        let unit = ScoredUnit {
            key: unit.key,
            position: unit.position,
            scores,
            complete,
            _place: unit.place,
        };
        if scored.send(unit).await.is_err() {
            break;
        }
    }
    open
}

/// The scores of one scorer; a scorer that fails costs its own scores, not the run.
async fn scores_of(
    scorers: Arc<Vec<NamedScorer>>,
    index: usize,
    units: Arc<Vec<GeneratedUnit>>,
) -> Vec<Score> {
    let count = units.len();
    let together = scores_in_task(scorers.clone(), index, units.clone(), 0, count).await;
    if let Some(scores) = together {
        return scores;
    }
    let mut scores = Vec::with_capacity(count);
    for position in 0..count {
        let alone =
            scores_in_task(scorers.clone(), index, units.clone(), position, position + 1).await;
        scores.push(alone.and_then(|mut scores| scores.pop()).unwrap_or_else(|| {
            Score::unscored(UnscoredReason::ScorerError).because("the scorer failed on this output")
        }));
    }
    scores
}

/// Scores a range of units in a task of its own, so that a panic stays there; none when it failed.
async fn scores_in_task(
    scorers: Arc<Vec<NamedScorer>>,
    index: usize,
    units: Arc<Vec<GeneratedUnit>>,
    from: usize,
    to: usize,
) -> Option<Vec<Score>> {
    let task = tokio::spawn(async move {
        let scorer = scorers.get(index)?;
        let items: Vec<Item<'_>> = units[from..to]
            .iter()
            .filter_map(|unit| {
                Some(Item { case: &unit.case, generation: unit.result.as_ref().ok()? })
            })
            .collect();
        let scores = scorer.scorer.score(&items).await;
        (scores.len() == to - from).then_some(scores)
    });
    task.await.ok().flatten()
}
