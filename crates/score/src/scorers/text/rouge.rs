//! `rouge_1`, `rouge_2`, `rouge_l` and `rouge_lsum`, as google's `rouge_score` has them.

use fullbench_text::{Rouge, RougeKind, RougeOptions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Comparison, Graded, Measured, refused};
use crate::registry::ScorerConfigError;
use crate::scorers::Parameters;

/// Which number of a ROUGE counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Measure {
    /// The harmonic mean of precision and recall.
    #[default]
    F1,
    /// The share of the output that is in the reference.
    Precision,
    /// The share of the reference that is in the output.
    Recall,
}

/// A ROUGE and the number of it that counts.
pub(crate) struct MeasuredRouge {
    rouge: Rouge,
    measure: Measure,
}

impl MeasuredRouge {
    fn graded(
        kind: RougeKind,
        stemmer: bool,
        measure: Measure,
        threshold: Option<f64>,
    ) -> Result<Graded<Self>, ScorerConfigError> {
        let rouge = Rouge::new(RougeOptions { kind, stemmer }).map_err(|error| refused(&error))?;
        Graded::new(Self { rouge, measure }, threshold)
    }
}

impl Comparison for MeasuredRouge {
    fn compare(&self, output: &str, references: &[&str]) -> Measured {
        let score = self.rouge.score(output, references);
        Measured::share(match self.measure {
            Measure::F1 => score.f_measure,
            Measure::Precision => score.precision,
            Measure::Recall => score.recall,
        })
    }
}

/// Each kind of ROUGE is a scorer of its own, since evaluation files name it so.
macro_rules! rouge {
    ($name:ident, $word:literal, $kind:expr, $summary:literal) => {
        #[doc = concat!("Parameters of `", $word, "`.")]
        #[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub(crate) struct $name {
            /// Compare the stems of English words: `running` matches `runs`.
            stemmer: bool,
            /// The number that counts: `f1`, `precision` or `recall`.
            measure: Measure,
            /// Passed when the number is at least this much.
            #[schemars(range(min = 0.0, max = 1.0))]
            threshold: Option<f64>,
        }

        impl Parameters for $name {
            type Scorer = Graded<MeasuredRouge>;

            const KIND: &'static str = $word;
            const SUMMARY: &'static str = $summary;
            const EXAMPLE: &'static str = concat!("{ type: ", $word, ", stemmer: true }");
            const NEEDS_REFERENCE: bool = true;
            const BINARY: bool = false;

            fn build(self) -> Result<Self::Scorer, ScorerConfigError> {
                MeasuredRouge::graded($kind, self.stemmer, self.measure, self.threshold)
            }
        }
    };
}

rouge!(
    Rouge1,
    "rouge_1",
    RougeKind::N(1),
    "ROUGE-1 as google's rouge_score computes it: words in common with the reference."
);
rouge!(
    Rouge2,
    "rouge_2",
    RougeKind::N(2),
    "ROUGE-2 as google's rouge_score computes it: pairs of words in common with the reference."
);
rouge!(
    RougeL,
    "rouge_l",
    RougeKind::L,
    "ROUGE-L as google's rouge_score computes it: the longest common subsequence of words."
);
rouge!(
    RougeLsum,
    "rouge_lsum",
    RougeKind::Lsum,
    "ROUGE-Lsum as google's rouge_score computes it: ROUGE-L line by line, for summaries."
);

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use crate::scorers::fixture::{score, scorer};

    #[test]
    fn the_kinds_count_what_they_say() {
        let value = |kind: &str| {
            score(&scorer(json!(kind)), "the cat sat", json!("the cat ran away")).value.unwrap()
        };
        assert!((value("rouge_1") - 4.0 / 7.0).abs() < 1e-12);
        assert!((value("rouge_2") - 2.0 / 5.0).abs() < 1e-12);
        assert!((value("rouge_l") - 4.0 / 7.0).abs() < 1e-12);
        let recall = scorer(json!({"type": "rouge_1", "measure": "recall"}));
        assert_eq!(score(&recall, "the cat sat", json!("the cat ran away")).value, Some(0.5));
    }

    #[test]
    fn the_best_reference_counts_and_stems_match_when_asked() {
        let plain = scorer(json!("rouge_l"));
        assert_eq!(score(&plain, "a b", json!(["x y", "a b"])).value, Some(1.0));
        assert_eq!(score(&plain, "running", json!("runs")).value, Some(0.0));
        let stemmed = scorer(json!({"type": "rouge_l", "stemmer": true}));
        assert_eq!(score(&stemmed, "running", json!("runs")).value, Some(1.0));
    }
}
