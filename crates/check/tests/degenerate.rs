//! Little or strange input: no panic, a reason for everything, and no number that is none.
#![allow(clippy::unwrap_used)]

mod support;

use fullbench_analysis::Report;
use fullbench_check::{
    Card, CardOptions, Example, Judged, Observed, ProbeOptions, Rating, Section, State, card,
    probes,
};
use fullbench_types::UnscoredReason;
use proptest::prelude::*;
use serde_json::Value;
use support::{examples, honest, judged, options, pairs, scored};

/// Every number is one, and every section that was not measured says why.
#[track_caller]
fn check(card: &Card) -> Value {
    let json = serde_json::to_value(card).unwrap();
    no_nulls(&json, "card");
    for finding in &card.findings {
        assert!(finding.sentence.len() > 10 && finding.sentence.ends_with('.'), "{finding:?}");
        if finding.state == State::NotMeasured {
            assert!(finding.sentence.starts_with("Not measured: "), "{finding:?}");
        } else {
            assert!(finding.estimate.value().is_some(), "{finding:?}");
        }
    }
    for grid in card.grids() {
        for row in &grid.rows {
            assert_eq!(row.len(), grid.header.len());
            assert!(
                row.iter().all(|cell| !cell.contains("NaN") && !cell.contains("inf")),
                "{row:?}"
            );
        }
    }
    let conclusion = card.conclusion();
    let said = conclusion.meaning.iter().chain(&conclusion.firmer);
    assert!(said.clone().all(|line| !line.contains("NaN")));
    assert!(said.count() >= 2);
    json
}

/// serde_json writes NaN and infinity as null: only what may be absent is.
fn no_nulls(value: &Value, path: &str) {
    const MAY_BE_ABSENT: [&str; 13] = [
        "levels",
        "mark",
        "correct",
        "family",
        "corrected",
        "panel",
        "system",
        "reason",
        "clusters",
        "limit_error",
        "other",
        "with",
        "members",
    ];
    match value {
        Value::Null => {
            let name = path.rsplit('.').next().unwrap();
            assert!(MAY_BE_ABSENT.contains(&name), "{path} is null");
        }
        Value::Array(values) => values.iter().for_each(|value| no_nulls(value, path)),
        Value::Object(map) => {
            map.iter().for_each(|(name, value)| no_nulls(value, &format!("{path}.{name}")));
        }
        _ => {}
    }
}

fn states(card: &Card) -> Vec<State> {
    card.findings.iter().map(|finding| finding.state).collect()
}

#[test]
fn nothing_at_all() {
    let card = card(&[], &[], &[], &CardOptions::default());
    check(&card);
    assert!(states(&card).iter().all(|state| *state == State::NotMeasured));
    assert!(card.conclusion.meaning[0].contains("not known"));
    assert!(probes(&[], Judged::Single, &ProbeOptions::default()).is_empty());
    assert!(probes(&[], Judged::Pairs, &ProbeOptions::default()).is_empty());
}

#[test]
fn no_labels_and_one_label() {
    let mut examples = examples();
    let label = std::mem::take(&mut examples[0].ratings);
    examples.iter_mut().for_each(|example| example.ratings.clear());
    let wanted = CardOptions { correct: Some(0.05), ..options() };
    let card = scored(&examples, &wanted, |_, _| 0.7);
    check(&card);
    assert_eq!(card.finding(Section::Agreement).unwrap().state, State::NotMeasured);
    assert_eq!(card.finding(Section::Retest).unwrap().state, State::Good);
    assert!(card.attacks.injected.succeeded.reason().unwrap().contains("human labels"));
    examples[0].ratings = label;
    let card = scored(&examples, &wanted, |_, _| 0.7);
    check(&card);
    assert_ne!(card.finding(Section::Agreement).unwrap().state, State::Good);
    assert!(card.conclusion.firmer[0].contains("a score: 1."));
}

#[test]
fn people_and_judge_that_never_vary() {
    let mut examples = examples();
    for example in &mut examples {
        example.ratings.iter_mut().for_each(|rating| rating.value = 1.0);
    }
    let wanted = CardOptions { correct: Some(0.05), ..options() };
    let card = scored(&examples, &wanted, |_, _| 1.0);
    check(&card);
    // Always the same says nothing about agreement.
    assert_eq!(card.finding(Section::Agreement).unwrap().state, State::NotMeasured);
    assert!(card.finding(Section::Agreement).unwrap().sentence.contains("no variation"));
}

#[test]
fn everything_unscored() {
    for examples in [examples(), pairs()] {
        let card = judged(&examples, &options(), |_, _| Observed {
            unscored: Some(UnscoredReason::ProviderError),
            ..Observed::default()
        });
        check(&card);
        assert_eq!(card.finding(Section::Replies).unwrap().state, State::Poor);
        let others = card.findings.iter().filter(|finding| finding.section != Section::Replies);
        assert!(others.clone().all(|finding| finding.state == State::NotMeasured));
    }
}

#[test]
fn nothing_observed() {
    let examples = examples();
    let cases = probes(&examples, Judged::Single, &ProbeOptions::default());
    let card = card(&examples, &cases, &[], &options());
    check(&card);
    assert_eq!(card.replies.not_run, cases.len());
    assert!(states(&card).iter().all(|state| *state == State::NotMeasured));
}

#[test]
fn a_single_example_says_little() {
    let one = &examples()[..1];
    let card = scored(one, &options(), |_, case| honest(one, case));
    check(&card);
    assert!(!states(&card)[..6].contains(&State::Good), "{:?}", states(&card));
}

#[test]
fn empty_answers_and_other_scripts() {
    let outputs = [
        "",
        " \n",
        "巴黎是首都。它很大。",
        "Столица — Париж. Он большой.",
        "عاصمة فرنسا. إنها باريس؟",
        "🙂",
    ];
    let examples: Vec<Example> = (0..60)
        .map(|index| Example {
            id: format!("例 {index}"),
            input: "首都?".to_owned(),
            output: outputs[index % outputs.len()].to_owned(),
            ratings: vec![Rating { annotator: "é".to_owned(), value: (index % 5) as f64 / 4.0 }],
            ..Example::default()
        })
        .collect();
    let card = scored(&examples, &options(), |_, case| honest(&examples, case));
    check(&card);
    // All answer the same question: one group.
    assert_eq!(card.finding(Section::Agreement).unwrap().state, State::Good);
    let paired = probes(&examples, Judged::Pairs, &ProbeOptions::default());
    assert!(paired.iter().all(|case| case.with.is_some()));
}

#[test]
fn values_that_are_none_are_left_out_and_counted() {
    let mut examples = examples();
    examples[0].ratings[0].value = f64::NAN;
    examples[1].ratings[0].value = 7.0;
    let card = judged(&examples, &options(), |index, case| Observed {
        value: Some(match index {
            2 => f64::NAN,
            3 => f64::INFINITY,
            4 => -0.5,
            _ => honest(&examples, case),
        }),
        seconds: Some(if index == 0 { f64::NAN } else { 1.0 }),
        ..Observed::default()
    });
    check(&card);
    assert_eq!((card.replies.unusable_values, card.unusable_ratings), (3, 2));
}

#[test]
fn strange_options_and_observations() {
    let examples = examples();
    let cases = probes(&examples, Judged::Single, &ProbeOptions::default());
    let all = |value: f64| -> Vec<Observed> {
        let twice = (0..cases.len()).chain(0..cases.len()).chain([usize::MAX, cases.len()]);
        twice
            .map(|case| Observed {
                case,
                value: Some(value),
                unusable_replies: 9,
                ..Default::default()
            })
            .collect()
    };
    for (levels, mark, confidence, rounds, correct) in [
        (Some(0), Some(2.0), 0.95, 0, Some(-1.0)),
        (Some(u32::MAX), Some(0.0), 0.95, 100, Some(0.0)),
        (Some(1), Some(1.0), 0.5, 200, Some(f64::MAX)),
        (Some(101), None, 0.999, 200, Some(1e-9)),
    ] {
        let options =
            CardOptions { levels, mark, confidence, rounds, correct, ..CardOptions::default() };
        check(&card(&examples, &cases, &all(0.5), &options));
    }
    for confidence in [0.0, 1.0, -3.0] {
        let options = CardOptions { confidence, ..options() };
        check(&card(&examples, &cases, &all(0.5), &options));
    }
}

#[test]
fn probes_have_names_of_their_own_and_come_out_the_same() {
    let mut examples = examples();
    examples[1].id = "q0".to_owned();
    let plan =
        |seed| probes(&examples, Judged::Single, &ProbeOptions { seed, ..Default::default() });
    let cases = plan(1);
    let names: std::collections::BTreeSet<&str> = cases.iter().map(|case| &case.id[..]).collect();
    assert_eq!(names.len(), cases.len());
    assert!(names.contains("q0·base") && names.contains("q0·base·copy·2"));
    assert_eq!(cases, plan(1));
    assert_ne!(cases, plan(2));
    let retests = cases.iter().filter(|case| case.round > 0).count();
    assert_eq!(retests, 60);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn any_scores_give_a_card(
        values in proptest::collection::vec(proptest::option::weighted(0.9, 0.0_f64..=1.0), 1..400),
        ratings in proptest::collection::vec(0.0_f64..=1.0, 0..40),
        count in 1_usize..40,
        levels in proptest::option::of(0_u32..12),
        mark in proptest::option::of(0.0_f64..=1.0),
        in_pairs in any::<bool>(),
    ) {
        let base = if in_pairs { pairs() } else { examples() };
        let mut examples = base[..count].to_vec();
        for (index, example) in examples.iter_mut().enumerate() {
            example.ratings.clear();
            if let Some(value) = ratings.get(index) {
                example.ratings.push(Rating { annotator: "a".to_owned(), value: *value });
            }
            example.group = (index % 3 == 0).then(|| format!("group {}", index % 2));
        }
        let options = CardOptions { levels, mark, correct: Some(0.1), rounds: 120, ..options() };
        let card = judged(&examples, &options, |index, _| Observed {
            value: values[index % values.len()],
            is_flipped: in_pairs.then_some(index % 4 == 0),
            ..Observed::default()
        });
        check(&card);
    }
}
