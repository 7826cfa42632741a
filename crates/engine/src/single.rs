//! Answers that are scored one at a time, without a plan and without lanes.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use fullbench_llm::{
    Budget, CacheMode, Gateway, GatewayOptions, Limits, ModelConfig, ProviderKeys, price_of,
};
use fullbench_score::{Item, NamedScorer};
use fullbench_store::{DiskCache, ScopedStore, ScoreRecord};
use fullbench_types::{Generation, NanoDollars, Score, TestCase, UnitKey, UnscoredReason};
use futures::FutureExt;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span};

use crate::run::{called_model, is_left, memory, no_key, no_price, refuse_uncounted};
use crate::spec::{EvaluationSpec, LoadedEvaluation};
use crate::{EngineError, observed, traced};

/// The models of an organization, connected once for all its single evaluations: they share limits, pace and breakers.
pub struct Connections {
    store: ScopedStore,
    gateway: Gateway,
    monthly: Arc<Budget>,
    keys: ProviderKeys,
    keeps_texts: bool,
}

impl Connections {
    /// Connections of an organization, within what it may spend in a month; replies are kept in the cache where there is one.
    #[must_use]
    pub fn new(
        store: ScopedStore,
        cache: Option<Arc<DiskCache>>,
        monthly: Arc<Budget>,
        keys: ProviderKeys,
        stop: CancellationToken,
    ) -> Self {
        let keeps_texts = cache.is_some();
        let gateway = Gateway::new(GatewayOptions {
            organization: store.organization(),
            cache: cache.map(|cache| cache.of(store.organization())),
            cache_mode: CacheMode::Use,
            budget: Arc::clone(&monthly),
            stop,
            keys: keys.clone(),
            batch: None,
        });
        Self { store, gateway, monthly, keys, keeps_texts }
    }

    /// Whole texts are kept for later: replies in the cache, and outputs that were judged.
    #[must_use]
    pub fn keeps_texts(&self) -> bool {
        self.keeps_texts
    }

    /// The keys of the organization that the models are called with.
    #[must_use]
    pub fn keys(&self) -> &ProviderKeys {
        &self.keys
    }
}

/// The scorers of an evaluation, ready to be asked about any answer.
#[derive(Debug)]
pub struct AnswerScorers {
    spec: EvaluationSpec,
    scorers: Vec<NamedScorer>,
}

impl AnswerScorers {
    /// The scorers of an evaluation that was checked.
    pub fn new(evaluation: LoadedEvaluation) -> Result<Self, EngineError> {
        let spec = evaluation.spec;
        let scorers =
            spec.scorers.iter().map(fullbench_score::build).collect::<Result<Vec<_>, _>>();
        let scorers = scorers.map_err(|error| EngineError::StoredSpec(error.message))?;
        Ok(Self { spec, scorers })
    }

    /// Gives the scorers the models they ask.
    pub async fn connect(&self, connections: &Connections) -> Result<(), EngineError> {
        let asked: Vec<ModelConfig> =
            self.scorers.iter().flat_map(|scorer| scorer.scorer.models()).collect();
        let keys = connections.keys();
        if let Some(variable) = asked.iter().find_map(|model| keys.missing_variable(model)) {
            return Err(no_key(&variable).into());
        }
        let unpriced = asked.iter().find(|model| price_of(model).is_none());
        if let Some(model) = unpriced.filter(|_| connections.monthly.limit().is_some()) {
            return Err(no_price(&model.display_name()).into());
        }
        for key in asked.iter().flat_map(|model| keys.used_by(model)) {
            connections.store.note_provider_key_use(key).await?;
        }
        let memory = memory(&connections.store, connections.keeps_texts);
        for NamedScorer { scorer, .. } in &self.scorers {
            let mut models = Vec::new();
            for model in scorer.models() {
                models.push(called_model(&connections.gateway, &model, &Limits::default()).await?);
            }
            scorer.connect(models);
            scorer.remember(&memory);
        }
        Ok(())
    }

    /// The evaluation they belong to.
    #[must_use]
    pub fn spec(&self) -> &EvaluationSpec {
        &self.spec
    }

    /// The scorers.
    #[must_use]
    pub fn scorers(&self) -> &[NamedScorer] {
        &self.scorers
    }

    /// Some of them ask a model, which takes time and may cost money.
    #[must_use]
    pub fn ask_models(&self) -> bool {
        let asks = |NamedScorer { scorer, .. }: &NamedScorer| {
            !scorer.models().is_empty() || !scorer.embedders().is_empty()
        };
        self.scorers.iter().any(asks)
    }

    /// Refuses what costs money once the organization has spent what it may in a month, and embeddings whose cost its budget
    /// would not see.
    pub async fn check_monthly_budget(&self, store: &ScopedStore) -> Result<(), EngineError> {
        let monthly = store.monthly_budget().await?;
        is_left(&monthly)?;
        if monthly.limit().is_none() {
            return Ok(());
        }
        refuse_uncounted(&self.scorers)
    }

    /// The score of one scorer.
    pub async fn score(
        &self,
        scorer: usize,
        case: &TestCase,
        generation: &Generation,
    ) -> SingleScore {
        let Some(NamedScorer { scorer, hash, name, .. }) = self.scorers.get(scorer) else {
            return SingleScore::default();
        };
        let items = [Item::new(case, generation)];
        let span = traced::scorer(&Span::current(), name, items.len());
        let scoring = AssertUnwindSafe(scorer.score(&items)).catch_unwind();
        let scores = scoring.instrument(span.clone()).await;
        let score = scores.ok().and_then(|mut scores| scores.pop()).unwrap_or_else(|| {
            Score::unscored(UnscoredReason::ScorerError).because("the scorer failed on this output")
        });
        observed::scored(name, &score);
        traced::scored(&span, &score);
        let unasked = [UnscoredReason::Cancelled, UnscoredReason::BudgetExhausted];
        if score.outcome.reason().is_some_and(|reason| unasked.contains(&reason)) {
            return SingleScore { record: None, spent_on_open: score.cost.unwrap_or_default() };
        }
        let key = UnitKey { case_index: 0, model_index: 0, repetition: 0 };
        let record = ScoreRecord { key, scorer: hash.short(), revision: 0, score };
        SingleScore { record: Some(record), spent_on_open: NanoDollars::ZERO }
    }
}

/// What came of asking a scorer.
#[derive(Debug, Clone, Default)]
pub struct SingleScore {
    /// The score; none where it was not asked for to the end, because the server stops or the budget is used up.
    pub record: Option<ScoreRecord>,
    /// What was paid before that.
    pub spent_on_open: NanoDollars,
}
