//! The number that a rule watches, as it is now.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use fullbench_engine::{EngineError, stored_spec};
use fullbench_store::{AlertRecord, AlertScope, Measurement, ScopedStore, StoreError};
use fullbench_types::{AlertKind, RunId};
use jiff::Timestamp;

/// The number that a rule watches; none where there is too little to say.
pub(super) async fn measure(
    store: &ScopedStore,
    alert: &AlertRecord,
    now: Timestamp,
) -> Result<Option<Measurement>, EngineError> {
    let scope = AlertScope::ending(now, alert.window_seconds, &alert.filter);
    let minimum = alert.minimum_count;
    Ok(match alert.kind {
        AlertKind::ErrorRate => store.measured_error_rate(&scope, minimum).await?,
        AlertKind::Latency => store.measured_latency(&scope, minimum).await?,
        AlertKind::QueueTime => Some(store.measured_queue_time(&scope).await?),
        AlertKind::ProviderErrors => store.measured_provider_errors(&scope, minimum).await?,
        AlertKind::Spend => store.measured_spend().await?,
        AlertKind::ScoreDrop => score_drop(store, &scope, minimum).await?,
    })
}

/// The largest fall of a scorer of the name. Several have it where its parameters were changed: each is compared with itself
/// alone, and a fall that is certain goes before one that may be chance.
async fn score_drop(
    store: &ScopedStore,
    scope: &AlertScope<'_>,
    minimum: u32,
) -> Result<Option<Measurement>, EngineError> {
    let Some(name) = scope.filter.scorer.as_deref() else { return Ok(None) };
    let mut largest: Option<Measurement> = None;
    for scorer in scorers_named(store, scope, name).await? {
        let Some(found) = store.measured_score_drop(scope, scorer, minimum).await? else {
            continue;
        };
        let is_larger = |before: &Measurement| {
            (found.is_certain, found.value) > (before.is_certain, before.value)
        };
        if largest.as_ref().is_none_or(is_larger) {
            let hash: String = scorer[..4].iter().map(|byte| format!("{byte:02x}")).collect();
            largest = Some(Measurement { subject: Some(format!("{name} {hash}")), ..found });
        }
    }
    Ok(largest)
}

/// The scorers of the window that have this name in the newest run they scored there, by their hashes.
async fn scorers_named(
    store: &ScopedStore,
    scope: &AlertScope<'_>,
    name: &str,
) -> Result<Vec<[u8; 16]>, EngineError> {
    let mut of_runs: HashMap<RunId, Vec<[u8; 16]>> = HashMap::new();
    let mut named = Vec::new();
    for (scorer, run) in store.scorers_in(scope).await? {
        let of_run = match of_runs.entry(run) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(named_in_run(store, run, name).await?),
        };
        if of_run.contains(&scorer) {
            named.push(scorer);
        }
    }
    Ok(named)
}

/// The scorers of a run that have this name: one at most, unless the run is gone.
async fn named_in_run(
    store: &ScopedStore,
    run: RunId,
    name: &str,
) -> Result<Vec<[u8; 16]>, EngineError> {
    let record = match store.run(run).await {
        Err(StoreError::RunNotFound(_)) => return Ok(Vec::new()),
        found => found?,
    };
    let spec = stored_spec(store, &record).await?;
    let mut hashes = Vec::new();
    for config in spec.scorers.iter().filter(|config| config.name() == name) {
        let built = fullbench_score::build(config)
            .map_err(|error| EngineError::StoredSpec(error.message))?;
        hashes.push(built.hash.short());
    }
    Ok(hashes)
}
