//! A lane: the open units of one model, asked in order through a sliding window.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fullbench_llm::{FailureClass, GenerateError, ModelConfig, ModelHandle};
use fullbench_store::{CaseReader, ResultDetail, ScopedStore};
use fullbench_types::{
    ErrorCode, FailureReason, Generation, RunId, TestCase, UnitFailure, UnitKey, UnscoredReason,
    text_of,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span};

use super::open::OpenLane;
use super::plan::Plan;
use super::stop::FailureStreak;
use crate::EngineError;
use crate::prompt::Prompts;
use crate::traced;

/// Results read at a time.
const PAGE: u64 = 2048;
/// Beyond every model and repetition.
const LAST: u32 = i32::MAX as u32;
/// How often a provider that is down is looked at.
const WATCH: Duration = Duration::from_millis(500);
/// A provider that is down this long and never answered is given up.
const NEVER_ANSWERED: Duration = Duration::from_secs(15);

/// A unit whose model has answered or failed, on its way to the recorder.
#[derive(Debug)]
pub(crate) struct GeneratedUnit {
    pub(crate) key: UnitKey,
    pub(crate) position: u64,
    pub(crate) case: TestCase,
    pub(crate) result: Result<Generation, UnitFailure>,
    /// The answer is in the store already: it only needs its scores.
    pub(crate) recorded: bool,
    /// Scorers that have scored it before, by the first bytes of their hashes.
    pub(crate) scored_by: Vec<[u8; 16]>,
    /// The place among the outstanding units; given back when the unit is recorded whole.
    pub(crate) place: OwnedSemaphorePermit,
    /// The unit in traces; over when the unit is recorded whole.
    pub(crate) span: Span,
}

/// How a lane ended.
#[derive(Debug)]
pub(crate) enum LaneEnd {
    Finished,
    OutOfBudget,
    Stopped,
    StoppedEarly(String),
}

/// The open units of one model and what it takes to run them.
pub(crate) struct Lane {
    pub(crate) run: RunId,
    pub(crate) open: OpenLane,
    pub(crate) plan: Arc<Plan>,
    pub(crate) model: ModelConfig,
    pub(crate) handle: Option<Arc<ModelHandle>>,
    pub(crate) cases: CaseReader,
    pub(crate) store: ScopedStore,
    pub(crate) prompts: Arc<Prompts>,
    /// Units asked for at the same time.
    pub(crate) window: usize,
    pub(crate) outstanding: Arc<Semaphore>,
    pub(crate) generated: mpsc::Sender<GeneratedUnit>,
    pub(crate) stop: CancellationToken,
    pub(crate) streak: Arc<FailureStreak>,
    pub(crate) stops_early: bool,
    /// The run in traces.
    pub(crate) span: Span,
}

/// What a call task found out about its lane.
enum CallEnd {
    Went,
    OutOfBudget,
    Stopped,
    GiveUp(String),
}

impl Lane {
    /// Runs the lane until its units are done, the budget is used up, or it is stopped.
    pub(crate) async fn run(mut self) -> Result<LaneEnd, EngineError> {
        self.score_again().await?;
        match self.handle.clone() {
            Some(handle) => self.call(handle).await,
            None => self.replay().await,
        }
    }

    /// Sends answers that lack a score to scoring, read page by page.
    async fn score_again(&mut self) -> Result<(), EngineError> {
        let mut open: HashSet<UnitKey> =
            std::mem::take(&mut self.open.unscored).into_iter().collect();
        let Some(first) = open.iter().min().copied() else { return Ok(()) };
        let mut after = first.case_index.checked_sub(1).map(|case_index| UnitKey {
            case_index,
            model_index: LAST,
            repetition: LAST,
        });
        while !open.is_empty() {
            let page = self.store.results_after(self.run, after, PAGE, ResultDetail::Full).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.key);
            for unit in page {
                let (Ok(generation), true) = (unit.result, open.remove(&unit.key)) else {
                    continue;
                };
                let Some(position) = self.plan.position(&unit.key) else { continue };
                let place = self.place().await?;
                let case = self.cases.case(unit.key.case_index)?;
                let result = Ok(generation);
                let missing = Some(UnscoredReason::ProviderError);
                let scores = unit.scores.iter();
                let scored_by = scores
                    .filter(|entry| entry.score.outcome.reason() != missing)
                    .map(|entry| entry.scorer)
                    .collect();
                self.send(GeneratedUnit {
                    key: unit.key,
                    position,
                    case,
                    result,
                    recorded: true,
                    scored_by,
                    place,
                    span: self.unit_span(unit.key),
                })
                .await?;
            }
        }
        Ok(())
    }

    /// Takes the answers that are already in the data.
    async fn replay(&mut self) -> Result<LaneEnd, EngineError> {
        let field = self.model.field.clone().unwrap_or_else(|| "output".to_owned());
        let open = std::mem::take(&mut self.open);
        for position in open.positions() {
            if self.stop.is_cancelled() {
                return Ok(LaneEnd::Stopped);
            }
            let Some(key) = self.plan.unit(open.progress.model_index, position) else { continue };
            let place = self.place().await?;
            let case = self.cases.case(key.case_index)?;
            let result = match case.field(&field) {
                None | Some(serde_json::Value::Null) => Err(UnitFailure {
                    reason: FailureReason::ProviderError,
                    message: format!("the case has no recorded answer in `{field}`"),
                    attempts: 0,
                    code: Some(ErrorCode::InvalidInput),
                }),
                Some(answer) => Ok(Generation::recorded(text_of(answer).into_owned())),
            };
            self.send(GeneratedUnit {
                key,
                position,
                case,
                result,
                recorded: false,
                scored_by: Vec::new(),
                place,
                span: self.unit_span(key),
            })
            .await?;
        }
        Ok(LaneEnd::Finished)
    }

    /// Asks the model, as many units at a time as its limits allow.
    async fn call(&mut self, handle: Arc<ModelHandle>) -> Result<LaneEnd, EngineError> {
        let open = std::mem::take(&mut self.open);
        let window = Arc::new(Semaphore::new(self.window));
        let mut calls: JoinSet<CallEnd> = JoinSet::new();
        let watch = tokio::spawn(give_up_when_never_answered(handle.clone()));
        let mut end = LaneEnd::Finished;
        for position in open.positions() {
            let Some(key) = self.plan.unit(open.progress.model_index, position) else { continue };
            let slot = tokio::select! {
                slot = window.clone().acquire_owned() => slot.map_err(|_| EngineError::Interrupted("the window"))?,
                () = handle.stopping().cancelled() => { end = LaneEnd::Stopped; break }
            };
            while let Some(joined) = calls.try_join_next() {
                note_end(&mut end, joined.map_err(|_| EngineError::Interrupted("a call"))?);
            }
            if !matches!(end, LaneEnd::Finished) {
                break;
            }
            let place = self.place().await?;
            let case = self.cases.case(key.case_index)?;
            let messages = match self.prompts.render(&case) {
                Ok(messages) => messages,
                Err(error) => return Err(EngineError::StoredSpec(error.message)),
            };
            let call = Call {
                handle: handle.clone(),
                generated: self.generated.clone(),
                streak: self.streak.clone(),
                stops_early: self.stops_early,
                span: self.unit_span(key),
            };
            calls.spawn(async move {
                let asked = call.handle.generate(messages, key.repetition, 0);
                let result = asked.instrument(call.span.clone()).await;
                drop(slot);
                call.finish(key, position, case, result, place).await
            });
        }
        while let Some(joined) = calls.join_next().await {
            note_end(&mut end, joined.map_err(|_| EngineError::Interrupted("a call"))?);
        }
        watch.abort();
        if let Ok(outage) = watch.await {
            end = LaneEnd::StoppedEarly(outage);
        }
        if let (LaneEnd::StoppedEarly(reason), name) = (&end, self.model.display_name()) {
            end = LaneEnd::StoppedEarly(format!("{name} was given up: {reason}"));
        }
        Ok(end)
    }

    fn unit_span(&self, key: UnitKey) -> Span {
        traced::unit(&self.span, self.run, key, &self.model)
    }

    async fn place(&self) -> Result<OwnedSemaphorePermit, EngineError> {
        let place = self.outstanding.clone().acquire_owned().await;
        place.map_err(|_| EngineError::Interrupted("the recorder"))
    }

    async fn send(&self, unit: GeneratedUnit) -> Result<(), EngineError> {
        traced::unit_asked(&unit.span, unit.result.as_ref());
        self.generated.send(unit).await.map_err(|_| EngineError::Interrupted("the recorder"))
    }
}

/// The first reason to stop is kept; giving up is a better one than the stop that follows from it.
fn note_end(end: &mut LaneEnd, call: CallEnd) {
    match (call, &end) {
        (CallEnd::GiveUp(reason), LaneEnd::Finished | LaneEnd::Stopped) => {
            *end = LaneEnd::StoppedEarly(reason)
        }
        (CallEnd::OutOfBudget, LaneEnd::Finished) => *end = LaneEnd::OutOfBudget,
        (CallEnd::Stopped, LaneEnd::Finished) => *end = LaneEnd::Stopped,
        _ => {}
    }
}

/// Gives a model up when its provider is down from the start: nothing was ever answered and calls only wait.
async fn give_up_when_never_answered(handle: Arc<ModelHandle>) -> String {
    let mut down_since = None;
    loop {
        tokio::time::sleep(WATCH).await;
        let Some(outage) = handle.outage().filter(|_| handle.snapshot().answers == 0) else {
            down_since = None;
            continue;
        };
        if down_since.get_or_insert_with(Instant::now).elapsed() >= NEVER_ANSWERED {
            handle.give_up();
            return format!("it never answered: {outage}");
        }
    }
}

/// One call, apart from the lane that started it.
struct Call {
    handle: Arc<ModelHandle>,
    generated: mpsc::Sender<GeneratedUnit>,
    streak: Arc<FailureStreak>,
    stops_early: bool,
    span: Span,
}

impl Call {
    async fn finish(
        self,
        key: UnitKey,
        position: u64,
        case: TestCase,
        result: Result<Generation, GenerateError>,
        place: OwnedSemaphorePermit,
    ) -> CallEnd {
        let mut end = CallEnd::Went;
        let result = match result {
            Ok(generation) => {
                self.streak.success();
                Ok(generation)
            }
            Err(GenerateError::BudgetExhausted(_)) => return CallEnd::OutOfBudget,
            Err(GenerateError::Stopped) => return CallEnd::Stopped,
            Err(GenerateError::Failed { failure, class, hint }) => {
                if self.stops_early && self.streak.failure(class) {
                    self.handle.give_up();
                    end = CallEnd::GiveUp(always_the_same(class, &failure.message, hint));
                }
                Err(failure)
            }
        };
        let unit = GeneratedUnit {
            key,
            position,
            case,
            result,
            recorded: false,
            scored_by: Vec::new(),
            place,
            span: self.span,
        };
        traced::unit_asked(&unit.span, unit.result.as_ref());
        if self.generated.send(unit).await.is_err() { CallEnd::Stopped } else { end }
    }
}

fn always_the_same(class: FailureClass, message: &str, hint: Option<String>) -> String {
    let hint = hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
    format!("every call failed the same way, {}: {message}{hint}", class.words())
}
