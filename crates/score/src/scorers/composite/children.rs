//! The scorers that another one is made of: built, connected and asked together.

use std::sync::Arc;

use fullbench_llm::{ModelConfig, ModelHandle};
use fullbench_types::{
    ContentHash, JudgeReply, Judgement, NanoDollars, Outcome, Score, ScorePath, UnscoredReason,
};
use futures::future::join_all;

use super::NestedScorer;
use crate::memory::Memory;
use crate::registry::{NamedScorer, ScorerConfigError, build};
use crate::scorer::{AskedCall, Item};

/// Scorers that are asked together.
pub(crate) struct Children(Vec<NamedScorer>);

impl Children {
    /// Builds each entry; an error says in which place it is. None of them may judge outputs in different ways: the whole could
    /// not tell which way a value came.
    pub(crate) fn build<'entry>(
        entries: impl IntoIterator<Item = (String, &'entry NestedScorer)>,
    ) -> Result<Self, ScorerConfigError> {
        Self::build_with(entries, |child| !child.scorer.has_paths())
    }

    /// The same, with the children that are allowed.
    pub(crate) fn build_with<'entry>(
        entries: impl IntoIterator<Item = (String, &'entry NestedScorer)>,
        allowed: impl Fn(&NamedScorer) -> bool,
    ) -> Result<Self, ScorerConfigError> {
        let mut scorers = Vec::new();
        for (place, NestedScorer(config)) in entries {
            let child = build(config).map_err(|error| within(&place, error))?;
            if !allowed(&child) {
                let (field, what) = match child.kind.as_str() {
                    "cascade" | "routed" => (None, format!("`{}`", child.kind)),
                    _ => (Some("similar".to_owned()), "a judge with `similar`".to_owned()),
                };
                let error = ScorerConfigError {
                    field,
                    ..ScorerConfigError::new(format!("{what} cannot be part of this scorer"))
                }
                .hint("the numbers need the way each output took: list it among `scorers`");
                return Err(within(&place, error));
            }
            if child.scorer.opponent().is_some() {
                let error = ScorerConfigError::at("opponent", "only a scorer by itself has one")
                    .hint("list the comparison among `scorers`, not inside another scorer");
                return Err(within(&place, error));
            }
            scorers.push(child);
        }
        Ok(Self(scorers))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &NamedScorer> {
        self.0.iter()
    }

    pub(crate) fn ready(&self) -> Result<(), ScorerConfigError> {
        self.0.iter().try_for_each(|child| child.scorer.ready())
    }

    pub(crate) fn models(&self) -> Vec<ModelConfig> {
        self.0.iter().flat_map(|child| child.scorer.models()).collect()
    }

    pub(crate) fn embedders(&self) -> Vec<ModelConfig> {
        self.0.iter().flat_map(|child| child.scorer.embedders()).collect()
    }

    /// How many outputs the scorers want to see together, at most.
    pub(crate) fn batch_size(&self) -> usize {
        self.0.iter().map(|child| child.scorer.batch_size()).max().unwrap_or(1)
    }

    /// Gives each scorer its part of the models.
    pub(crate) fn connect(&self, models: Vec<Arc<ModelHandle>>) {
        let mut models = models.into_iter();
        for child in &self.0 {
            let own = child.scorer.models().len();
            child.scorer.connect(models.by_ref().take(own).collect());
        }
    }

    pub(crate) fn remember(&self, memory: &Memory) {
        for child in &self.0 {
            child.scorer.remember(memory);
        }
    }

    /// What the scorers that are wanted, by their index, would ask about an output.
    pub(crate) fn calls(&self, item: &Item<'_>, wanted: impl Fn(usize) -> bool) -> Vec<AskedCall> {
        let asked = self.0.iter().enumerate().filter(|(index, _)| wanted(*index));
        asked.flat_map(|(_, child)| child.scorer.calls(item)).collect()
    }

    /// For each item the score of every scorer.
    pub(crate) async fn scores(&self, items: &[Item<'_>]) -> Vec<Vec<Score>> {
        let by_item = self.scores_of(items, |_| true).await;
        by_item.into_iter().map(|scores| scores.into_iter().flatten().collect()).collect()
    }

    /// For each item the scores of the scorers that are wanted, by their index.
    pub(crate) async fn scores_of(
        &self,
        items: &[Item<'_>],
        wanted: impl Fn(usize) -> bool,
    ) -> Vec<Vec<Option<Score>>> {
        let asked = self.0.iter().enumerate().map(|(index, child)| {
            let asked = wanted(index).then(|| child.scorer.score(items));
            async { Some(asked?.await.into_iter()) }
        });
        let mut by_child = join_all(asked).await;
        let mut by_item = Vec::with_capacity(items.len());
        for _ in items {
            let missing = || Score::unscored(UnscoredReason::ScorerError);
            let scores = by_child.iter_mut();
            let scores = scores
                .map(|child| child.as_mut().map(|child| child.next().unwrap_or_else(missing)));
            by_item.push(scores.collect());
        }
        by_item
    }
}

/// The same error, seen from the entry around it.
fn within(place: &str, error: ScorerConfigError) -> ScorerConfigError {
    let field = match error.field {
        Some(field) => format!("{place}.{field}"),
        None => place.to_owned(),
    };
    ScorerConfigError { field: Some(field), ..error }
}

/// A reason that is going to pass: with one of these the whole is asked for again, rather than made of the rest.
pub(crate) fn passing_reason(scores: &[&Score]) -> Option<Score> {
    let passes = |score: &&&Score| {
        matches!(
            score.outcome,
            Outcome::Unscored(
                UnscoredReason::BudgetExhausted
                    | UnscoredReason::Cancelled
                    | UnscoredReason::ProviderError
            )
        )
    };
    scores.iter().find(passes).map(|score| Score {
        outcome: score.outcome,
        reasoning: score.reasoning.clone(),
        ..Score::unscored(UnscoredReason::ProviderError)
    })
}

/// What a score would have cost without the response cache.
pub(crate) fn full_cost(score: &Score) -> Option<NanoDollars> {
    match (&score.judgement, score.path.as_deref()) {
        (Some(judgement), _) => judgement.full_cost(),
        (None, Some(ScorePath::Similar(similar))) => similar.saved,
        (None, _) => score.cost,
    }
}

/// The score of a whole with what its parts cost and how judges among them came to theirs.
pub(crate) fn with_parts(mut whole: Score, method: &str, parts: Vec<(&str, Score)>) -> Score {
    let costs: Vec<NanoDollars> = parts.iter().filter_map(|(_, part)| part.cost).collect();
    whole.cost = (!costs.is_empty()).then(|| costs.into_iter().sum());
    let judged = parts.iter().filter(|(_, part)| part.judgement.is_some());
    whole.cached = judged.clone().count() > 0 && judged.clone().all(|(_, part)| part.cached);
    let mut together: Option<Judgement> = None;
    for (name, part) in parts {
        let Some(judgement) = part.judgement else { continue };
        let all = together.get_or_insert_with(|| Judgement {
            judge: None,
            // Not that of a part: what the whole gives is no judgement by the part's criterion.
            criterion: method.to_owned(),
            method: method.to_owned(),
            model: judgement.model.clone(),
            prompt: String::new(),
            template: ContentHash::of(&[]),
            threshold: None,
            replies: Vec::new(),
        });
        all.prompt.push_str(&format!("# {name}\n\n{}\n\n", judgement.prompt));
        all.template =
            ContentHash::of_parts(&[all.template.0.as_slice(), judgement.template.0.as_slice()]);
        all.replies.extend(judgement.replies.into_iter().map(|reply| JudgeReply {
            part: Some(match reply.part {
                Some(part) => format!("{name}: {part}"),
                None => name.to_owned(),
            }),
            ..reply
        }));
    }
    whole.judgement = together.map(Box::new);
    whole
}
