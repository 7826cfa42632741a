//! An answer on its way to its scores.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use axum::response::{IntoResponse, Json, Response};
use fullbench_engine::SingleScore;
use fullbench_store::{
    DatasetVersion, InlineCase, NewRun, RecordedGroup, RunLock, RunOrder, ScopedStore, ScoreRecord,
    SingleRun, StoreError,
};
use fullbench_types::{Generation, NanoDollars, RunId, RunKind, RunState};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use jiff::Timestamp;
use serde_json::json;
use tokio_util::task::TaskTracker;
use tracing::Instrument;

use super::single::shown;
use super::view::{Evaluation, EvaluationStatus, LATENCY, NamedScore, is_open};
use crate::app::App;
use crate::extract::InProgress;
use crate::problem::{INTERNAL, Problem};
use crate::quotas::Place;
use crate::work::{AnswerSet, case_mapping, enqueue, until_answered};

/// An answer on its way to its scores.
pub(crate) struct Single {
    pub(crate) app: App,
    pub(crate) store: ScopedStore,
    pub(crate) set: Arc<AnswerSet>,
    pub(crate) id: RunId,
    pub(crate) case: InlineCase,
    pub(crate) generation: Generation,
    pub(crate) order: RunOrder,
    pub(crate) started: Instant,
    /// Held as long as it is not known whether it is kept: the same request again would pay again.
    pub(crate) in_progress: Option<InProgress>,
    /// Its room, kept with it.
    pub(crate) place: Option<Place>,
}

/// Scores that are on their way, by the place of their scorer.
type Scoring = FuturesUnordered<tokio::task::JoinHandle<(usize, SingleScore)>>;

/// Scores that come after the time is over.
struct Late {
    running: Scoring,
    /// Nobody else works on the evaluation meanwhile.
    lock: Option<RunLock>,
}

/// What came of asking scorers.
struct Scored {
    by_place: Vec<Option<ScoreRecord>>,
    /// What was paid for scores that are still open.
    spent_on_open: NanoDollars,
}

impl Scored {
    fn nothing(scorers: usize) -> Self {
        Self { by_place: vec![None; scorers], spent_on_open: NanoDollars::ZERO }
    }

    fn add(&mut self, place: usize, SingleScore { record, spent_on_open }: SingleScore) {
        self.by_place[place] = record;
        self.spent_on_open += spent_on_open;
    }
}

impl Single {
    /// Keeps it for the workers.
    pub(super) async fn put_into_queue(mut self) -> Result<Response, Problem> {
        let record = self.record(RunState::Pending, Vec::new(), NanoDollars::ZERO);
        self.app.writer().write(self.store.clone(), record).await?;
        self.keep_place();
        let run = self.store.run(self.id).await?;
        enqueue(&self.app, self.store.organization(), &run);
        let shown = shown(&self.store, &run).await?;
        Ok((StatusCode::ACCEPTED, Json(shown)).into_response())
    }

    /// Scores it, and keeps and gives what there is when the time is over. What was paid for is kept, whether the caller is
    /// still there or not.
    pub(crate) async fn score(mut self, timeout: Duration) -> Result<Response, Problem> {
        let tasks = self.app.ongoing().of(self.store.organization())?;
        if !self.set.scorers.ask_models() {
            let version = case_mapping();
            let case = version.case(0, self.case.key.clone(), self.case.fields.clone());
            let count = self.set.scorers.scorers().len();
            let mut scored = Scored::nothing(count);
            for place in 0..count {
                scored.add(place, self.set.scorers.score(place, &case, &self.generation).await);
            }
            return tasks.track_future(self.finish(scored)).await;
        }
        let app = self.app.clone();
        let scoring = self.score_by_models(timeout, tasks.clone()).in_current_span();
        let scoring = app.tasks().spawn(tasks.track_future(scoring));
        scoring.await.map_err(|_| Problem::new(INTERNAL, "the server failed on this request"))?
    }

    async fn score_by_models(
        mut self,
        timeout: Duration,
        tasks: TaskTracker,
    ) -> Result<Response, Problem> {
        let version = case_mapping();
        let case = version.case(0, self.case.key.clone(), self.case.fields.clone());
        let count = self.set.scorers.scorers().len();
        let mut scored = Scored::nothing(count);
        let mut running: Scoring = (0..count)
            .map(|place| {
                let set = self.set.clone();
                let (case, generation) = (case.clone(), self.generation.clone());
                let scoring =
                    async move { (place, set.scorers.score(place, &case, &generation).await) };
                tokio::spawn(scoring.in_current_span())
            })
            .collect();
        let deadline = tokio::time::sleep(timeout);
        tokio::pin!(deadline);
        loop {
            tokio::select! {
                done = running.next() => match done {
                    Some(Ok((place, score))) => scored.add(place, score),
                    Some(Err(_)) => {}
                    None => return self.finish_paid(scored, None, &tasks).await,
                },
                () = &mut deadline => break,
            }
        }
        // What is there is kept now; the rest is added when it comes.
        let late = Late { lock: self.lock().await, running };
        self.finish_paid(scored, Some(late), &tasks).await
    }

    /// Keeps the scores, and shows them.
    async fn finish(&mut self, scored: Scored) -> Result<Response, Problem> {
        let (record, shown) = self.finished(scored, false);
        self.app.writer().write(self.store.clone(), record).await?;
        self.keep_place();
        Ok((StatusCode::CREATED, Json(shown)).into_response())
    }

    /// The same with scores that were paid for, and others that are late: where they cannot be kept now, the
    /// caller is told so, and they are kept as soon as they can.
    async fn finish_paid(
        &mut self,
        scored: Scored,
        late: Option<Late>,
        tasks: &TaskTracker,
    ) -> Result<Response, Problem> {
        let (record, shown) = self.finished(scored, late.is_some());
        let (app, store) = (self.app.clone(), self.store.clone());
        let written = app.writer().write(store.clone(), record.clone()).await;
        if written.is_ok() {
            self.keep_place();
        }
        let unwritten = written.as_ref().err();
        let unwritten = unwritten.filter(|unwritten| unwritten.problem.retry_after.is_some());
        let mark = unwritten.map(|unwritten| unwritten.mark.clone());
        if mark.is_some() || late.is_some() {
            let (app, id) = (app.clone(), self.id);
            let (in_progress, place) = (self.in_progress.take(), self.place.take());
            let keeping = async move {
                if let Some(mark) = mark {
                    let stopped = app.stop().cancelled();
                    match store.record_single_insisting(&record, mark, stopped).await {
                        Ok(()) => {
                            if let Some(place) = place {
                                place.keep();
                            }
                        }
                        Err(error) => {
                            tracing::error!(run = %id, %error, "scores could not be kept");
                        }
                    }
                }
                drop(in_progress);
                if let Some(late) = late {
                    late.add(app, store, id).await;
                }
            };
            self.app.tasks().clone().spawn(tasks.track_future(keeping));
        }
        written?;
        Ok((StatusCode::CREATED, Json(shown)).into_response())
    }

    /// Tells other servers that this one works on it. Without it they may ask for late scores again, which is no reason to lose
    /// those that are there.
    async fn lock(&self) -> Option<RunLock> {
        match self.store.lock_run(self.id).await {
            Ok(lock) => Some(lock),
            Err(error) => {
                tracing::warn!(run = %self.id, %error, "an evaluation could not be locked");
                None
            }
        }
    }

    /// Its room is taken now that it is kept.
    fn keep_place(&mut self) {
        if let Some(place) = self.place.take() {
            place.keep();
        }
    }

    /// What is kept of the scores, and what is shown; some may be late.
    fn finished(&mut self, scored: Scored, are_late: bool) -> (SingleRun, Evaluation) {
        let Scored { by_place: scores, spent_on_open } = scored;
        let took = self.started.elapsed().as_millis() as u64;
        let evaluation = {
            let scorers = self.set.scorers.scorers().iter().zip(&scores);
            let named = scorers.map(|(scorer, score)| NamedScore {
                name: &scorer.name,
                signature: &scorer.signature,
                score: score.as_ref().map(|record| &record.score),
            });
            Evaluation::new(self.id.0, Timestamp::now(), named)
        };
        let missing = scores.iter().any(Option::is_none);
        let open = scores.iter().flatten().any(|record| is_open(&record.score));
        // What a server that stops has not asked for goes on with the next one.
        let goes_on = are_late || self.app.stop().is_cancelled();
        let state = match (missing, open) {
            (true, _) if goes_on => RunState::Running,
            (true, _) | (false, true) => RunState::Incomplete,
            (false, false) => RunState::Completed,
        };
        let metadata = self.order.labels.clone();
        self.order.labels.insert(LATENCY.to_owned(), json!(took));
        let record = self.record(state, scores.into_iter().flatten().collect(), spent_on_open);
        let completed = evaluation.status == EvaluationStatus::Completed;
        let mut evaluation = Evaluation {
            latency_ms: took,
            completed_at: completed.then(Timestamp::now),
            metadata,
            ..evaluation
        };
        if record.state == RunState::Incomplete {
            evaluation.out_of_budget();
        }
        let spent = record.spent();
        (record, evaluation.cost(spent))
    }

    fn record(
        &self,
        state: RunState,
        scores: Vec<ScoreRecord>,
        spent_on_open: NanoDollars,
    ) -> SingleRun {
        let content =
            DatasetVersion::of_cases("request".to_owned(), case_mapping(), vec![self.case.clone()]);
        SingleRun {
            run: NewRun {
                id: self.id,
                name: "evaluation".to_owned(),
                kind: RunKind::Single,
                spec: self.set.spec.clone(),
                dataset: content.hash,
                planned_units: 1,
                version: self.app.config().version.clone(),
                order: self.order.clone(),
            },
            content,
            state,
            generation: self.generation.clone(),
            scores,
            spent_on_open,
        }
    }
}

impl Late {
    /// Adds them when they are there. A kill before that leaves the run to the next server.
    async fn add(mut self, app: App, store: ScopedStore, id: RunId) {
        let (mut late, mut spent_on_open) = (Vec::new(), NanoDollars::ZERO);
        while let Some(done) = self.running.next().await {
            let (_, scored) = done.unwrap_or_default();
            late.extend(scored.record);
            spent_on_open += scored.spent_on_open;
        }
        let ended = async {
            keep_late(&app, &store, id, &late, spent_on_open).await?;
            drop(self.lock);
            // The worker sees what is still open, and ends the run.
            let run = until_answered(&app, || store.run(id)).await?;
            enqueue(&app, store.organization(), &run);
            Ok::<_, StoreError>(())
        };
        if let Err(error) = ended.await {
            tracing::error!(run = %id, %error, "late scores could not be kept");
        }
    }
}

/// Keeps late scores, and what they cost.
async fn keep_late(
    app: &App,
    store: &ScopedStore,
    id: RunId,
    late: &[ScoreRecord],
    spent_on_open: NanoDollars,
) -> Result<(), StoreError> {
    let mut lanes = until_answered(app, || store.lane_progress(id)).await?;
    for lane in &mut lanes {
        lane.spent += late.iter().filter_map(|record| record.score.cost).sum();
        lane.spent += spent_on_open;
    }
    let scores: Vec<&ScoreRecord> = late.iter().collect();
    let group = RecordedGroup { generations: &[], scores: &scores, lanes: &lanes, spent_on_open };
    store.recorder(id).commit_insisting(group, app.stop().cancelled()).await
}
