//! Scoring: answers that are safely recorded get their scores.

use std::sync::Arc;
use std::time::Duration;

use fullbench_score::{Item, NamedScorer, Opposed};
use fullbench_store::ScoreRecord;
use fullbench_types::{NanoDollars, Outcome, Score, UnscoredReason};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tracing::{Instrument, Span};

use super::lane::GeneratedUnit;
use super::opponents::{Opponents, OpposedAnswer};
use super::recorder::ScoredUnit;
use crate::{observed, traced};

/// Units scored together.
const BATCH: usize = 256;
/// Batches scored at the same time.
const MAX_BATCHES: usize = 8;
/// How long units wait for others that are judged with the same prompt.
const COMPANY: Duration = Duration::from_secs(3);

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
    opponents: Arc<Opponents>,
    scored: mpsc::Sender<ScoredUnit>,
    /// Units scored at the same time where a scorer asks a model: each is recorded as soon as its scores are there, so that
    /// a kill loses only what is on its way. The models' limits decide how many are really asked.
    most_judged: usize,
    /// All scorers of a unit work at the same time.
    at_once: bool,
}

impl Scoring {
    pub(crate) fn new(
        scorers: Arc<Vec<NamedScorer>>,
        opponents: Opponents,
        scored: mpsc::Sender<ScoredUnit>,
        most_judged: usize,
        at_once: bool,
    ) -> Self {
        Self { scorers, opponents: Arc::new(opponents), scored, most_judged, at_once }
    }

    /// Runs until no more answers come and all are scored, or left open.
    pub(crate) async fn run(
        self,
        mut answers: mpsc::UnboundedReceiver<Vec<GeneratedUnit>>,
    ) -> LeftOpen {
        let asks = self.scorers.iter().any(|scorer| !scorer.scorer.models().is_empty());
        let together = self.scorers.iter().map(|scorer| scorer.scorer.batch_size()).max();
        let together = together.unwrap_or(1).max(1);
        let (size, most) = if asks { (together, self.most_judged) } else { (BATCH, MAX_BATCHES) };
        let mut open = LeftOpen::default();
        let mut batches = JoinSet::new();
        let mut units = Vec::new();
        loop {
            let came = match asks && together > 1 && !units.is_empty() {
                // What is judged together waits a while for company.
                true => timeout(COMPANY, answers.recv()).await,
                false => Ok(answers.recv().await),
            };
            let is_waiting = match came {
                Ok(Some(more)) => {
                    units.extend(more);
                    asks && together > 1
                }
                Ok(None) if units.is_empty() => break,
                Ok(None) | Err(_) => false,
            };
            while !units.is_empty() && (!is_waiting || units.len() >= size) {
                let batch = units.split_off(units.len().saturating_sub(size));
                if batches.len() >= most
                    && let Some(Ok(batch)) = batches.join_next().await
                {
                    open = open.and(batch);
                }
                let (scorers, opponents) = (self.scorers.clone(), self.opponents.clone());
                let scored = self.scored.clone();
                batches.spawn(score_batch(scorers, opponents, batch, scored, self.at_once));
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
    opponents: Arc<Opponents>,
    units: Vec<GeneratedUnit>,
    scored: mpsc::Sender<ScoredUnit>,
    at_once: bool,
) -> LeftOpen {
    let mut open = LeftOpen::default();
    let units = Arc::new(units);
    let mut by_scorer = Vec::with_capacity(scorers.len());
    let mut running = Vec::with_capacity(scorers.len());
    for index in 0..scorers.len() {
        let others = Arc::new(opponents.answers(index, &units).await);
        running.push(tokio::spawn(scores_of(scorers.clone(), index, units.clone(), others)));
        // One after the other, unless each would wait hours for a batch of its provider.
        if at_once && index + 1 < scorers.len() {
            continue;
        }
        for scores in running.drain(..) {
            by_scorer.push(scores.await.unwrap_or_else(|_| vec![Some(failed()); units.len()]));
        }
    }
    let Some(units) = Arc::into_inner(units) else { return open };
    for (position, unit) in units.into_iter().enumerate() {
        let mut scores = Vec::with_capacity(scorers.len());
        let mut complete = true;
        let mut spent_on_open = NanoDollars::ZERO;
        for (scorer, of_scorer) in scorers.iter().zip(&mut by_scorer) {
            let Some(score) = of_scorer[position].take() else { continue };
            if open.notes(&score) {
                complete = false;
                spent_on_open += score.cost.unwrap_or_default();
                continue;
            }
            let scorer = scorer.hash.short();
            scores.push(ScoreRecord { key: unit.key, scorer, revision: 0, score });
        }
        let unit = ScoredUnit {
            key: unit.key,
            position: unit.position,
            scores,
            complete,
            spent_on_open,
            _place: unit.place,
            span: unit.span,
        };
        if scored.send(unit).await.is_err() {
            break;
        }
    }
    open
}

/// The scores of one scorer, for the units it has not scored before; a scorer that fails costs its own scores, not the run.
async fn scores_of(
    scorers: Arc<Vec<NamedScorer>>,
    index: usize,
    units: Arc<Vec<GeneratedUnit>>,
    others: Arc<Vec<OpposedAnswer>>,
) -> Vec<Option<Score>> {
    let hash = scorers.get(index).map(|scorer| scorer.hash.short()).unwrap_or_default();
    let open: Vec<usize> =
        (0..units.len()).filter(|position| !units[*position].scored_by.contains(&hash)).collect();
    let mut scores = vec![None; units.len()];
    if open.is_empty() {
        return scores;
    }
    let in_task =
        |open| scores_in_task(scorers.clone(), index, units.clone(), others.clone(), open);
    let together = in_task(open.clone()).await;
    if let Some(together) = together {
        for (position, score) in open.into_iter().zip(together) {
            scores[position] = Some(score);
        }
        return scores;
    }
    for position in open {
        let alone = in_task(vec![position]).await;
        scores[position] = alone.and_then(|mut scores| scores.pop()).or_else(|| Some(failed()));
    }
    scores
}

fn failed() -> Score {
    Score::unscored(UnscoredReason::ScorerError).because("the scorer failed on this output")
}

/// The spans of a scorer, one in each of the units that it scores at once. What it asks of models for all of them is in the first,
/// to which the others are linked. Where nobody listens there are none.
fn scorer_spans(scorer: &NamedScorer, units: &[GeneratedUnit], positions: &[usize]) -> Vec<Span> {
    if units.iter().all(|unit| unit.span.is_disabled()) {
        return Vec::new();
    }
    let of_unit = |position: &usize| &units[*position].span;
    let spans: Vec<Span> = positions
        .iter()
        .map(|position| traced::scorer(of_unit(position), &scorer.name, positions.len()))
        .collect();
    if let ([first, others @ ..], false) = (spans.as_slice(), scorer.scorer.models().is_empty()) {
        others.iter().for_each(|other| {
            other.follows_from(first);
        });
    }
    spans
}

/// Scores some units in a task of their own, so that a panic stays there; none when it failed.
async fn scores_in_task(
    scorers: Arc<Vec<NamedScorer>>,
    index: usize,
    units: Arc<Vec<GeneratedUnit>>,
    others: Arc<Vec<OpposedAnswer>>,
    positions: Vec<usize>,
) -> Option<Vec<Score>> {
    let task = tokio::spawn(async move {
        let scorer = scorers.get(index)?;
        let items: Vec<Item<'_>> = positions
            .iter()
            .filter_map(|position| {
                let unit = &units[*position];
                let other = others.get(*position).map(|other| match other {
                    OpposedAnswer::Itself => Opposed::Itself,
                    OpposedAnswer::Missing => Opposed::Missing,
                    OpposedAnswer::Text(text) => Opposed::Answer(text),
                });
                let item = Item::new(&unit.case, unit.result.as_ref().ok()?);
                Some(Item { other, repetition: unit.key.repetition, ..item })
            })
            .collect();
        let spans = scorer_spans(scorer, &units, &positions);
        let first = spans.first().cloned().unwrap_or_else(Span::none);
        let scores = scorer.scorer.score(&items).instrument(first).await;
        scores.iter().for_each(|score| observed::scored(&scorer.name, score));
        spans.iter().zip(&scores).for_each(|(span, score)| traced::scored(span, score));
        (scores.len() == positions.len()).then_some(scores)
    });
    task.await.ok().flatten()
}
