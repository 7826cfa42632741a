//! What a scorecard says: a score for each criterion, a weighted overall score, and feedback.

use fullbench_types::{Outcome, Score, UnscoredReason};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::feedback::{Feedback, feedback};

/// The overall score goes from 0 to this.
pub(super) const FULL: f64 = 100.0;

/// The scores of one output on several criteria.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scorecard {
    /// The weighted mean over the criteria that are scored, from 0 to 100; none where none is.
    pub overall: Option<f64>,
    /// Each criterion.
    pub criteria: Vec<CriterionScore>,
    /// What it means in words.
    pub feedback: Feedback,
    /// The mean confidence of the criteria whose scorer measures one; none where none does.
    pub confidence: Option<f64>,
}

/// The score of one criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CriterionScore {
    /// The criterion's name.
    pub name: String,
    /// From 0 to `max_score`; none where it is not scored.
    pub score: Option<f64>,
    /// The best there is.
    pub max_score: f64,
    /// How much it counts beside the others.
    pub weight: f64,
    /// Where the bands begin, in percent.
    pub bands: Bands,
    /// The band the score is in.
    pub band: Option<Band>,
    /// Why, in a sentence.
    pub feedback: String,
    /// What the score rests on.
    pub evidence: Vec<Evidence>,
    /// How sure its scorer is, from 0 to 1; none unless measured.
    pub confidence: Option<f64>,
    /// Why there is no score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unscored: Option<UnscoredReason>,
    /// What the machine would give where a person decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggested: Option<f64>,
    /// Who scored it, where it was a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviewer: Option<String>,
}

/// Where the bands begin, in percent of the best score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bands {
    /// Excellent from here on.
    pub excellent: f64,
    /// Good from here on.
    pub good: f64,
    /// Satisfactory from here on.
    pub satisfactory: f64,
}

impl Default for Bands {
    fn default() -> Self {
        Self { excellent: 90.0, good: 80.0, satisfactory: 70.0 }
    }
}

/// How good a score is, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Band {
    /// At or above the highest mark.
    Excellent,
    /// At or above the second.
    Good,
    /// At or above the third.
    Satisfactory,
    /// Below all.
    Unsatisfactory,
}

impl Bands {
    /// The band of a percentage.
    #[must_use]
    pub fn of(self, percent: f64) -> Band {
        match percent {
            _ if percent >= self.excellent => Band::Excellent,
            _ if percent >= self.good => Band::Good,
            _ if percent >= self.satisfactory => Band::Satisfactory,
            _ => Band::Unsatisfactory,
        }
    }
}

/// Something that a score rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// What kind of evidence it is.
    #[serde(rename = "type")]
    pub kind: EvidenceType,
    /// The evidence in words.
    pub content: String,
    /// How much it bears on the score, from 0 to 1; none unless measured.
    pub relevance: Option<f64>,
    /// What found it.
    pub source: String,
}

/// Kinds of evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceType {
    /// Texts that match, or do not.
    TextMatch,
    /// Nearness in meaning.
    SemanticSimilarity,
    /// The structure of the output.
    StructuralMatch,
    /// The form the output was to have.
    FormatCompliance,
    /// A rule, a function, a judge or a person.
    CustomRule,
}

impl Scorecard {
    /// The card of these criteria, with everything that follows from them.
    #[must_use]
    pub fn new(criteria: Vec<CriterionScore>) -> Self {
        let scored = criteria.iter().filter_map(|criterion| {
            let share = criterion.score? / criterion.max_score;
            (criterion.weight > 0.0).then_some((share, criterion.weight))
        });
        let (sum, weights) = scored.fold((0.0, 0.0), |(sum, weights), (share, weight)| {
            (sum + share * weight, weights + weight)
        });
        let overall = (weights > 0.0).then(|| FULL * sum / weights);
        let measured: Vec<f64> = criteria.iter().filter_map(|one| one.confidence).collect();
        let confidence =
            (!measured.is_empty()).then(|| measured.iter().sum::<f64>() / measured.len() as f64);
        let feedback = feedback(&criteria, overall);
        Self { overall, criteria, feedback, confidence }
    }

    /// Takes a person's score of a criterion.
    ///
    /// # Errors
    /// When there is no such criterion, or the score is not between 0 and its best.
    pub fn review(
        mut self,
        criterion: &str,
        score: f64,
        reviewer: &str,
        note: Option<&str>,
    ) -> Result<Self, String> {
        let names: Vec<String> = self.criteria.iter().map(|one| one.name.clone()).collect();
        let Some(one) = self.criteria.iter_mut().find(|one| one.name == criterion) else {
            return Err(format!(
                "there is no criterion `{criterion}`; there are {}",
                names.join(", ")
            ));
        };
        if !(0.0..=one.max_score).contains(&score) {
            return Err(format!("a score of `{criterion}` is from 0 to {}", one.max_score));
        }
        one.suggested = one.suggested.or(one.score);
        one.score = Some(score);
        one.band = Some(one.bands.of(FULL * score / one.max_score));
        one.unscored = None;
        one.confidence = None;
        one.reviewer = Some(reviewer.to_owned());
        one.feedback = note.map_or_else(|| format!("Scored by {reviewer}"), str::to_owned);
        Ok(Self::new(self.criteria))
    }

    /// Makes sure that every number is in its range.
    ///
    /// # Errors
    /// Says which is not.
    pub fn validate(&self) -> Result<(), String> {
        let within = |what: &str, value: Option<f64>, most: f64| match value {
            Some(value) if !(0.0..=most).contains(&value) => {
                Err(format!("{what} must be between 0 and {most}, and is {value}"))
            }
            _ => Ok(()),
        };
        within("the overall score", self.overall, FULL)?;
        within("the confidence", self.confidence, 1.0)?;
        for criterion in &self.criteria {
            let name = &criterion.name;
            if !(criterion.max_score > 0.0 && criterion.max_score.is_finite()) {
                return Err(format!("the best score of `{name}` must be above 0"));
            }
            if !(criterion.weight >= 0.0 && criterion.weight.is_finite()) {
                return Err(format!("the weight of `{name}` must not be below 0"));
            }
            within(&format!("the score of `{name}`"), criterion.score, criterion.max_score)?;
            within(&format!("the confidence of `{name}`"), criterion.confidence, 1.0)?;
        }
        Ok(())
    }

    /// The card as a score: its overall score, and the card as its evidence.
    #[must_use]
    pub fn into_score(self, threshold: Option<f64>) -> Score {
        if let Err(message) = self.validate() {
            return Score::unscored(UnscoredReason::ScorerError).because(message);
        }
        let score = match self.overall {
            Some(overall) => Score::graded(overall, overall / FULL, threshold),
            None => Score::unscored(self.reason()),
        };
        Score {
            reasoning: Some(self.feedback.explanation.clone()),
            confidence: self.confidence.filter(|_| !matches!(score.outcome, Outcome::Unscored(_))),
            evidence: serde_json::to_value(self).ok(),
            ..score
        }
    }

    /// Why there is no overall score: a person is waited for, or what the first criterion says.
    fn reason(&self) -> UnscoredReason {
        let mut reasons = self.criteria.iter().filter_map(|criterion| criterion.unscored);
        let first = reasons.clone().next().unwrap_or(UnscoredReason::ScorerError);
        reasons.find(|reason| *reason == UnscoredReason::PendingHuman).unwrap_or(first)
    }
}
