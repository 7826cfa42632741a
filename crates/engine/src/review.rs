//! Scores of people: what waits for one, and taking it.

use std::time::Duration;

use fullbench_score::{HumanScore, NamedScorer, awaited, reviewed};
use fullbench_store::{
    ResultDetail, RunLock, RunRecord, ScopedStore, ScoreRecord, StoreError, UnitResult,
};
use fullbench_types::{Score, UnitKey};
use serde::Serialize;

use crate::spec::{EvaluationSpec, stored_spec};
use crate::{EngineError, InputProblem};

/// Results read at a time.
const PAGE: u64 = 2048;
/// How often, and with which pause, the lock of a run is tried for.
const LOCK_ATTEMPTS: u32 = 100;
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// A score that waits for a person.
#[derive(Debug, Clone, Serialize)]
pub struct PendingReview {
    /// The case's id.
    pub case: String,
    /// The model that answered.
    pub model: String,
    /// Which of its answers.
    pub repetition: u32,
    /// The scorer.
    pub scorer: String,
    /// The criterion of a scorecard.
    pub criterion: Option<String>,
    /// What the person is to look at, or what the scorer says so far.
    pub note: Option<String>,
    /// The answer.
    pub output: String,
}

/// A person's score, as it is given.
#[derive(Debug, Clone)]
pub struct Review {
    /// The case's id.
    pub case: String,
    /// The model that answered; needed where the run has several.
    pub model: Option<String>,
    /// Which of its answers.
    pub repetition: u32,
    /// The scorer; needed where several take scores of people.
    pub scorer: Option<String>,
    /// The criterion of a scorecard.
    pub criterion: Option<String>,
    /// Points on the scorer's or the criterion's scale.
    pub points: f64,
    /// Who says so.
    pub reviewer: String,
    /// Why.
    pub note: Option<String>,
}

/// A run with its scorers and models by name.
struct ReviewedRun {
    spec: EvaluationSpec,
    scorers: Vec<NamedScorer>,
    models: Vec<String>,
}

impl ReviewedRun {
    async fn read(store: &ScopedStore, run: &RunRecord) -> Result<Self, EngineError> {
        let spec = stored_spec(store, run).await?;
        let built = spec.scorers.iter().map(fullbench_score::build).collect::<Result<Vec<_>, _>>();
        let scorers = built.map_err(|error| EngineError::StoredSpec(error.message))?;
        let models = spec.models.iter().map(fullbench_llm::ModelConfig::display_name).collect();
        Ok(Self { spec, scorers, models })
    }

    fn by_people(&self) -> impl Iterator<Item = (usize, &NamedScorer)> {
        let takes = |kind: &str| {
            matches!(kind, "human_review" | "scorecard" | "binary" | "panel" | "ensemble")
        };
        self.scorers.iter().enumerate().filter(move |(_, scorer)| takes(&scorer.kind))
    }

    /// The scorer that is meant: the one of this name, or the only one that takes scores of people.
    fn scorer(&self, name: Option<&str>) -> Result<usize, EngineError> {
        let names: Vec<&str> = self.by_people().map(|(_, scorer)| scorer.name.as_str()).collect();
        let found = match name {
            Some(name) => self.scorers.iter().position(|scorer| scorer.name == name),
            None if names.len() == 1 => self.by_people().map(|(index, _)| index).next(),
            None => None,
        };
        found.ok_or_else(|| {
            let message = match name {
                Some(name) => format!("the run has no scorer `{name}`"),
                None if names.is_empty() => {
                    "no scorer of the run takes scores of people".to_owned()
                }
                None => "several scorers take scores of people".to_owned(),
            };
            let hint = match names.is_empty() {
                true => "add one: `fullbench rescore RUN --scorers human_review`".to_owned(),
                false => format!("name one with --scorer: {}", names.join(", ")),
            };
            InputProblem::new(message).hint(hint).into()
        })
    }

    /// The model that is meant: the one of this name, or the only one.
    fn model(&self, name: Option<&str>) -> Result<u32, EngineError> {
        let all = self.models.join(", ");
        let found = match name {
            Some(name) => self.models.iter().position(|model| model == name),
            None if self.models.len() == 1 => Some(0),
            None => None,
        };
        let found = found.ok_or_else(|| match name {
            Some(name) => InputProblem::new(format!("the run has no model `{name}`"))
                .hint(format!("its models: {all}")),
            None => InputProblem::new("the run has several models")
                .hint(format!("name one with --model: {all}")),
        })?;
        Ok(found as u32)
    }
}

/// The scores of a run that wait for a person, in the order of its results, up to `limit`.
pub async fn pending_reviews(
    store: &ScopedStore,
    run: &RunRecord,
    limit: usize,
) -> Result<Vec<PendingReview>, EngineError> {
    let reviewed_run = ReviewedRun::read(store, run).await?;
    let mut pending = Vec::new();
    let mut after: Option<UnitKey> = None;
    loop {
        let page = store.results_after(run.id, after, PAGE, ResultDetail::Texts).await?;
        let Some(last) = page.last() else { return Ok(pending) };
        after = Some(last.key);
        for unit in page {
            let Ok(generation) = &unit.result else { continue };
            for (_, scorer) in reviewed_run.by_people() {
                let hash = scorer.hash.short();
                let entry = unit.scores.iter().find(|entry| entry.scorer == hash);
                let Some(score) = entry.map(|entry| &entry.score) else { continue };
                for criterion in awaited(&scorer.kind, score) {
                    if pending.len() == limit {
                        return Ok(pending);
                    }
                    let model = reviewed_run.models.get(unit.key.model_index as usize);
                    pending.push(PendingReview {
                        case: unit.case_key.clone(),
                        model: model.cloned().unwrap_or_default(),
                        repetition: unit.key.repetition,
                        scorer: scorer.name.clone(),
                        criterion,
                        note: score.reasoning.clone(),
                        output: generation.text.clone(),
                    });
                }
            }
        }
    }
}

/// Takes a person's score; it is added beside the one before, and counts from now on.
pub async fn record_review(
    store: &ScopedStore,
    run: &RunRecord,
    review: &Review,
) -> Result<Score, EngineError> {
    let _lock = locked(store, run).await?;
    let reviewed_run = ReviewedRun::read(store, run).await?;
    let index = reviewed_run.scorer(review.scorer.as_deref())?;
    let model = reviewed_run.model(review.model.as_deref())?;
    let (scorer, config) = (&reviewed_run.scorers[index], &reviewed_run.spec.scorers[index]);
    let unit = the_unit(store, run, model, review).await?;
    let hash = scorer.hash.short();
    let Some(entry) = unit.scores.iter().find(|entry| entry.scorer == hash) else {
        let message = format!("`{}` has not looked at this answer yet", scorer.name);
        return Err(InputProblem::new(message).hint("go on with `fullbench resume` first").into());
    };
    let human = HumanScore {
        criterion: review.criterion.as_deref(),
        points: review.points,
        reviewer: &review.reviewer,
        note: review.note.as_deref(),
    };
    let score = reviewed(config, &entry.score, &human).map_err(InputProblem::new)?;
    let record = ScoreRecord {
        key: unit.key,
        scorer: hash,
        revision: entry.revision + 1,
        score: score.clone(),
    };
    store.recorder(run.id).commit(&[], &[&record], &[]).await?;
    Ok(score)
}

/// The lock of a run: two people who score at the same time come one after the other.
async fn locked(store: &ScopedStore, run: &RunRecord) -> Result<RunLock, EngineError> {
    for _ in 0..LOCK_ATTEMPTS {
        match store.lock_run(run.id).await {
            Err(StoreError::RunLocked(_)) => tokio::time::sleep(LOCK_PAUSE).await,
            lock => return Ok(lock?),
        }
    }
    Ok(store.lock_run(run.id).await?)
}

/// The unit that is meant.
async fn the_unit(
    store: &ScopedStore,
    run: &RunRecord,
    model: u32,
    review: &Review,
) -> Result<UnitResult, EngineError> {
    let mut after: Option<UnitKey> = None;
    loop {
        let page = store.results_after(run.id, after, PAGE, ResultDetail::Full).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.key);
        let found = page.into_iter().find(|unit| {
            unit.case_key == review.case
                && unit.key.model_index == model
                && unit.key.repetition == review.repetition
        });
        if let Some(unit) = found {
            return Ok(unit);
        }
    }
    let message = format!("the run has no answer to the case `{}`", review.case);
    Err(InputProblem::new(message).hint("`fullbench review list` shows what waits").into())
}
