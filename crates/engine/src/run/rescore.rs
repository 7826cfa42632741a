//! New scores for the answers of a run: no model is asked again.

use std::collections::HashSet;
use std::sync::Arc;

use fullbench_llm::{ModelConfig, Provider};
use fullbench_score::{NamedScorer, ScorerConfig};
use fullbench_store::{LaneProgress, RunRecord, ScopedStore};
use fullbench_types::NanoDollars;

use super::open::OpenLane;
use super::prepare::{
    PreparedRun, compiled, is_left, no_key, planned, refuse_deleted, refuse_uncounted,
};
use crate::spec::{check_opponent, stored_spec};
use crate::{EngineError, InputProblem};

/// Adds scorers to a run and prepares it so that its answers are scored by them, and by nothing else; with a budget for this time
/// alone, where there is one.
pub async fn prepare_rescore(
    record: RunRecord,
    store: &ScopedStore,
    added: &[ScorerConfig],
    budget: Option<NanoDollars>,
    needs_keys: bool,
) -> Result<PreparedRun, EngineError> {
    let lock = store.lock_run(record.id).await?;
    let mut spec = stored_spec(store, &record).await?;
    let new = compiled_scorers(added)?;
    let old = compiled_scorers(&spec.scorers)?;
    // Scorers that the run has already are asked where they did not come to an end.
    let known: HashSet<[u8; 16]> = old.iter().map(|scorer| scorer.hash.short()).collect();
    let mut entries = Vec::new();
    for (scorer, config) in new.iter().zip(added) {
        check_opponent(config, &spec.models)?;
        if known.contains(&scorer.hash.short()) {
            continue;
        }
        if old.iter().any(|other| other.name == scorer.name) {
            let message = format!("the run has another scorer with the name `{}`", scorer.name);
            return Err(InputProblem::new(message)
                .hint("give the new one a `name:` of its own")
                .into());
        }
        entries.push(serde_json::to_string(config).map_err(|error| {
            EngineError::StoredSpec(format!("a scorer cannot be stored: {error}"))
        })?);
        spec.scorers.push(config.clone());
    }
    let has_own_budget = budget.is_some() || spec.budget.is_some();
    let monthly = store.monthly_budget().await?;
    let asked: Vec<ModelConfig> = new.iter().flat_map(|scorer| scorer.scorer.models()).collect();
    if asked.iter().any(|model| model.provider != Provider::Recorded) {
        is_left(&monthly)?;
    }
    if has_own_budget || monthly.limit().is_some() {
        refuse_uncounted(&new)?;
    }
    if needs_keys {
        let keys = store.keys_for_calls().await?;
        if let Some(variable) = asked.iter().find_map(|model| keys.missing_variable(model)) {
            return Err(no_key(&variable).into());
        }
    }
    for NamedScorer { name, scorer, .. } in &new {
        scorer.ready().map_err(|error| InputProblem {
            hint: error.hint.clone(),
            ..InputProblem::new(format!("the scorer {name}: {error}"))
        })?;
    }
    let dataset = Arc::new(store.dataset(&record.dataset).await?);
    refuse_deleted(store, &record, &dataset).await?;
    let plan = planned(store, &spec, &dataset).await?;
    let (_, prompts) = compiled(&spec)?;
    let hashes: Vec<[u8; 16]> = new.iter().map(|scorer| scorer.hash.short()).collect();
    let progress = store.lane_progress(record.id).await?;
    let mut lanes = Vec::new();
    for model in 0..plan.models {
        lanes.push(match progress.iter().find(|lane| lane.model_index == model) {
            Some(lane) => OpenLane::to_score(store, record.id, &plan, *lane, &hashes).await?,
            None => OpenLane { units: 0, ..OpenLane::untouched(model, &plan) },
        });
    }
    if !entries.is_empty() {
        // The lanes go back to their beginning with it: a kill leaves work to `resume`, and none that it would not see.
        let reopened: Vec<LaneProgress> =
            lanes.iter().map(|lane| lane.progress).filter(|lane| lane.answered > 0).collect();
        store.add_scorers(record.id, &entries, &reopened).await?;
    }
    Ok(PreparedRun {
        record,
        spec,
        dataset,
        plan,
        store: store.clone(),
        scorers: new,
        prompts,
        lanes,
        lock,
    })
}

fn compiled_scorers(entries: &[ScorerConfig]) -> Result<Vec<NamedScorer>, EngineError> {
    let built = entries.iter().map(fullbench_score::build).collect::<Result<Vec<_>, _>>();
    built.map_err(|error| {
        InputProblem { hint: error.hint.clone(), ..InputProblem::new(error.to_string()) }.into()
    })
}
