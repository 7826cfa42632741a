//! `judge_check`: a judge before the probes of its report card.

use async_trait::async_trait;
use fullbench_types::{Score, TestCase};
use futures::future::join_all;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::NestedScorer;
use super::children::Children;
use crate::registry::ScorerConfigError;
use crate::scorer::Item;
use crate::scorers::{BatchScorer, Parameters};

/// The field of a case that says which probe it is.
const FIELD: &str = "judge_check";

/// Parameters of `judge_check`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct JudgeCheck {
    /// The judge that is looked at.
    judge: NestedScorer,
    /// How the same model compares two answers; cases without an answer to compare with do not need it.
    #[serde(default)]
    pair: Option<NestedScorer>,
}

/// A judge, and how its model compares.
pub(crate) struct CheckedJudge {
    children: Children,
    is_binary: bool,
}

impl Parameters for JudgeCheck {
    type Scorer = CheckedJudge;

    const KIND: &'static str = "judge_check";
    const SUMMARY: &'static str = "What `fullbench judge check` scores by: the judge it looks at, asked once more or about two answers where a probe says so.";
    const EXAMPLE: &'static str = "{ type: judge_check, judge: { type: judge, judge: strict } }";
    const BINARY: bool = false;
    const SCORER_PARAMETERS: &'static [&'static str] = &["judge", "pair"];

    fn build(self) -> Result<CheckedJudge, ScorerConfigError> {
        let entries = [("judge".to_owned(), &self.judge)];
        let pair = self.pair.iter().map(|pair| ("pair".to_owned(), pair));
        let children = Children::build(entries.into_iter().chain(pair))?;
        let is_binary = children.iter().next().is_some_and(|judge| judge.binary);
        Ok(CheckedJudge { children, is_binary })
    }
}

/// What the case's probe wants.
struct Wanted {
    child: usize,
    round: u32,
    is_base: bool,
}

impl Wanted {
    fn of(case: &TestCase) -> Self {
        let said = case.fields.get(FIELD);
        let kind = said.and_then(|probe| probe.pointer("/probe/kind")).and_then(Value::as_str);
        let round = said.and_then(|probe| probe.get("round")).and_then(Value::as_u64);
        Self {
            child: usize::from(kind == Some("compared")),
            round: round.and_then(|round| u32::try_from(round).ok()).unwrap_or_default(),
            is_base: matches!(kind, None | Some("base")),
        }
    }
}

#[async_trait]
impl BatchScorer for CheckedJudge {
    fn is_binary(&self) -> bool {
        self.is_binary
    }

    fn children(&self) -> Option<&Children> {
        Some(&self.children)
    }

    async fn score_items(&self, items: &[Item<'_>]) -> Vec<Score> {
        join_all(items.iter().map(|item| self.score_one(item))).await
    }
}

impl CheckedJudge {
    async fn score_one(&self, item: &Item<'_>) -> Score {
        let wanted = Wanted::of(item.case);
        let item = Item { round: wanted.round, ..*item };
        let mut scores = self.children.scores_of(&[item], |index| index == wanted.child).await;
        let score = scores.pop().into_iter().flatten().flatten().next();
        let mut score = score.unwrap_or_else(|| {
            let missing = Score::unscored(fullbench_types::UnscoredReason::ScorerError);
            missing.because("the check has no judge of pairs")
        });
        // What a judge says of a probe is no judgement of a document, and must not count among them.
        if let Some(judgement) = score.judgement.as_mut().filter(|_| !wanted.is_base) {
            judgement.judge = None;
            judgement.criterion = FIELD.to_owned();
        }
        score
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use fullbench_types::Generation;
    use serde_json::{Map, json};

    use super::*;
    use crate::scorers::fixture::{refused, scorer};

    fn case(probe: Value) -> TestCase {
        let fields = Map::from_iter([
            ("judge_check".to_owned(), probe),
            ("other".to_owned(), json!("the other answer")),
        ]);
        TestCase { index: 0, key: "a".into(), input: json!("q"), references: Vec::new(), fields }
    }

    #[test]
    fn a_probe_chooses_who_is_asked_and_is_no_judgement_of_a_document() {
        let judge = json!({"type": "g_eval", "criterion": "clarity", "steps": ["read"],
            "replies": [{"id": "a", "replies": ["5"]}]});
        let won = "{\"reasoning\": \"better\", \"winner\": \"A\"}";
        let pair = json!({"type": "pairwise", "against": "other",
            "judge": {"criterion": "clarity", "replies": [{"id": "a", "replies": [won, won]}]}});
        let check = scorer(json!({"type": "judge_check", "judge": judge, "pair": pair}));
        let generation = Generation::recorded("an answer".to_owned());
        for (probe, value, criterion) in [
            (json!({"probe": {"kind": "base"}, "round": 0}), 1.0, "clarity"),
            (json!({"probe": {"kind": "padded"}}), 1.0, "judge_check"),
            (json!({"probe": {"kind": "compared"}}), 0.5, "judge_check"),
        ] {
            let case = case(probe.clone());
            let items = [Item::new(&case, &generation)];
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let score = runtime.block_on(check.scorer.score(&items)).remove(0);
            assert_eq!(score.value, Some(value), "{probe}: {score:?}");
            assert_eq!(score.judgement.unwrap().criterion, criterion);
        }
        let error = refused(json!({"type": "judge_check", "judge": {"type": "qqq"}}));
        assert_eq!(error.field.as_deref(), Some("judge"));
    }
}
