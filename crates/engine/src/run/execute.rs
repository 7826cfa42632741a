//! Executes a prepared run: lanes ask, the recorder commits, scoring scores, the recorder commits again.

use std::pin::pin;
use std::sync::Arc;

use fullbench_llm::{
    Budget, BudgetExhausted, CacheMode, Gateway, GatewayOptions, Limits, ModelConfig, ModelHandle,
    Provider,
};
use fullbench_score::NamedScorer;
use fullbench_store::{
    BUDGET_NOTES, CacheLimits, DiskCache, RunRecord, ScopedStore, StoreError, ToldNames,
};
use fullbench_types::{NanoDollars, RunOrigin, RunState};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span};

use super::batches::{Room, batcher, note_open_batches, note_unbatched};
use super::lane::{Lane, LaneEnd};
use super::memory::memory;
use super::opponents::Opponents;
use super::prepare::{PreparedRun, refuse_uncounted};
use super::progress::{LaneCounters, Progress};
use super::recorder::Recorder;
use super::scoring::Scoring;
use super::stop::FailureStreak;
use super::trouble::trouble_of;
use crate::EngineError;
use crate::spec::EvaluationSpec;
use crate::traced;

/// How the user steers a run.
#[derive(Debug, Clone)]
pub struct RunControl {
    /// When cancelled, calls in flight finish, are recorded, and the run ends incomplete.
    pub stop: CancellationToken,
    /// What the response cache may be used for.
    pub cache_mode: CacheMode,
    /// Replaces the budget of the spec.
    pub budget: Option<NanoDollars>,
    /// Requests are sent in provider batches, where a provider has them; otherwise batches of an earlier session are fetched.
    pub provider_batch: bool,
    /// The caller keeps how the run ended: until then it counts as being worked on, and goes on after a kill.
    pub leaves_end_to_caller: bool,
}

/// How a run ended.
#[derive(Debug)]
pub struct RunEnd {
    /// The run as it ended.
    pub record: RunRecord,
    /// The store it is in.
    pub store: ScopedStore,
    /// Units that failed, of all sessions.
    pub failed: u64,
    /// Answers that lack a score because the provider of a scorer failed.
    pub unscored: u64,
    /// Units without a record.
    pub open: u64,
}

/// Runs everything that is open; `watch` gets the counters before the first call, inside the span of the run.
pub async fn execute(
    run: PreparedRun,
    control: RunControl,
    watch: impl FnOnce(Arc<Progress>),
) -> Result<RunEnd, EngineError> {
    let span = traced::run(&run, run.store.organization());
    let control = RunControl { stop: control.stop.child_token(), ..control };
    let end = execute_in_span(run, control, watch, &span).instrument(span.clone()).await;
    traced::run_ended(&span, &end);
    end
}

async fn execute_in_span(
    run: PreparedRun,
    control: RunControl,
    watch: impl FnOnce(Arc<Progress>),
    span: &Span,
) -> Result<RunEnd, EngineError> {
    let PreparedRun { record, spec, dataset, plan, store, scorers, prompts, lanes, lock } = run;
    let spent: NanoDollars = lanes.iter().map(|lane| lane.progress.spent).sum();
    let limit = control.budget.or(spec.budget.map(|budget| NanoDollars::from_dollars(budget.usd)));
    let keeps_no_copies = store.keeps_no_copies().await?;
    let cache = match control.cache_mode {
        _ if keeps_no_copies => None,
        CacheMode::Use if !spec.cache.enabled => None,
        CacheMode::Off => None,
        _ if !asks_a_model(&spec, &scorers) => None,
        _ => {
            let limits = CacheLimits {
                max_age: spec.cache.max_age().map_err(EngineError::StoredSpec)?,
                max_bytes: spec.cache.max_bytes().map_err(EngineError::StoredSpec)?,
            };
            let cache = DiskCache::open(store.home(), limits).await?;
            cache.prune(store.organization()).await?;
            Some(Arc::new(cache))
        }
    };
    let monthly = store.monthly_budget().await?;
    if limit.or(monthly.limit()).is_some() {
        refuse_uncounted(&scorers)?;
    }
    let budget = Arc::new(Budget::new(limit, spent).within(monthly));
    let kept_batches = store.provider_batches(record.id);
    let keys = store.keys_for_calls().await?;
    let batcher = batcher(&control, kept_batches.clone(), &keys).await?;
    let gateway = Gateway::new(GatewayOptions {
        organization: store.organization(),
        cache: cache.clone().map(|cache| cache.of(store.organization())),
        cache_mode: control.cache_mode,
        budget: budget.clone(),
        stop: control.stop.clone(),
        keys: keys.clone(),
        batch: batcher.clone(),
    });
    let mut handles: Vec<Option<Arc<ModelHandle>>> = Vec::new();
    for (model, lane) in spec.models.iter().zip(&lanes) {
        // A model that is asked for nothing needs no key and no weights.
        let is_asked = model.provider != Provider::Recorded && lane.positions().next().is_some();
        handles.push(match is_asked {
            true => Some(called_model(&gateway, model, &spec.limits).await?),
            false => None,
        });
    }
    let memory = memory(&store, cache.is_some());
    let mut called: Vec<Arc<ModelHandle>> = handles.iter().flatten().cloned().collect();
    for NamedScorer { scorer, .. } in &scorers {
        let mut models = Vec::new();
        for model in scorer.models() {
            models.push(called_model(&gateway, &model, &spec.limits).await?);
        }
        called.extend(models.iter().cloned());
        scorer.connect(models);
        scorer.remember(&memory);
    }
    for key in called.iter().flat_map(|model| keys.used_by(model.config())) {
        store.note_provider_key_use(key).await?;
    }
    let counters = lanes.iter().zip(&spec.models).zip(&handles).map(|((lane, model), handle)| {
        let before = lane.progress.answered + lane.progress.failed;
        let open_again = (lane.retry.len() + lane.unscored.len()) as u64;
        let before = before.saturating_sub(open_again);
        LaneCounters::new(
            model.display_name(),
            plan.lane_units(),
            handle.clone(),
            before,
            lane.progress.spent,
        )
    });
    let progress = Arc::new(Progress::new(counters.collect(), batcher.clone()));
    note_unbatched(&control, &called, &progress);
    let room = Room::of(&control, handles.iter().flatten().count());
    store.set_run_state(record.id, RunState::Running, &[]).await?;
    watch(progress.clone());

    let (generated, generated_receiver) = mpsc::channel(room.outstanding);
    let (scored, scored_receiver) = mpsc::channel(room.outstanding);
    let (to_score, to_score_receiver) = mpsc::unbounded_channel();
    let scorers = Arc::new(scorers);
    let recorder = Recorder::new(
        match record.order.origin {
            RunOrigin::CommandLine => store.recorder(record.id),
            _ => store.recorder(record.id).telling(names_of(&spec, &scorers)),
        },
        &plan,
        &lanes,
        progress.clone(),
        scorers.is_empty(),
        control.stop.clone(),
    );
    let recording = tokio::spawn(recorder.run(generated_receiver, scored_receiver, to_score));
    let opponents = Opponents::new(store.clone(), record.id, &scorers, &spec.models);
    let first = opponents.models();
    let scoring = Scoring::new(scorers, opponents, scored, room.judged, control.provider_batch);
    let scoring = tokio::spawn(scoring.run(to_score_receiver));

    let outstanding = Arc::new(Semaphore::new(room.outstanding));
    let plan = Arc::new(plan);
    let (mut opposing, mut opposed) = (Vec::new(), Vec::new());
    for ((open, model), handle) in lanes.into_iter().zip(&spec.models).zip(handles) {
        let limits = model.effective_limits(&spec.limits);
        let lane = Lane {
            run: record.id,
            open,
            plan: plan.clone(),
            model: model.clone(),
            handle,
            cases: store.cases(dataset.clone()).await?,
            store: store.clone(),
            prompts: prompts.clone(),
            window: room.window(model, &limits),
            outstanding: outstanding.clone(),
            generated: generated.clone(),
            stop: control.stop.clone(),
            streak: Arc::new(FailureStreak::new(room.patience(model))),
            stops_early: control.cache_mode != CacheMode::Only,
            span: span.clone(),
        };
        let is_opponent = first.contains(&lane.open.progress.model_index);
        if is_opponent { &mut opposing } else { &mut opposed }.push(lane);
    }
    drop(generated);
    let working = async {
        let mut ends = Vec::new();
        for lanes in [opposing, opposed] {
            let mut running: JoinSet<_> = lanes.into_iter().map(Lane::run).collect();
            while let Some(joined) = running.join_next().await {
                ends.push(joined.map_err(|_| EngineError::Interrupted("a lane"))?);
            }
        }
        let left_open = scoring.await.map_err(|_| EngineError::Interrupted("scoring"))?;
        let recorded = recording.await.map_err(|_| EngineError::Interrupted("the recorder"))?;
        Ok::<_, EngineError>((ends, left_open, recorded))
    };
    let (ends, left_open, recorded) = stopping_when(lock.lost(), &control.stop, working).await?;
    if let Some(batcher) = batcher {
        batcher.finish().await;
    }
    if let Some(cache) = cache {
        cache.flush().await;
    }
    if lock.is_lost() {
        // Another process goes on with it: what it keeps of the run is not to be changed any more.
        return Err(StoreError::RunLocked(record.id.to_string()).into());
    }
    let has_failed = recorded.is_err() || ends.iter().any(Result::is_err);
    if has_failed && !control.leaves_end_to_caller {
        store.set_run_state(record.id, RunState::Incomplete, &progress.notes()).await?;
    }
    let lanes = recorded?;
    let (mut out_of_budget, mut stopped) = (left_open.out_of_budget, left_open.stopped);
    for end in ends {
        match end? {
            LaneEnd::Finished => {}
            LaneEnd::OutOfBudget => out_of_budget = true,
            LaneEnd::Stopped => stopped = true,
            LaneEnd::StoppedEarly(note) => progress.note(note),
        }
    }
    if out_of_budget {
        progress.note(budget_note(&budget));
    }
    if stopped {
        progress.note("stopped on request: `fullbench resume` goes on".to_owned());
    }
    for note in called.iter().flat_map(|handle| trouble_of(handle.name(), &handle.snapshot())) {
        progress.note(note);
    }
    let mut unscored = 0;
    for lane in &lanes {
        unscored += store.missing_scores(record.id, lane.model_index).await?.len() as u64;
    }
    if unscored > 0 {
        let reason = store.missing_score_reason(record.id).await?.unwrap_or_default();
        progress.note(format!(
            "{unscored} answers lack a score ({reason}): `fullbench resume` scores them again"
        ));
    }
    let failed: u64 = lanes.iter().map(|lane| lane.failed).sum();
    let complete: u64 = lanes.iter().map(|lane| lane.watermark).sum();
    let open = plan.units().saturating_sub(complete);
    let is_complete = failed == 0 && open == 0 && unscored == 0;
    if !is_complete {
        note_open_batches(kept_batches.open_count().await?, &progress);
    }
    let state = if is_complete { RunState::Completed } else { RunState::Incomplete };
    let record = match control.leaves_end_to_caller {
        true => RunRecord { state, notes: progress.notes(), ..record },
        false => store.set_run_state(record.id, state, &progress.notes()).await?,
    };
    Ok(RunEnd { record, store, failed, unscored, open })
}

/// Works to the end, and stops what is being done once something else happens.
async fn stopping_when<T>(
    happens: impl Future<Output = ()>,
    stop: &CancellationToken,
    working: impl Future<Output = T>,
) -> T {
    let stopping = async {
        happens.await;
        stop.cancel();
    };
    let (mut stopping, mut working) = (pin!(stopping), pin!(working));
    tokio::select! {
        () = &mut stopping => working.await,
        done = &mut working => done,
    }
}

/// Why the money did not suffice, and what to do about it; begins as [`BUDGET_NOTES`] do.
fn budget_note(budget: &Budget) -> String {
    let why = match budget.refused() {
        Some(BudgetExhausted { needed: None, limit, .. }) => format!(
            "first call of a model without a known price, since there is a budget of {limit}: start it again with `price` for the model, or without the budget"
        ),
        Some(BudgetExhausted { is_shared: true, limit, spent, .. }) => format!(
            "organization's budget of {limit} a month with {spent} spent, since the next call might have passed it: `fullbench resume` goes on in the next month, or with a larger budget"
        ),
        _ => format!(
            "budget of {} with {} spent, since the next call might have passed it: `fullbench resume --budget USD` goes on with more",
            budget.limit().unwrap_or_default(),
            budget.spent()
        ),
    };
    format!("{BUDGET_NOTES}{why}")
}

/// What events call the models and scorers of a run.
fn names_of(spec: &EvaluationSpec, scorers: &[NamedScorer]) -> ToldNames {
    ToldNames {
        models: spec.models.iter().map(ModelConfig::display_name).collect(),
        scorers: scorers.iter().map(|one| (one.hash.short(), one.name.clone())).collect(),
    }
}

/// Whether any call may be made: by a model of the run, or by a scorer.
fn asks_a_model(spec: &EvaluationSpec, scorers: &[NamedScorer]) -> bool {
    spec.models.iter().any(|model| model.provider != Provider::Recorded)
        || scorers.iter().any(|scorer| !scorer.scorer.models().is_empty())
}

/// A model ready to be called, its weights loaded where it runs in this process.
pub(crate) async fn called_model(
    gateway: &Gateway,
    model: &ModelConfig,
    limits: &Limits,
) -> Result<Arc<ModelHandle>, EngineError> {
    if model.provider == Provider::Local {
        let loaded = crate::local::load(model).await?;
        return Ok(gateway.custom_model(model, limits, loaded)?);
    }
    Ok(gateway.model(model, limits)?)
}
