//! Panels against made-up replies.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use fullbench_judge::{Combine, Method, Panel, PanelConfig};
use fullbench_types::{NanoDollars, Outcome, UnscoredReason};
use support::{SUBJECT, Stub, config, rated};

fn panel(combine: Combine, weights: &[f64]) -> PanelConfig {
    let mut judges = vec![config(Method::GEval, "clarity"); 3];
    for (judge, name) in judges.iter_mut().zip(["one", "two", "three"]) {
        judge.name = Some(name.to_owned());
        judge.threshold = Some(0.5);
    }
    PanelConfig { name: None, judges, combine, weights: weights.to_vec(), threshold: None }
}

fn scores(numbers: [&'static str; 3]) -> Stub {
    Stub::text(move |asked| rated(numbers[asked.request]))
}

#[tokio::test]
async fn members_become_one_score() {
    // Values 0, 0.75 and 1.
    for (combine, weights, value) in [
        (Combine::Mean, &[][..], 1.75 / 3.0),
        (Combine::Median, &[][..], 0.75),
        (Combine::Majority, &[][..], 1.0),
        (Combine::Weighted, &[2.0, 1.0, 1.0][..], 1.75 / 4.0),
    ] {
        let panel = Panel::new(panel(combine, weights)).unwrap();
        assert_eq!(panel.models().len(), 3);
        let score = panel.judge(&scores(["1", "4", "5"]), &SUBJECT).await;
        assert!((score.value.unwrap() - value).abs() < 1e-12, "{combine:?}: {score:?}");
        let mean: f64 = 1.75 / 3.0;
        let variance = (mean.powi(2) + (0.75 - mean).powi(2) + (1.0 - mean).powi(2)) / 3.0;
        assert!((score.confidence.unwrap() - (1.0 - variance.sqrt() / 0.5)).abs() < 1e-12);
        assert_eq!(score.cost, Some(NanoDollars(1_500)));
        let judgement = score.judgement.unwrap();
        let parts: Vec<_> =
            judgement.replies.iter().map(|reply| reply.part.clone().unwrap()).collect();
        assert_eq!(parts, ["one", "two", "three"]);
        assert_eq!(score.evidence.unwrap()["members"][1]["value"], 0.75);
    }
}

#[tokio::test]
async fn a_member_without_a_judgement_is_left_out_and_named_unless_too_many_are() {
    let panel = Panel::new(panel(Combine::Mean, &[])).unwrap();
    let score = panel.judge(&scores(["1", "?", "5"]), &SUBJECT).await;
    assert_eq!(score.value, Some(0.5));
    assert!(score.reasoning.unwrap().contains("1 of 3 left out"));
    let score = panel.judge(&scores(["1", "?", "?"]), &SUBJECT).await;
    assert_eq!(score.outcome.reason(), Some(UnscoredReason::UnparseableJudgement));
}

#[tokio::test]
async fn an_even_majority_is_left_to_a_person() {
    let panel = Panel::new(panel(Combine::Majority, &[])).unwrap();
    let score = panel.judge(&scores(["1", "?", "5"]), &SUBJECT).await;
    assert_eq!(score.outcome, Outcome::Unscored(UnscoredReason::PendingHuman));
    assert_eq!(score.value, None);
}

#[test]
fn settings_that_cannot_be_name_their_field() {
    let refused = |config: PanelConfig| Panel::new(config).err().unwrap().field().unwrap();
    let mut alone = panel(Combine::Mean, &[]);
    alone.judges.truncate(1);
    assert_eq!(refused(alone), "judges");
    assert_eq!(refused(panel(Combine::Mean, &[1.0, 1.0, 1.0])), "weights");
    assert_eq!(refused(panel(Combine::Weighted, &[1.0])), "weights");
    assert_eq!(refused(panel(Combine::Weighted, &[1.0, -1.0, 1.0])), "weights");
    let mut undecided = panel(Combine::Majority, &[]);
    undecided.judges[1].threshold = None;
    assert_eq!(refused(undecided), "judges[1].threshold");
}
