//! Criteria, thresholds and judges of the store that an evaluation file may name.

use std::collections::BTreeMap;

use fullbench_judge::Method;
use fullbench_score::ScorerConfig;
use fullbench_store::{CriterionSource, JudgeRecord, ScopedStore};
use fullbench_types::{Criterion, JudgeReference};
use serde_json::{Map, Value, json};

use super::did_you_mean;
use crate::{EngineError, InputProblem};

/// Where scorers name a criterion: in a judge's own parameters, in those of a comparison, in those of a panel's members.
const CRITERIA: [&str; 3] = ["criterion", "judge.criterion", "members.judge.criterion"];

/// The kinds of scorers that ask one judge, and take its threshold.
const JUDGES: [&str; 5] = ["g_eval", "rubric", "binary", "reference", "claims"];

/// What the store knows by name, as it is now.
#[derive(Debug, Clone, Default)]
pub struct Definitions {
    criteria: BTreeMap<String, Criterion>,
    thresholds: BTreeMap<String, f64>,
    judges: BTreeMap<String, StoredJudge>,
}

#[derive(Debug, Clone)]
struct StoredJudge {
    reference: JudgeReference,
    method: String,
    criterion: Criterion,
    model: Value,
    parameters: Map<String, Value>,
}

impl StoredJudge {
    async fn read(store: &ScopedStore, judge: &JudgeRecord) -> Result<Self, EngineError> {
        let criterion =
            store.criterion_revision(&judge.criterion, judge.criterion_revision).await?;
        let model = store.model(&judge.provider, &judge.model).await?;
        Ok(Self {
            reference: judge.reference(),
            method: judge.method.clone(),
            criterion: criterion.criterion,
            model: model.config,
            parameters: judge.parameters.as_object().cloned().unwrap_or_default(),
        })
    }
}

impl Definitions {
    /// Everything the store knows by name.
    pub async fn read(store: &ScopedStore) -> Result<Self, EngineError> {
        let mut known = Self::default();
        for record in store.criteria().await? {
            let name = record.criterion.name.clone();
            if let Some(threshold) = store.threshold(&name).await? {
                known.thresholds.insert(name.clone(), threshold.score);
            }
            if record.source == CriterionSource::User {
                known.criteria.insert(name, record.criterion);
            }
        }
        for judge in store.judges().await? {
            let stored = StoredJudge::read(store, &judge).await?;
            known.judges.insert(judge.name, stored);
        }
        Ok(known)
    }

    /// One judge, whether or not it has a successor, and the threshold of its criterion; nothing else.
    pub async fn of_judge(store: &ScopedStore, judge: &JudgeRecord) -> Result<Self, EngineError> {
        let mut known = Self::default();
        if let Some(threshold) = store.threshold(&judge.criterion).await? {
            known.thresholds.insert(judge.criterion.clone(), threshold.score);
        }
        let stored = StoredJudge::read(store, judge).await?;
        known.judges.insert(judge.name.clone(), stored);
        Ok(known)
    }

    /// Whether there is a judge of this name.
    pub(super) fn has_judge(&self, name: &str) -> bool {
        self.judges.contains_key(name)
    }

    /// The names of the user's own criteria.
    pub(super) fn criterion_names(&self) -> impl Iterator<Item = &str> {
        self.criteria.keys().map(String::as_str)
    }

    /// Puts what a scorer names in its place: a stored judge, a criterion of the user, the threshold of the day.
    pub(super) fn resolve(&self, scorer: &mut ScorerConfig) -> Result<(), InputProblem> {
        if scorer.kind == "judge" {
            self.resolve_judge(scorer)?;
        }
        let judges = JUDGES.contains(&scorer.kind.as_str());
        let mut parameters = Value::Object(std::mem::take(&mut scorer.parameters));
        for path in CRITERIA {
            for (_, entry) in super::scorers::values_at(&mut parameters, path) {
                if let Some(criterion) = entry.as_str().and_then(|name| self.criteria.get(name)) {
                    *entry = json!(criterion);
                }
            }
        }
        let Value::Object(mut parameters) = parameters else { return Ok(()) };
        let criterion = parameters.get("criterion").and_then(|criterion| {
            criterion.as_str().or_else(|| criterion.get("name")?.as_str()).map(str::to_owned)
        });
        let criterion = criterion.as_deref().or(default_criterion(&scorer.kind));
        let threshold = criterion.and_then(|name| self.thresholds.get(name));
        if let Some(threshold) = threshold.filter(|_| judges && scorer.kind != "binary") {
            parameters.entry("threshold").or_insert_with(|| json!(threshold));
        }
        scorer.parameters = parameters;
        Ok(())
    }

    fn resolve_judge(&self, scorer: &mut ScorerConfig) -> Result<(), InputProblem> {
        let Some(said) = scorer.parameters.get("judge").and_then(Value::as_str) else {
            let problem = InputProblem::new("`judge` is the name of a stored judge");
            return Err(problem.hint("for example `{ type: judge, judge: strict }`"));
        };
        if let Some(other) = scorer.parameters.keys().find(|name| *name != "judge") {
            let problem = InputProblem::new(format!("a stored judge has its own `{other}`"));
            return Err(problem.hint("make a judge with other parameters: `fullbench judge add`"));
        }
        let Some(judge) = self.judges.get(said) else {
            let problem = InputProblem::new(format!("there is no judge `{said}`"));
            return Err(problem.hint(match self.judges.is_empty() {
                true => "make one with `fullbench judge add`".to_owned(),
                false => did_you_mean(said, self.judges.keys().map(String::as_str)),
            }));
        };
        let mut parameters = judge.parameters.clone();
        parameters.insert("criterion".to_owned(), json!(judge.criterion));
        parameters.insert("model".to_owned(), judge.model.clone());
        parameters.insert("stored".to_owned(), json!(judge.reference));
        // A name of its own, that of the judge, or the method.
        let is_name =
            judge.reference.name.chars().all(|one| one.is_ascii_alphanumeric() || one == '_');
        let own = is_name.then(|| judge.reference.name.clone());
        *scorer = ScorerConfig {
            kind: judge.method.clone(),
            name: scorer.name.take().or(own),
            parameters,
        };
        Ok(())
    }
}

/// The criterion that a method of judging means where none is named.
pub(crate) fn default_criterion(method: &str) -> Option<&'static str> {
    serde_json::from_value::<Method>(json!(method)).ok()?.default_criterion()
}
