//! Scorers that are ready for single answers: built once for every set of metrics, and connected once for every organization.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use fullbench_engine::{
    AnswerScorers, Connections, Definitions, EngineError, InputProblem, MetricRules, load_sent,
};
use fullbench_store::{
    CacheLimits, DatasetVersion, DiskCache, FieldMapping, JudgeRecord, ScopedStore,
};
use fullbench_types::{ContentHash, OrganizationId};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::app::App;
use crate::problem::Problem;

/// Sets of scorers that are kept: past it all are built anew.
const KEPT: usize = 1024;

/// The longest spec of a set that is kept: those of longer ones are seldom asked for again.
const LONGEST_KEPT: usize = 64 * 1024;

/// The scorers of a set of metrics, with the spec that evaluations by them have.
#[derive(Debug)]
pub(crate) struct AnswerSet {
    pub(crate) scorers: AnswerScorers,
    /// The frozen spec, as runs keep it.
    pub(crate) spec: String,
}

/// Whose set of scorers it is, if not everybody's, and the metrics it is for.
type SetKey = (Option<OrganizationId>, ContentHash);

/// What single evaluations share.
#[derive(Default)]
pub(crate) struct Singles {
    sets: Mutex<HashMap<SetKey, Arc<AnswerSet>>>,
    connections: Mutex<HashMap<OrganizationId, Arc<Connections>>>,
    cache: OnceCell<Option<Arc<DiskCache>>>,
}

impl Singles {
    /// The scorers of these metrics.
    pub(crate) async fn set(
        &self,
        app: &App,
        store: &ScopedStore,
        metrics: &[Value],
        rules: &MetricRules,
    ) -> Result<Arc<AnswerSet>, Problem> {
        // Sets that name nothing the organization has stored never change, and those that ask no model are the same for
        // everybody: models are asked with the key, the cache and the budget of one organization.
        let hash = ContentHash::of(json!(metrics).to_string().as_bytes());
        let own = (Some(store.organization()), hash);
        if rules.rubrics.is_empty()
            && let Some(set) = self.kept(&[(None, hash), own])
        {
            if !set.scorers.ask_models() {
                return Ok(set);
            }
            set.scorers.check_monthly_budget(store).await?;
            // Forgets those that were connected with other keys.
            self.connections(app, store).await?;
            if let Some(set) = self.kept(&[own]) {
                return Ok(set);
            }
        }
        let is_built_in = metrics.iter().all(|metric| rules.is_built_in(metric));
        let definitions = match is_built_in {
            true => Definitions::default(),
            false => Definitions::read(store).await?,
        };
        let set = Arc::new(build(app, metrics, rules, &definitions)?);
        let asks_models = set.scorers.ask_models();
        if asks_models {
            set.scorers.check_monthly_budget(store).await?;
            set.scorers.connect(&*self.connections(app, store).await?).await?;
        }
        if is_built_in && set.spec.len() <= LONGEST_KEPT {
            let mut sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
            if sets.len() >= KEPT {
                sets.clear();
            }
            sets.insert(if asks_models { own } else { (None, hash) }, set.clone());
        }
        Ok(set)
    }

    fn kept(&self, keys: &[SetKey]) -> Option<Arc<AnswerSet>> {
        let sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
        keys.iter().find_map(|key| sets.get(key)).cloned()
    }

    /// A stored judge as the only scorer, exactly as it was made.
    pub(crate) async fn judge(
        &self,
        app: &App,
        store: &ScopedStore,
        judge: &JudgeRecord,
    ) -> Result<Arc<AnswerSet>, Problem> {
        let definitions = Definitions::of_judge(store, judge).await?;
        let metric = json!({ "type": "judge", "judge": judge.name });
        let set = build(app, &[metric], &MetricRules::default(), &definitions)?;
        set.scorers.check_monthly_budget(store).await?;
        set.scorers.connect(&*self.connections(app, store).await?).await?;
        Ok(Arc::new(set))
    }

    /// Forgets what is kept for an organization, and sets of scorers that it may have asked for.
    pub(crate) fn forget(&self, organization: OrganizationId) {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner).remove(&organization);
        self.sets.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    async fn connections(
        &self,
        app: &App,
        store: &ScopedStore,
    ) -> Result<Arc<Connections>, EngineError> {
        let cache = self
            .cache
            .get_or_try_init(async || {
                let cache = DiskCache::open(store.home(), CacheLimits::default()).await?;
                Ok::<_, EngineError>(Some(Arc::new(cache)))
            })
            .await?;
        let monthly = store.monthly_budget().await?;
        let keys = store.keys_for_calls().await?;
        let cache = if store.keeps_no_copies().await? { None } else { cache.clone() };
        let mut all = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        let connected = all.get(&store.organization());
        // Those made with a key that was replaced since are left to whoever still uses them.
        let is_right = |connected: &&Arc<Connections>| {
            *connected.keys() == keys && connected.keeps_texts() == cache.is_some()
        };
        if let Some(connected) = connected.filter(is_right) {
            return Ok(connected.clone());
        }
        let stop = app.ongoing().stop_of(store.organization());
        let made = Arc::new(Connections::new(store.clone(), cache, monthly, keys, stop));
        all.insert(store.organization(), made.clone());
        let mut sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
        sets.retain(|(owner, _), _| *owner != Some(store.organization()));
        Ok(made)
    }
}

/// What of a sent case is its input, and what its reference.
pub(crate) fn case_mapping() -> FieldMapping {
    FieldMapping { input: Some("input".to_owned()), references: vec!["reference".to_owned()] }
}

fn build(
    app: &App,
    metrics: &[Value],
    rules: &MetricRules,
    definitions: &Definitions,
) -> Result<AnswerSet, Problem> {
    let mut scorers = Vec::with_capacity(metrics.len());
    for (index, metric) in metrics.iter().enumerate() {
        scorers.push(rules.scorer(metric, definitions).map_err(|problem| {
            let field = problem.field.clone().unwrap_or_else(|| format!("metrics[{index}]"));
            Problem::from(vec![InputProblem { field: Some(field), ..problem }])
        })?);
    }
    let mut any = DatasetVersion::of_cases("request".to_owned(), case_mapping(), Vec::new());
    any.fields = ["input", "reference", "context", "output"].map(str::to_owned).to_vec();
    let document = json!({ "name": "evaluation", "models": ["recorded"], "scorers": scorers });
    let evaluation = load_sent(document, any, definitions, &app.config().rules)
        .map_err(|error| Problem::from(error).renamed("scorers", "metrics"))?;
    let scorers = AnswerScorers::new(evaluation)?;
    let spec = serde_json::to_string(scorers.spec())
        .map_err(|error| EngineError::StoredSpec(error.to_string()))?;
    Ok(AnswerSet { scorers, spec })
}
