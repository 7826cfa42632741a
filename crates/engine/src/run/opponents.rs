//! Models that others are compared with: they answer first, and scoring finds their answers in the store.

use std::collections::BTreeSet;

use fullbench_llm::ModelConfig;
use fullbench_score::NamedScorer;
use fullbench_store::{ResultDetail, ScopedStore};
use fullbench_types::{RunId, UnitKey};

use super::lane::GeneratedUnit;

/// Beyond every model and repetition.
const LAST: u32 = i32::MAX as u32;

/// What the opponent of a scorer answered to a unit's case.
#[derive(Debug)]
pub(crate) enum OpposedAnswer {
    /// The unit is the opponent's own.
    Itself,
    /// There is none.
    Missing,
    /// Its text.
    Text(String),
}

/// The opponents of a run's scorers.
pub(crate) struct Opponents {
    store: ScopedStore,
    run: RunId,
    /// For each scorer the model it compares with.
    by_scorer: Vec<Option<u32>>,
}

impl Opponents {
    pub(crate) fn new(
        store: ScopedStore,
        run: RunId,
        scorers: &[NamedScorer],
        models: &[ModelConfig],
    ) -> Self {
        let model_of = |scorer: &NamedScorer| {
            let name = scorer.scorer.opponent()?;
            let index = models.iter().position(|model| model.display_name() == name);
            // A name that no model has is refused when the file is read; here it has no answers.
            Some(index.map_or(LAST, |index| index as u32))
        };
        Self { store, run, by_scorer: scorers.iter().map(model_of).collect() }
    }

    /// The models that must answer before the others.
    pub(crate) fn models(&self) -> BTreeSet<u32> {
        self.by_scorer.iter().flatten().copied().collect()
    }

    /// For each unit what the opponent of a scorer answered; empty where the scorer has none.
    pub(crate) async fn answers(
        &self,
        scorer: usize,
        units: &[GeneratedUnit],
    ) -> Vec<OpposedAnswer> {
        let Some(model_index) = self.by_scorer.get(scorer).copied().flatten() else {
            return Vec::new();
        };
        let mut answers = Vec::with_capacity(units.len());
        for unit in units {
            answers.push(if unit.key.model_index == model_index {
                OpposedAnswer::Itself
            } else {
                let text = self.answer(UnitKey { model_index, ..unit.key }).await;
                text.map_or(OpposedAnswer::Missing, OpposedAnswer::Text)
            });
        }
        answers
    }

    async fn answer(&self, key: UnitKey) -> Option<String> {
        let page = self.store.results_after(self.run, before(key), 1, ResultDetail::Texts).await;
        let unit = page.ok()?.pop().filter(|unit| unit.key == key)?;
        Some(unit.result.ok()?.text)
    }
}

/// The place just before a unit in the order of keys.
fn before(key: UnitKey) -> Option<UnitKey> {
    let UnitKey { case_index, model_index, repetition } = key;
    if let Some(repetition) = repetition.checked_sub(1) {
        return Some(UnitKey { repetition, ..key });
    }
    if let Some(model_index) = model_index.checked_sub(1) {
        return Some(UnitKey { model_index, repetition: LAST, ..key });
    }
    let case_index = case_index.checked_sub(1)?;
    Some(UnitKey { case_index, model_index: LAST, repetition: LAST })
}
