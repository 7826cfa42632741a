//! Scores that people give.

use fullbench_types::{Score, UnscoredReason};
use serde_json::json;

use crate::registry::ScorerConfig;
use crate::scorers::{HumanReview, Scorecard, ScorecardParameters};

/// What a person says of an output.
#[derive(Debug, Clone, Copy)]
pub struct HumanScore<'text> {
    /// The criterion of a scorecard it is about.
    pub criterion: Option<&'text str>,
    /// Points on the scorer's or the criterion's scale.
    pub points: f64,
    /// Who says so.
    pub reviewer: &'text str,
    /// Why.
    pub note: Option<&'text str>,
}

/// What a score waits for: `None` in the list is the score as a whole, a name one criterion of a scorecard.
#[must_use]
pub fn awaited(kind: &str, score: &Score) -> Vec<Option<String>> {
    if kind != "scorecard" {
        let waits = score.outcome.reason() == Some(UnscoredReason::PendingHuman);
        return if waits { vec![None] } else { Vec::new() };
    }
    let waiting = card(score).map(|card| card.criteria).unwrap_or_default();
    let waiting = waiting
        .into_iter()
        .filter(|criterion| criterion.unscored == Some(UnscoredReason::PendingHuman));
    waiting.map(|criterion| Some(criterion.name)).collect()
}

/// The score once a person has spoken: of a `human_review`, of a criterion of a `scorecard`, or where a judge was not sure.
///
/// # Errors
/// When the scorer takes no scores of people, there is no such criterion, or the points are not on the scale.
pub fn reviewed(
    config: &ScorerConfig,
    before: &Score,
    human: &HumanScore<'_>,
) -> Result<Score, String> {
    let parameters = serde_json::Value::Object(config.parameters.clone());
    let damaged = |error: serde_json::Error| format!("the stored scorer cannot be read: {error}");
    match config.kind.as_str() {
        "human_review" => {
            let scorer: HumanReview = serde_json::from_value(parameters).map_err(damaged)?;
            if human.criterion.is_some() {
                return Err("`human_review` has no criteria: leave the criterion out".to_owned());
            }
            scorer.reviewed(human)
        }
        "scorecard" => {
            let scorer: ScorecardParameters =
                serde_json::from_value(parameters).map_err(damaged)?;
            let card = card(before).ok_or("the scorecard was not filled in")?;
            let names: Vec<&str> = card.criteria.iter().map(|one| one.name.as_str()).collect();
            let names = names.join(", ");
            let criterion = human.criterion.ok_or(format!("name the criterion: {names}"))?;
            let card = card.review(criterion, human.points, human.reviewer, human.note)?;
            Ok(card.into_score(scorer.threshold()))
        }
        "binary" | "panel" | "ensemble" | "cascade" | "routed" => decided(before, human),
        kind => Err(format!(
            "`{kind}` takes no scores of people: human_review and scorecard do, and judges that were not sure"
        )),
    }
}

/// What a person decides where a judge was not sure: 0 to 1, and 0 and 1 are fail and pass.
fn decided(before: &Score, human: &HumanScore<'_>) -> Result<Score, String> {
    if before.outcome.reason() != Some(UnscoredReason::PendingHuman) {
        return Err("this output has a score, and waits for nobody".to_owned());
    }
    if !(0.0..=1.0).contains(&human.points) {
        return Err("a score is from 0 to 1: 0 fails and 1 passes".to_owned());
    }
    let score = match human.points {
        0.0 | 1.0 => Score::binary(human.points == 1.0),
        points => Score::graded(points, points, None),
    };
    let note = human.note.map_or_else(|| format!("scored by {}", human.reviewer), str::to_owned);
    // The way to it is still that of the output: numbers of the run rest on it.
    Ok(Score {
        evidence: Some(json!({ "reviewer": human.reviewer })),
        path: before.path.clone(),
        ..score.because(note)
    })
}

fn card(score: &Score) -> Option<Scorecard> {
    serde_json::from_value(score.evidence.clone()?).ok()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use fullbench_types::Outcome;

    fn say(points: f64, criterion: Option<&str>) -> HumanScore<'_> {
        HumanScore { criterion, points, reviewer: "ana", note: Some("well said") }
    }

    #[test]
    fn a_person_scores_on_the_scale_of_the_scorer() {
        let entry = json!({"type": "human_review", "max_score": 5, "threshold": 0.7});
        let config: ScorerConfig = serde_json::from_value(entry).unwrap();
        let waits = Score::unscored(UnscoredReason::PendingHuman);
        assert_eq!(awaited("human_review", &waits), [None]);
        let scored = reviewed(&config, &waits, &say(4.0, None)).unwrap();
        assert_eq!((scored.raw, scored.value), (Some(4.0), Some(0.8)));
        assert_eq!(scored.outcome, Outcome::Passed);
        assert_eq!(scored.reasoning.as_deref(), Some("well said"));
        assert!(awaited("human_review", &scored).is_empty());
        assert!(reviewed(&config, &waits, &say(6.0, None)).unwrap_err().contains("0 to 5"));
        assert!(reviewed(&config, &waits, &say(4.0, Some("tone"))).is_err());
        let other: ScorerConfig = serde_json::from_value(json!("exact_match")).unwrap();
        assert!(reviewed(&other, &waits, &say(1.0, None)).unwrap_err().contains("exact_match"));
    }

    #[test]
    fn a_person_decides_where_a_judge_was_not_sure() {
        let entry = json!({"type": "binary", "criterion": "safety", "model": "openai:gpt-4o-mini"});
        let config: ScorerConfig = serde_json::from_value(entry).unwrap();
        let unsure = Score::unscored(UnscoredReason::PendingHuman);
        assert_eq!(awaited("binary", &unsure), [None]);
        let decided = |points| reviewed(&config, &unsure, &say(points, None)).unwrap();
        assert_eq!(decided(1.0).outcome, Outcome::Passed);
        assert_eq!(decided(0.0).outcome, Outcome::Failed);
        assert_eq!((decided(0.5).outcome, decided(0.5).value), (Outcome::Scored, Some(0.5)));
        assert!(reviewed(&config, &unsure, &say(2.0, None)).unwrap_err().contains("0 to 1"));
        let sure = Score::binary(true);
        assert!(
            reviewed(&config, &sure, &say(0.0, None)).unwrap_err().contains("waits for nobody")
        );
    }
}
