//! Simulated judges: each fault shows in its section, and only there.
#![allow(clippy::unwrap_used)]

mod support;

use fullbench_analysis::Report;
use fullbench_check::{Agreement, CardOptions, Observed, Probe, Section, State};
use fullbench_types::{NanoDollars, UnscoredReason};
use support::{chance, examples, honest, in_state, judged, options, pairs, scored};

/// The words of an answer, as any judge sees them.
fn words(text: &str) -> f64 {
    text.split_whitespace().count() as f64
}

#[test]
fn a_perfect_judge_is_good_throughout() {
    let examples = examples();
    let card = scored(&examples, &options(), |_, case| honest(&examples, case));
    assert_eq!(in_state(&card, State::Poor), [""; 0]);
    assert_eq!(in_state(&card, State::Watch), [""; 0]);
    assert_eq!(in_state(&card, State::NotMeasured), ["position"], "{:#?}", card.findings);
    assert!(
        card.conclusion.meaning[0]
            .starts_with("The judge `test` can stand in for people on correctness")
    );
    let Agreement::Single(found) = &card.agreement else { panic!("scores") };
    assert!(found.alpha_of_people.value().unwrap().value < 1.0);
    assert_eq!(found.labelled, 120);
    assert_eq!(card.points.len(), 120);
}

#[test]
fn a_noisy_judge_does_not_say_the_same_again() {
    let examples = examples();
    let noisy = |width: f64| {
        scored(&examples, &options(), |index, case| {
            honest(&examples, case) + width * (chance(index, 9) - 0.5)
        })
    };
    let card = noisy(0.5);
    assert_eq!(card.finding(Section::Retest).unwrap().state, State::Watch);
    assert_eq!(in_state(&card, State::Poor), [""; 0]);
    // The deviation of a uniform distribution, less what the ends of the scale cut off.
    let noise = card.retest.within_deviation.value().unwrap().value;
    assert!((0.09..0.1444).contains(&noise), "{noise}");
    let card = noisy(0.9);
    assert_eq!(in_state(&card, State::Poor), ["same again"], "{:#?}", card.findings);
}

#[test]
fn a_judge_that_likes_long_answers_is_seen_by_slope_and_by_padding() {
    let examples = examples();
    let card = scored(&examples, &options(), |_, case| {
        honest(&examples, case) * 0.7
            + if matches!(case.probe, Probe::Attack { .. }) {
                0.0
            } else {
                0.08 * (words(&case.output).log2() - 5.5) + 0.12
            }
    });
    assert_eq!(in_state(&card, State::Poor), ["verbosity"], "{:#?}", card.findings);
    let slope = card.verbosity.slope.value().unwrap();
    assert!(slope.bounds_contain(0.08), "{slope:?}");
    // About twice the words.
    let padded = card.verbosity.padded.mean.value().unwrap().value;
    assert!((0.05..0.1).contains(&padded), "{padded}");
}

trait Contains {
    fn bounds_contain(&self, value: f64) -> bool;
}

impl Contains for fullbench_check::Estimate {
    fn bounds_contain(&self, value: f64) -> bool {
        self.interval.value().is_some_and(|bounds| (bounds.low..=bounds.high).contains(&value))
    }
}

#[test]
fn a_judge_that_likes_its_own_family() {
    let examples = examples();
    let judge = |_: usize, case: &fullbench_check::ProbeCase| {
        let own = examples[case.example].system.as_deref() == Some("gpt-4o");
        let gift = if own && !matches!(case.probe, Probe::Attack { .. }) { 0.15 } else { 0.0 };
        honest(&examples, case) * 0.8 + gift
    };
    let card = scored(&examples, &options(), judge);
    assert_eq!(in_state(&card, State::Poor), ["self-preference"]);
    let found = &card.self_preference;
    assert_eq!((found.family, &found.own_systems[..]), (Some("gpt"), &["gpt-4o".to_owned()][..]));
    assert!(found.difference.value().unwrap().bounds_contain(0.15));
    // What the user says counts before the names.
    let told = CardOptions { own_systems: vec!["llama3".to_owned()], ..options() };
    let card = scored(&examples, &told, judge);
    assert_ne!(card.finding(Section::SelfPreference).unwrap().state, State::Good);
    assert_eq!(card.self_preference.own_systems, ["llama3"]);
    assert!(card.self_preference.difference.value().unwrap().value < 0.0);
}

#[test]
fn a_judge_that_always_says_yes() {
    let examples = examples();
    let card = scored(&examples, &options(), |_, _| 1.0);
    assert_eq!(in_state(&card, State::Poor), ["agreement with people", "attacks"]);
    assert_eq!(card.attacks.attacks.succeeded.value().unwrap().value, 1.0);
    assert_eq!(card.attacks.empty.scored, 2);
    assert_eq!(card.attacks.constant.scored, 1);
    // Nothing failed before the attack, so that nothing was gained by it.
    assert!(card.attacks.injected.succeeded.reason().unwrap().contains("failed without"));
    assert!(card.conclusion.meaning[0].contains("should not be used"));
}

#[test]
fn a_judge_that_falls_for_attacks() {
    let examples = examples();
    let card = scored(&examples, &options(), |_, case| match &case.probe {
        Probe::Attack { attack } if attack.contains("reply") || attack.contains('_') => 1.0,
        Probe::Injected { .. } => 1.0,
        _ => honest(&examples, case),
    });
    assert_eq!(in_state(&card, State::Poor), ["attacks"]);
    let injected = card.attacks.injected.succeeded.value().unwrap();
    assert_eq!((injected.n, injected.value), (24, 1.0));
    assert!(card.attacks.attacks.by.contains(&"json_reply".to_owned()));
    assert_eq!(card.attacks.constant.by, [""; 0]);
    assert!(card.conclusion.firmer.iter().any(|line| line.contains("fluency or safety")));
}

#[test]
fn a_judge_that_likes_lists() {
    let examples = examples();
    let card = scored(&examples, &options(), |_, case| {
        let gift = if case.output.starts_with("- ") { 0.2 } else { 0.0 };
        honest(&examples, case) * 0.8 + gift
    });
    assert_eq!(in_state(&card, State::Poor), ["formatting"]);
    let sentence = &card.finding(Section::Formatting).unwrap().sentence;
    assert!(sentence.contains("`bullets`"), "{sentence}");
    assert!(card.formatting.confidence_of_each > 0.98);
}

#[test]
fn a_judge_whose_replies_do_not_parse() {
    let examples = examples();
    let card = judged(&examples, &options(), |index, case| {
        let lost = chance(index, 12) < 0.3;
        Observed {
            value: (!lost).then(|| honest(&examples, case)),
            unscored: lost.then_some(UnscoredReason::UnparseableJudgement),
            replies: 3,
            unusable_replies: if lost { 3 } else { 0 },
            cost: Some(NanoDollars(2_000)),
            seconds: Some(0.5),
            input_tokens: 100,
            ..Observed::default()
        }
    });
    assert_eq!(in_state(&card, State::Poor), ["replies"]);
    let replies = &card.replies;
    let lost = replies.unscored.value().unwrap();
    assert!(lost.bounds_contain(0.3), "{lost:?}");
    assert_eq!(replies.unscored_by_reason.len(), 1);
    assert_eq!(replies.cost_of_each.value(), Some(&NanoDollars(2_000)));
    assert_eq!(replies.seconds_p95.value(), Some(&0.5));
}

#[test]
fn a_judge_of_pairs_that_goes_by_position() {
    let examples = pairs();
    let flips = |index: usize| chance(index, 20) < 0.3;
    let card = judged(&examples, &options(), |index, case| {
        let is_flipped = flips(index) && matches!(case.probe, Probe::Base);
        Observed {
            value: Some(if is_flipped { 0.5 } else { honest(&examples, case) }),
            is_flipped: Some(is_flipped),
            first_shown_preferred: is_flipped.then(|| chance(index, 21) < 0.9),
            ..Observed::default()
        }
    });
    assert_eq!(card.finding(Section::Position).unwrap().state, State::Poor);
    assert!(card.position.flipped.value().unwrap().bounds_contain(0.3));
    assert!(card.position.to_the_first.value().unwrap().value > 0.7);
    let perfect = scored(&examples, &options(), |_, case| honest(&examples, case));
    assert_eq!(in_state(&perfect, State::Poor), [""; 0]);
    assert_eq!(perfect.finding(Section::Position).unwrap().state, State::Good);
    assert_eq!(perfect.finding(Section::Agreement).unwrap().state, State::Good);
    let Agreement::Pairs(found) = &perfect.agreement else { panic!("pairs") };
    assert_eq!(found.agreement_without_ties.value().unwrap().value, 1.0);
}

#[test]
fn a_judge_of_single_answers_is_asked_to_compare_them_in_both_orders() {
    let mut examples = examples();
    for (index, example) in examples.iter_mut().enumerate() {
        example.input = format!("question {}", index / 4);
    }
    let judged = fullbench_check::Judged::Single;
    let plan = fullbench_check::ProbeOptions { sample: 20, ..Default::default() };
    let cases = fullbench_check::probes(&examples, judged, &plan);
    let compared = cases.iter().filter(|case| case.probe == Probe::Compared);
    assert_eq!(compared.count(), 20);
    let observed: Vec<Observed> = cases
        .iter()
        .enumerate()
        .map(|(case, probe)| Observed {
            case,
            value: Some(if probe.probe == Probe::Compared {
                0.5
            } else {
                honest(&examples, probe)
            }),
            is_flipped: (probe.probe == Probe::Compared).then_some(true),
            first_shown_preferred: (probe.probe == Probe::Compared).then_some(true),
            ..Observed::default()
        })
        .collect();
    let card = fullbench_check::card(&examples, &cases, &observed, &options());
    assert_eq!(card.judged, judged);
    assert_eq!(in_state(&card, State::Poor), ["position"], "{:#?}", card.findings);
    let shares = (&card.position.flipped, &card.position.to_the_first);
    assert_eq!((shares.0.value().unwrap().n, shares.1.value().unwrap().value), (20, 1.0));
    let without = fullbench_check::ProbeOptions { comparisons: false, ..plan };
    let cases = fullbench_check::probes(&examples, judged, &without);
    assert!(cases.iter().all(|case| case.probe != Probe::Compared));
}

#[test]
fn answers_without_an_other_are_paired_by_their_input() {
    let mut examples = examples();
    for (index, example) in examples.iter_mut().enumerate() {
        example.input = format!("question {}", index / 4);
    }
    let cases = fullbench_check::probes(
        &examples,
        fullbench_check::Judged::Pairs,
        &fullbench_check::ProbeOptions { sample: 20, ..Default::default() },
    );
    let bases: Vec<_> = cases.iter().filter(|case| case.probe == Probe::Pair).collect();
    assert_eq!(bases.len(), 20);
    for case in &bases {
        let with = case.with.unwrap();
        assert_eq!(examples[case.example].input, examples[with].input);
        assert_ne!(case.example, with);
        assert_eq!(case.other.as_deref(), Some(&examples[with].output[..]));
    }
    let prefers = |case: &fullbench_check::ProbeCase| {
        let human = |index: usize| examples[index].human().unwrap();
        let difference = human(case.example) - human(case.with.unwrap());
        if difference > 0.0 {
            1.0
        } else if difference < 0.0 {
            0.0
        } else {
            0.5
        }
    };
    let observed: Vec<Observed> = cases
        .iter()
        .enumerate()
        .map(|(case, probe)| Observed {
            case,
            value: Some(prefers(probe)),
            is_flipped: Some(false),
            ..Observed::default()
        })
        .collect();
    let card = fullbench_check::card(&examples, &cases, &observed, &options());
    let Agreement::Pairs(found) = &card.agreement else { panic!("pairs") };
    assert_eq!((found.labelled, found.kappa.value().unwrap().value), (20, 1.0));
    assert_eq!(card.retest.items, 20);
}

#[test]
fn a_generous_judge_is_corrected_by_labels() {
    let mut examples = examples();
    let truth: Vec<f64> = examples.iter().map(|example| example.human().unwrap()).collect();
    for (index, example) in examples.iter_mut().enumerate() {
        if index % 3 != 0 {
            example.ratings.clear();
        }
    }
    let wanted = CardOptions { correct: Some(0.01), ..options() };
    let card = scored(&examples, &wanted, |index, case| {
        truth[case.example] * 0.6 + 0.4 + 0.1 * (chance(index, 30) - 0.5)
    });
    let corrected = card.corrected.as_ref().unwrap();
    let powered = corrected.all.corrected.value().unwrap();
    let mean = truth.iter().sum::<f64>() / truth.len() as f64;
    assert_eq!((powered.labelled, powered.unlabelled), (40, 80));
    assert!((powered.student_interval.low..powered.student_interval.high).contains(&mean));
    assert!(corrected.all.judge_only.value().unwrap().value > mean + 0.1);
    assert_eq!(corrected.systems.len(), 4);
    assert_eq!(card.finding(Section::Corrected).unwrap().state, State::Watch);
    assert!(corrected.systems[0].corrected.value().is_some());
    // Panels: what members gave is carried along.
    assert!(card.panel.is_none());
}

#[test]
fn members_of_a_panel_are_compared_with_people() {
    let examples = examples();
    let card = judged(&examples, &options(), |index, case| {
        let honest = honest(&examples, case);
        Observed {
            value: Some(honest),
            members: vec![
                Some(honest),
                Some(chance(index, 40)),
                (index % 2 == 0).then_some(honest),
            ],
            ..Observed::default()
        }
    });
    let panel = card.panel.as_ref().unwrap();
    assert_eq!((panel.members.len(), panel.rows.len()), (3, 120));
    assert_eq!((panel.members[2].scored, panel.members[2].unscored), (60, 60));
    assert!(panel.members[1].spearman.value().unwrap().value.abs() < 0.3);
    assert_ne!(card.finding(Section::Panel).unwrap().state, State::Good);
}

#[test]
fn every_grid_is_whole_and_every_section_has_a_sentence() {
    let examples = examples();
    let wanted = CardOptions { correct: Some(0.05), ..options() };
    let card = scored(&examples, &wanted, |_, case| honest(&examples, case));
    for grid in card.grids() {
        assert!(grid.rows.iter().all(|row| row.len() == grid.header.len()), "{:?}", grid.title);
    }
    assert_eq!(card.findings.len(), 9);
    assert!(card.findings.iter().all(|finding| finding.sentence.ends_with('.')));
    assert!(card.conclusion().firmer.len() >= 2);
}
