//! The way an output took to its score, where not every output is judged by the same scorer.

use serde::{Deserialize, Serialize};

use crate::{NanoDollars, Outcome};

/// The way an output took to its score. Numbers of a run depend on it, so that it is kept beside the value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum ScorePath {
    /// Through the tiers of a cascade.
    Cascade(CascadePath),
    /// To one of two judges, by how complex it seemed.
    Route(RoutePath),
    /// From the judgement of an output that says the same.
    Similar(SimilarPath),
}

/// An output's way through a cascade.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CascadePath {
    /// Why it went no further.
    pub end: CascadeEnd,
    /// Why it could have ended, where it was drawn to go all the way nevertheless.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audited: Option<CascadeEnd>,
    /// A condition could not be decided, because a number or a field is missing, and counted as a doubt.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undecided: bool,
    /// The tiers that scored it, in their order.
    pub tiers: Vec<TierPath>,
}

/// Why an output went no further through a cascade.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CascadeEnd {
    /// The last tier judged it.
    Judged,
    /// It was not drawn for the next tier.
    NotDrawn,
    /// A condition says that it fails, whatever a judge would say.
    HardFail,
    /// A tier was as confident as asked for.
    Confident,
    /// A scorer could not be asked: it is asked for again when the run goes on.
    Open,
}

/// What one tier said of an output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TierPath {
    /// The chance it had of coming here, above 0 and up to 1: known from what the tiers before said, not estimated.
    pub probability: f64,
    /// Why it came.
    pub entry: TierEntry,
    /// How scoring ended; of several scorers the worst.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The value, of several scorers the lowest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// What it cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<NanoDollars>,
    /// What it would have cost without the response cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_cost: Option<NanoDollars>,
    /// The judged output that says the same, where the tier's judge has a semantic cache and found one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similar: Option<SimilarPath>,
}

/// Why an output came to a tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TierEntry {
    /// It was drawn, or everything comes here.
    Drawn,
    /// A condition sends every output like it.
    Escalated,
    /// It could have ended before, and was drawn to see what a judge says of those.
    Audited,
}

/// Which of two judges an output went to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoutePath {
    /// The judge that gave the value.
    pub route: Route,
    /// How complex the output seemed.
    pub complexity: f64,
    /// What the strong judge said of an output that went to the cheap one, where that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit: Option<Audit>,
    /// What the value cost without the response cache, the audit left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_cost: Option<NanoDollars>,
}

/// One of two judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Route {
    /// The cheap one.
    Cheap,
    /// The strong one.
    Strong,
}

impl Route {
    /// The word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cheap => "cheap",
            Self::Strong => "strong",
        }
    }
}

/// A second judgement, made to see what the first is worth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    /// The chance the output had of being looked at twice.
    pub probability: f64,
    /// How the second judgement ended.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// What it would have cost without the response cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_cost: Option<NanoDollars>,
}

/// A judged output that says the same as this one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SimilarPath {
    /// Cosine of the two outputs.
    pub similarity: f64,
    /// The score is the similar output's; otherwise the judge was asked all the same, to see what it says.
    pub taken: bool,
    /// What the similar output was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// What the judgement had cost that was not made again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved: Option<NanoDollars>,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::UnscoredReason;

    #[test]
    fn a_path_reads_back_from_its_json() {
        let tier = |outcome| TierPath {
            probability: 0.1,
            entry: TierEntry::Escalated,
            outcome,
            value: Some(0.5),
            cost: None,
            full_cost: Some(NanoDollars(3)),
            similar: None,
        };
        let unsure = Outcome::Unscored(UnscoredReason::PendingHuman);
        let tiers = vec![tier(Outcome::Passed), tier(unsure)];
        let path = ScorePath::Cascade(CascadePath {
            end: CascadeEnd::Judged,
            audited: None,
            undecided: false,
            tiers,
        });
        let json = serde_json::to_string(&path).unwrap();
        assert_eq!(serde_json::from_str::<ScorePath>(&json).unwrap(), path);
        assert!(
            json.contains("\"by\":\"cascade\"") && json.contains("\"reason\":\"pending_human\"")
        );
    }
}
