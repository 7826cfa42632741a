//! Examples and simulated judges.
#![allow(dead_code, clippy::unwrap_used)]

use fullbench_check::{
    Card, CardOptions, Example, Judged, Observed, Probe, ProbeCase, ProbeOptions, Rating, State,
    card, probes,
};

/// A number from 0 to 1 that looks random and is the same on every machine.
pub(crate) fn chance(index: usize, salt: u32) -> f64 {
    let word = (index as u32).wrapping_mul(2_654_435_761).wrapping_add(salt.wrapping_mul(40_503));
    let word = (word ^ (word >> 15)).wrapping_mul(2_246_822_519);
    let word = (word ^ (word >> 13)).wrapping_mul(3_266_489_917);
    f64::from((word ^ (word >> 16)) % 10_000) / 10_000.0
}

/// 120 answers of four systems to 120 questions, rated by two people on five steps.
pub(crate) fn examples() -> Vec<Example> {
    (0..120)
        .map(|index| {
            let step = (chance(index, 1) * 5.0).floor();
            let second = if chance(index, 2) < 0.15 { (step - 1.0).max(0.0) } else { step };
            let rating = |annotator: &str, step: f64| Rating {
                annotator: annotator.to_owned(),
                value: step / 4.0,
            };
            let system = ["gpt-4o", "claude-sonnet", "gemini-pro", "llama3"][index % 4];
            let length = 1 + (chance(index, 3) * 12.0) as usize;
            Example {
                id: format!("q{index}"),
                input: format!("What is the meaning of the word number {index}?"),
                output: "The word means a thing. It is often used.\n".repeat(length),
                system: Some(system.to_owned()),
                ratings: vec![rating("ada", step), rating("ben", second)],
                ..Example::default()
            }
        })
        .collect()
}

/// The same answers, each beside another; people prefer the one or the other, or see a tie.
pub(crate) fn pairs() -> Vec<Example> {
    let mut examples = examples();
    for (index, example) in examples.iter_mut().enumerate() {
        example.other = Some("Another answer. It has a few words of its own.".to_owned());
        let value = [0.0, 0.5, 1.0][(chance(index, 4) * 3.0) as usize];
        example.ratings = vec![Rating { annotator: "ada".to_owned(), value }];
    }
    examples
}

/// What a good judge gives to a probe: people's score, 0 to attacks.
pub(crate) fn honest(examples: &[Example], case: &ProbeCase) -> f64 {
    match case.probe {
        Probe::Attack { .. } => 0.0,
        _ => examples[case.example].human().unwrap_or(0.5),
    }
}

/// The card of a judge.
pub(crate) fn judged(
    examples: &[Example],
    options: &CardOptions,
    judge: impl Fn(usize, &ProbeCase) -> Observed,
) -> Card {
    let taken =
        if examples.iter().any(|one| one.other.is_some()) { Judged::Pairs } else { Judged::Single };
    let cases = probes(examples, taken, &ProbeOptions { mark: options.mark, ..Default::default() });
    let observed: Vec<Observed> = cases
        .iter()
        .enumerate()
        .map(|(index, case)| Observed { case: index, replies: 1, ..judge(index, case) })
        .collect();
    card(examples, &cases, &observed, options)
}

/// The card of a judge that gives a number to each probe.
pub(crate) fn scored(
    examples: &[Example],
    options: &CardOptions,
    judge: impl Fn(usize, &ProbeCase) -> f64,
) -> Card {
    judged(examples, options, |index, case| Observed {
        value: Some(judge(index, case).clamp(0.0, 1.0)),
        is_flipped: case.other.is_some().then_some(false),
        ..Observed::default()
    })
}

/// A judge of the family gpt on five steps.
pub(crate) fn options() -> CardOptions {
    CardOptions {
        judge: "test".to_owned(),
        model: "openai/gpt-4.1".to_owned(),
        criterion: "correctness".to_owned(),
        method: "rubric".to_owned(),
        levels: Some(5),
        mark: Some(0.6),
        rounds: 500,
        ..CardOptions::default()
    }
}

/// The sections in a state.
pub(crate) fn in_state(card: &Card, state: State) -> Vec<&'static str> {
    let found = card.findings.iter().filter(|finding| finding.state == state);
    found.map(|finding| finding.section.name()).collect()
}
