//! From an evaluation or a stored run to a run that can be executed; every mistake is found here, before any call.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use fullbench_llm::{
    Budget, ModelConfig, Price, Provider, ProviderKeys, estimate_messages, price_of,
    upper_estimate_messages,
};
use fullbench_score::NamedScorer;
use fullbench_store::{
    DatasetVersion, NewRun, ResultDetail, RunLock, RunOrder, RunRecord, ScopedStore, StoreError,
};
use fullbench_types::{ContentHash, RunId, RunKind, RunState};

use super::open::OpenLane;
use super::plan::{CaseSelection, Plan};
use super::sample::draw;
use crate::prompt::Prompts;
use crate::report::{baselines_of, check_group_field, group_field};
use crate::spec::{EvaluationSpec, LoadedEvaluation, stored_spec};
use crate::{EngineError, InputProblem, import_dataset};

/// A run with everything it needs, locked for this process.
#[derive(Debug)]
pub struct PreparedRun {
    /// The stored run.
    pub record: RunRecord,
    /// Its frozen spec.
    pub spec: EvaluationSpec,
    /// Its cases.
    pub dataset: Arc<DatasetVersion>,
    /// Its units.
    pub plan: Plan,
    pub(crate) store: ScopedStore,
    pub(crate) scorers: Vec<NamedScorer>,
    pub(crate) prompts: Arc<Prompts>,
    pub(crate) lanes: Vec<OpenLane>,
    pub(crate) lock: RunLock,
}

/// An evaluation whose data is frozen and whose prompts all render.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) spec: EvaluationSpec,
    pub(crate) dataset: Arc<DatasetVersion>,
    pub(crate) plan: Plan,
    pub(crate) scorers: Vec<NamedScorer>,
    pub(crate) prompts: Arc<Prompts>,
    pub(crate) tokens: PromptTokens,
}

/// Estimated tokens of all prompts of one repetition.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PromptTokens {
    pub(crate) likely: u64,
    pub(crate) upper: u64,
}

/// Freezes the data, draws the sample and renders every prompt once.
pub(crate) async fn check(
    mut evaluation: LoadedEvaluation,
    store: &ScopedStore,
) -> Result<Checked, EngineError> {
    let dataset = match evaluation.frozen.take() {
        Some(frozen) => Arc::new(frozen),
        None => Arc::new(import_dataset(&mut evaluation, store).await?),
    };
    evaluation.spec.group = group_field(&evaluation, &dataset)?;
    let mut cases = store.cases(dataset.clone()).await?;
    let spec = evaluation.spec.clone();
    let plan = planned(store, &spec, &dataset).await?;
    let (scorers, prompts) = compiled(&spec)?;
    let mut tokens = PromptTokens::default();
    if spec.prompt.required {
        for position in 0..plan.cases.len() {
            let Some(index) = plan.cases.case_index(position) else { continue };
            let case = cases.case(index)?;
            let messages = prompts.render(&case).map_err(|error| {
                let message = format!("case `{}`: {}", case.key, error.message);
                let problem = InputProblem { hint: error.hint, ..InputProblem::new(message) };
                evaluation.problem(
                    if evaluation.file.prompt.is_some() { "prompt" } else { &error.template },
                    problem,
                )
            })?;
            // Others get their turn between two prompts.
            tokio::task::yield_now().await;
            tokens.likely += estimate_messages(&messages);
            tokens.upper += upper_estimate_messages(&messages);
        }
    }
    Ok(Checked { spec, dataset, plan, scorers, prompts, tokens })
}

/// How a new run is asked for.
#[derive(Debug, Clone)]
pub struct RunRequest<'text> {
    /// The id it gets.
    pub id: RunId,
    /// What it is for; by its units where that is not said.
    pub kind: Option<RunKind>,
    /// Calls will be made, so that keys must be there.
    pub needs_keys: bool,
    /// The field that its report will be grouped by.
    pub group_by: Option<&'text str>,
    /// The version of fullbench.
    pub version: &'text str,
    /// Who asked, how urgently, and what for.
    pub order: RunOrder,
    /// How many units there is room for; nothing for as many as it has.
    pub units: Option<u64>,
}

impl<'text> RunRequest<'text> {
    /// A run that the command line works on itself.
    #[must_use]
    pub fn new(version: &'text str, needs_keys: bool) -> Self {
        let order = RunOrder::default();
        let (id, kind, group_by, units) = (RunId::generate(), None, None, None);
        Self { id, kind, needs_keys, group_by, version, order, units }
    }
}

/// Prepares a new run; nothing is stored of it unless everything holds together.
pub async fn prepare_new(
    evaluation: LoadedEvaluation,
    store: &ScopedStore,
    request: RunRequest<'_>,
) -> Result<PreparedRun, EngineError> {
    let RunRequest { id, kind, needs_keys, group_by, version, order, units } = request;
    let monthly = store.monthly_budget().await?;
    if asked_models(&evaluation).iter().any(|(_, model)| model.provider != Provider::Recorded) {
        is_left(&monthly)?;
    }
    let mut problems = missing_prices(&evaluation, &monthly);
    if needs_keys {
        problems.extend(missing_keys(&evaluation, &store.keys_for_calls().await?));
    }
    let (baselines, missing) = baselines(&evaluation, store).await?;
    problems.extend(missing);
    if !problems.is_empty() {
        return Err(EngineError::Input(problems));
    }
    let Checked { mut spec, dataset, plan, scorers, prompts, .. } =
        check(evaluation, store).await?;
    if let Some(left) = units.filter(|left| plan.units() > *left) {
        return Err(EngineError::NoRoom { units: plan.units(), left });
    }
    spec.baselines = baselines;
    if let Some(field) = group_by {
        check_group_field(field, &dataset)?;
    }
    let stored =
        serde_json::to_string(&spec).map_err(|error| EngineError::StoredSpec(error.to_string()))?;
    let by_units = if plan.units() == 1 { RunKind::Single } else { RunKind::Batch };
    let kind = kind.unwrap_or(by_units);
    let record = store
        .create_run(NewRun {
            id,
            order,
            name: spec.name.clone(),
            kind,
            spec: stored,
            dataset: dataset.hash,
            planned_units: plan.units(),
            version: version.to_owned(),
        })
        .await?;
    let lock = store.lock_run(record.id).await?;
    let lanes = (0..plan.models).map(|model| OpenLane::untouched(model, &plan)).collect();
    Ok(PreparedRun {
        record,
        spec,
        dataset,
        plan,
        store: store.clone(),
        scorers,
        prompts,
        lanes,
        lock,
    })
}

/// Prepares a stored run to go on: its plan minus its records.
pub async fn prepare_resume(
    record: RunRecord,
    store: &ScopedStore,
    needs_keys: bool,
) -> Result<PreparedRun, EngineError> {
    if matches!(record.state, RunState::Cancelled | RunState::Failed) {
        let problem = InputProblem::new(format!("run {} is {}", record.id, record.state.as_str()));
        return Err(problem.hint("start a new one with `fullbench run`").into());
    }
    let lock = store.lock_run(record.id).await?;
    let spec = stored_spec(store, &record).await?;
    let (scorers, prompts) = compiled(&spec)?;
    if needs_keys {
        let asked = scorers.iter().flat_map(|scorer| scorer.scorer.models());
        let asked: Vec<ModelConfig> = spec.models.iter().cloned().chain(asked).collect();
        let keys = store.keys_for_calls().await?;
        let missing = asked.iter().filter_map(|model| keys.missing_variable(model));
        let mut missing: Vec<String> = missing.collect();
        missing.dedup();
        if !missing.is_empty() {
            return Err(EngineError::Input(missing.iter().map(|one| no_key(one)).collect()));
        }
    }
    let dataset = Arc::new(store.dataset(&record.dataset).await?);
    refuse_deleted(store, &record, &dataset).await?;
    let plan = planned(store, &spec, &dataset).await?;
    for NamedScorer { name, scorer, .. } in &scorers {
        scorer.ready().map_err(|error| InputProblem {
            hint: error.hint.clone(),
            ..InputProblem::new(format!("the scorer {name}: {error}"))
        })?;
    }
    let hashes: Vec<[u8; 16]> = scorers.iter().map(|scorer| scorer.hash.short()).collect();
    let progress = store.lane_progress(record.id).await?;
    let mut lanes = Vec::new();
    for model in 0..plan.models {
        let lane = match progress.iter().find(|lane| lane.model_index == model) {
            Some(lane) => OpenLane::read(store, record.id, &plan, *lane, &hashes).await?,
            None => OpenLane::untouched(model, &plan),
        };
        lanes.push(lane);
    }
    Ok(PreparedRun {
        record,
        spec,
        dataset,
        plan,
        store: store.clone(),
        scorers,
        prompts,
        lanes,
        lock,
    })
}

pub(crate) fn compiled(
    spec: &EvaluationSpec,
) -> Result<(Vec<NamedScorer>, Arc<Prompts>), EngineError> {
    let scorers = spec.scorers.iter().map(fullbench_score::build).collect::<Result<Vec<_>, _>>();
    let scorers = scorers.map_err(|error| EngineError::StoredSpec(error.message))?;
    let prompts = spec.prompt.compile().map_err(|error| EngineError::StoredSpec(error.message))?;
    Ok((scorers, Arc::new(prompts)))
}

/// The runs of the baselines that gates name, and what is wrong where one is missing.
pub(crate) async fn baselines(
    evaluation: &LoadedEvaluation,
    store: &ScopedStore,
) -> Result<(BTreeMap<String, RunId>, Vec<InputProblem>), EngineError> {
    let mut found = BTreeMap::new();
    let mut problems = Vec::new();
    for (index, gate) in evaluation.spec.gates.iter().enumerate() {
        for name in baselines_of(gate) {
            match store.baseline(&name).await {
                Ok(baseline) => {
                    found.insert(name, baseline.run);
                }
                Err(StoreError::BaselineNotFound(_)) => {
                    let problem = InputProblem::new(format!("there is no baseline `{name}`"));
                    let hint = format!(
                        "run once without this gate, then `fullbench baseline set {name} latest`; `fullbench baseline list` shows those there are"
                    );
                    problems
                        .push(evaluation.problem(&format!("gates[{index}]"), problem.hint(hint)));
                }
                Err(other) => return Err(other.into()),
            }
        }
    }
    Ok((found, problems))
}

/// Every model that would be asked, with the place in the file that names it.
fn asked_models(evaluation: &LoadedEvaluation) -> Vec<(String, ModelConfig)> {
    let models = evaluation.spec.models.iter().enumerate();
    let mut asked: Vec<(String, ModelConfig)> =
        models.map(|(index, model)| (format!("models[{index}]"), model.clone())).collect();
    for (index, scorer) in evaluation.spec.scorers.iter().enumerate() {
        let built = fullbench_score::build(scorer);
        let models = built.map(|built| built.scorer.models()).unwrap_or_default();
        asked.extend(models.into_iter().map(|model| (format!("scorers[{index}]"), model)));
    }
    asked
}

/// Every model of embeddings that would be asked at a provider, with its place.
fn asked_embedders(evaluation: &LoadedEvaluation) -> Vec<(String, ModelConfig)> {
    let scorers = evaluation.spec.scorers.iter().enumerate();
    let of_scorer = |(index, scorer)| {
        let built = fullbench_score::build(scorer);
        let embedders = built.map(|built| built.scorer.embedders()).unwrap_or_default();
        embedders.into_iter().map(move |embedder| (format!("scorers[{index}]"), embedder))
    };
    scorers.flat_map(of_scorer).collect()
}

fn missing_keys(evaluation: &LoadedEvaluation, keys: &ProviderKeys) -> Vec<InputProblem> {
    let mut problems = Vec::new();
    let mut told = HashSet::new();
    for (field, model) in asked_models(evaluation) {
        if let Some(variable) = keys.missing_variable(&model)
            && told.insert((field.clone(), variable.clone()))
        {
            problems.push(evaluation.problem(&field, no_key(&variable)));
        }
    }
    problems
}

pub(crate) fn no_key(variable: &str) -> InputProblem {
    InputProblem::new(format!("the environment variable {variable} is not set"))
        .hint(format!("export {variable}=… ; keys are never read from files"))
}

/// Refuses what costs money once the organization has spent what it may in a month.
pub(crate) fn is_left(monthly: &Budget) -> Result<(), EngineError> {
    let used_up = monthly.refuse_used_up();
    used_up
        .map_err(|refused| EngineError::OutOfBudget { limit: refused.limit, spent: refused.spent })
}

/// A budget cannot be kept for this model, since nobody knows its price.
pub(crate) fn no_price(name: &str) -> InputProblem {
    InputProblem::new(format!("there is a budget, and no price is known for `{name}`"))
        .hint("add `price: { input: 0.15, output: 0.60 }` (dollars per million tokens), or remove the budget")
}

/// What is wrong with a model of embeddings where there is a budget: what its calls cost is not counted. One that is served here
/// costs nothing.
fn uncounted(embedder: &ModelConfig) -> Option<EngineError> {
    let is_free = price_of(embedder) == Some(Price::FREE);
    (!is_free).then(|| EngineError::Uncounted(embedder.display_name()))
}

/// Refuses scorers that ask a provider for embeddings, where there is a budget.
pub(crate) fn refuse_uncounted(scorers: &[NamedScorer]) -> Result<(), EngineError> {
    let mut embedders = scorers.iter().flat_map(|scorer| scorer.scorer.embedders());
    embedders.find_map(|embedder| uncounted(&embedder)).map_or(Ok(()), Err)
}

/// What is wrong with models that have no price where there is a budget.
fn missing_prices(evaluation: &LoadedEvaluation, monthly: &Budget) -> Vec<InputProblem> {
    if evaluation.spec.budget.is_none() && monthly.limit().is_none() {
        return Vec::new();
    }
    let mut problems = Vec::new();
    let mut told = HashSet::new();
    for (field, model) in asked_models(evaluation) {
        let name = model.display_name();
        if model.provider != Provider::Recorded
            && price_of(&model).is_none()
            && told.insert((field.clone(), name.clone()))
        {
            problems.push(evaluation.problem(&field, no_price(&name)));
        }
    }
    for (field, embedder) in asked_embedders(evaluation) {
        let Some(error) = uncounted(&embedder) else { continue };
        let problem = InputProblem::new(error.to_string()).hint(error.hint().unwrap_or_default());
        problems.push(evaluation.problem(&field, problem));
    }
    problems
}

impl PreparedRun {
    /// Hash of the frozen spec.
    #[must_use]
    pub fn spec_hash(&self) -> ContentHash {
        self.record.spec_hash
    }
}

/// Refuses a run whose prompts, cases or answers are gone with the key that they were sealed with: nothing is made of what stands
/// in their place.
pub(crate) async fn refuse_deleted(
    store: &ScopedStore,
    record: &RunRecord,
    dataset: &Arc<DatasetVersion>,
) -> Result<(), EngineError> {
    if record.spec_deleted {
        return Err(StoreError::TextsDeleted.into());
    }
    if dataset.cases > 0 {
        store.cases(dataset.clone()).await?.case(0)?;
    }
    store.results_after(record.id, None, 1, ResultDetail::Full).await?;
    Ok(())
}

/// How many units a spec means on its data, where which cases they are of cannot be told.
pub(crate) fn counted_plan(spec: &EvaluationSpec, dataset: &DatasetVersion) -> Plan {
    let sampled = spec.sample.as_ref().map_or(dataset.cases, |sample| sample.size);
    Plan {
        cases: CaseSelection::All(sampled.min(dataset.cases)),
        models: spec.models.len() as u32,
        repetitions: spec.repetitions,
    }
}

/// The plan of a spec on its data.
pub(crate) async fn planned(
    store: &ScopedStore,
    spec: &EvaluationSpec,
    dataset: &Arc<DatasetVersion>,
) -> Result<Plan, EngineError> {
    Ok(Plan {
        cases: draw(spec.sample.as_ref(), &mut store.cases(dataset.clone()).await?)?,
        models: spec.models.len() as u32,
        repetitions: spec.repetitions,
    })
}
