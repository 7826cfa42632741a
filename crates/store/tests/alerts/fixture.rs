//! Results at chosen times.

use std::sync::atomic::{AtomicU64, Ordering};

use fullbench_store::{
    AlertFilter, AlertScope, GenerationRecord, NewAlert, NewOrganization, NewRun, RunOrder,
    ScopedStore, ScoreRecord, Store,
};
use fullbench_types::{
    AlertKind, ContentHash, DEFAULT_ORGANIZATION, ErrorCode, FailureReason, FinishReason,
    Generation, Plan, RunId, RunKind, RunOrigin, Score, UnitFailure, UnitKey,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use uuid::Uuid;

use crate::backend::Place;

/// Seconds of the window of every test.
pub(crate) const WINDOW: u32 = 3600;

/// The models of every run, by position.
pub(crate) const MODELS: [&str; 3] = ["openai:a", "bee", "recorded"];

/// A store, one of its organizations, and the moment that is now.
pub(crate) struct Fixture {
    pub(crate) place: Place,
    pub(crate) store: Store,
    pub(crate) own: ScopedStore,
    pub(crate) now: Timestamp,
    cases: AtomicU64,
}

/// When a unit was recorded.
#[derive(Clone, Copy)]
pub(crate) enum At {
    /// In the middle of the window.
    Inside,
    /// In the middle of the window before.
    Before,
    /// At the very start of the window, which does not count.
    Start,
    /// At its very end, which does.
    End,
}

impl Fixture {
    pub(crate) async fn new(place: Place) -> Self {
        let store = place.open().await;
        let own = store.scoped(DEFAULT_ORGANIZATION);
        // Whole milliseconds, as times are kept.
        let now = Timestamp::from_millisecond(Timestamp::now().as_millisecond()).unwrap();
        Self { place, store, own, now, cases: AtomicU64::new(0) }
    }

    /// Another organization of the same store.
    pub(crate) async fn other(&self) -> ScopedStore {
        let slug = Uuid::now_v7().to_string();
        let new = NewOrganization { name: "Other".to_owned(), slug, plan: Plan::Free };
        self.store.scoped(self.store.create_organization(new).await.unwrap().id)
    }

    /// What is looked at.
    pub(crate) fn scope<'rule>(&self, filter: &'rule AlertFilter) -> AlertScope<'rule> {
        AlertScope::ending(self.now, WINDOW, filter)
    }

    /// A run of the three models.
    pub(crate) async fn run(&self, store: &ScopedStore) -> RunId {
        let spec = json!({"models": [{"provider": "openai", "model": "a"},
            {"provider": "anthropic", "model": "b", "name": MODELS[1]}, {"provider": "recorded"}]});
        let new = NewRun {
            id: RunId::generate(),
            order: RunOrder { origin: RunOrigin::Batch, ..RunOrder::default() },
            name: "test".to_owned(),
            kind: RunKind::Batch,
            spec: spec.to_string(),
            dataset: ContentHash::of(b"data"),
            planned_units: 3,
            version: "0".to_owned(),
        };
        store.create_run(new).await.unwrap().id
    }

    /// Records a unit at a time, with its scores.
    pub(crate) async fn record(
        &self,
        store: &ScopedStore,
        run: RunId,
        model_index: u32,
        result: Result<Generation, UnitFailure>,
        scores: &[([u8; 16], f64)],
        at: At,
    ) -> UnitKey {
        let case_index = self.cases.fetch_add(1, Ordering::Relaxed);
        let key = UnitKey { case_index, model_index, repetition: 0 };
        let case_key = format!("case{case_index}");
        let record = GenerationRecord { key, case_key: &case_key, result: result.as_ref() };
        let scores: Vec<ScoreRecord> =
            scores.iter().map(|(scorer, value)| score(key, *scorer, 0, *value)).collect();
        let scores: Vec<&ScoreRecord> = scores.iter().collect();
        store.recorder(run).commit(&[record], &scores, &[]).await.unwrap();
        let half = i64::from(WINDOW) / 2;
        let seconds = match at {
            At::Inside => half,
            At::Before => 3 * half,
            At::Start => 2 * half,
            At::End => 0,
        };
        let at = self.now.checked_sub(SignedDuration::from_secs(seconds)).unwrap();
        let sql = format!(
            "UPDATE generations SET recorded_at = {} WHERE case_key = '{case_key}'",
            at.as_millisecond()
        );
        self.place.execute(&sql).await.unwrap();
        key
    }

    /// Records several units alike.
    pub(crate) async fn many(
        &self,
        store: &ScopedStore,
        run: RunId,
        count: usize,
        result: &Result<Generation, UnitFailure>,
        at: At,
    ) {
        for _ in 0..count {
            self.record(store, run, 0, result.clone(), &[], at).await;
        }
    }
}

/// A score of a unit.
pub(crate) fn score(key: UnitKey, scorer: [u8; 16], revision: u32, value: f64) -> ScoreRecord {
    let score = Score { value: Some(value), raw: Some(value), ..Score::binary(true) };
    ScoreRecord { key, scorer, revision, score }
}

/// An answer that took so many milliseconds.
pub(crate) fn answer(milliseconds: u64) -> Result<Generation, UnitFailure> {
    Ok(Generation {
        latency_us: milliseconds * 1000,
        attempts: 1,
        finish_reason: FinishReason::Stop,
        ..Generation::recorded("text".to_owned())
    })
}

/// An answer from the cache.
pub(crate) fn cached(milliseconds: u64) -> Result<Generation, UnitFailure> {
    answer(milliseconds).map(|answer| Generation { cached: true, ..answer })
}

/// A failure.
pub(crate) fn failure(code: ErrorCode) -> Result<Generation, UnitFailure> {
    let reason = FailureReason::ProviderError;
    Err(UnitFailure { reason, message: "no".to_owned(), attempts: 3, code: Some(code) })
}

/// A rule that fires over 0.5.
pub(crate) fn rule(name: &str) -> NewAlert {
    NewAlert {
        id: Uuid::now_v7(),
        name: name.to_owned(),
        kind: AlertKind::ErrorRate,
        threshold: 0.5,
        window_seconds: WINDOW,
        minimum_count: 1,
        filter: AlertFilter::default(),
        repeat_seconds: Some(300),
        to_webhooks: true,
        emails: vec!["ann@example.com".to_owned(), "bob@example.com".to_owned()],
        slack_url: None,
        enabled: true,
        created_by: None,
    }
}
