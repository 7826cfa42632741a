//! `token_f1` and `squad_exact_match` as in SQuAD, and plain comparisons by words and characters.

use fullbench_text::{bag, edit, squad};
use fullbench_types::Score;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::expectation::{expected, listed, missing_reference};
use super::{Comparison, Graded, Measured};
use crate::registry::ScorerConfigError;
use crate::scorer::Item;
use crate::scorers::{ItemScorer, Parameters};

/// The largest of a number over all references.
fn best(references: &[&str], of: impl Fn(&str) -> f64) -> Measured {
    Measured::share(references.iter().map(|reference| of(reference)).fold(0.0, f64::max))
}

/// A comparison without options besides a threshold.
macro_rules! comparison {
    ($name:ident, $word:literal, $summary:literal, $compare:expr) => {
        #[doc = concat!("Parameters of `", $word, "`.")]
        #[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub(crate) struct $name {
            /// Passed when the value is at least this much.
            #[schemars(range(min = 0.0, max = 1.0))]
            threshold: Option<f64>,
        }

        impl Parameters for $name {
            type Scorer = Graded<Self>;

            const KIND: &'static str = $word;
            const SUMMARY: &'static str = $summary;
            const EXAMPLE: &'static str = concat!("{ type: ", $word, ", threshold: 0.5 }");
            const NEEDS_REFERENCE: bool = true;
            const BINARY: bool = false;

            fn build(self) -> Result<Self::Scorer, ScorerConfigError> {
                let threshold = self.threshold;
                Graded::new(self, threshold)
            }
        }

        impl Comparison for $name {
            fn compare(&self, output: &str, references: &[&str]) -> Measured {
                let compare: fn(&str, &[&str]) -> Measured = $compare;
                compare(output, references)
            }
        }
    };
}

comparison!(
    TokenF1,
    "token_f1",
    "F1 of words as SQuAD computes it: without case, punctuation and articles.",
    |output, references| Measured::share(squad::token_f1(output, references))
);
comparison!(
    Jaccard,
    "jaccard",
    "Words in common over all words of both, each counted once.",
    |output, references| best(references, |reference| bag::jaccard(output, reference))
);
comparison!(
    BagCosine,
    "bag_cosine",
    "Cosine of the word counts of output and reference.",
    |output, references| best(references, |reference| bag::cosine(output, reference))
);
comparison!(
    EditSimilarity,
    "edit_similarity",
    "One minus the Levenshtein distance over the longer length, in characters.",
    |output, references| {
        let distances = references.iter().map(|reference| edit::levenshtein(output, reference));
        let detail =
            distances.min().map(|distance| format!("{distance} edits to the nearest reference"));
        Measured {
            detail,
            ..best(references, |reference| edit::edit_similarity(output, reference))
        }
    }
);

/// Parameters of `squad_exact_match`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SquadExactMatch {}

impl Parameters for SquadExactMatch {
    type Scorer = Self;

    const KIND: &'static str = "squad_exact_match";
    const SUMMARY: &'static str = "Passes when output and a reference are equal as in SQuAD: without case, punctuation and articles.";
    const EXAMPLE: &'static str = "squad_exact_match";
    const NEEDS_REFERENCE: bool = true;

    fn build(self) -> Result<Self, ScorerConfigError> {
        Ok(self)
    }
}

impl ItemScorer for SquadExactMatch {
    fn score_item(&self, item: &Item<'_>) -> Score {
        let Some(values) = expected(None, item) else { return missing_reference() };
        let known = values.iter().filter(|value| !value.is_null());
        let texts: Vec<_> = known.map(|value| fullbench_types::text_of(value)).collect();
        let references: Vec<&str> = texts.iter().map(|text| text.as_ref()).collect();
        let passed = squad::exact_match(&item.generation.text, &references);
        let score = Score::binary(passed);
        if passed { score } else { score.because(format!("expected {}", listed(values))) }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use fullbench_types::{Outcome, UnscoredReason};
    use serde_json::json;

    use crate::scorers::fixture::{score, scorer};

    const KINDS: [&str; 5] =
        ["token_f1", "jaccard", "bag_cosine", "edit_similarity", "squad_exact_match"];

    #[test]
    fn equal_texts_are_perfect_and_without_a_reference_there_is_no_score() {
        for kind in KINDS {
            let scorer = scorer(json!(kind));
            assert!(
                (score(&scorer, "a cat", json!(["x", "a cat"])).value.unwrap() - 1.0).abs() < 1e-12
            );
            let unscored = Outcome::Unscored(UnscoredReason::MissingReference);
            assert_eq!(score(&scorer, "a cat", json!([])).outcome, unscored, "{kind}");
        }
    }

    #[test]
    fn articles_and_punctuation_do_not_count_in_squad() {
        let exact = scorer(json!("squad_exact_match"));
        assert_eq!(score(&exact, "The Cat!", json!("cat")).outcome, Outcome::Passed);
        let f1 = scorer(json!("token_f1"));
        assert_eq!(score(&f1, "the black cat", json!("a cat")).value, Some(2.0 / 3.0));
    }

    #[test]
    fn the_distance_is_told() {
        let similarity = score(&scorer(json!("edit_similarity")), "kitten", json!("sitting"));
        assert!((similarity.value.unwrap() - 4.0 / 7.0).abs() < 1e-12);
        assert_eq!(similarity.reasoning.unwrap(), "3 edits to the nearest reference");
    }
}
