//! How often a judge without a fault is called poor: by simulation, more of it with `FULLBENCH_SIMULATIONS`.
#![allow(clippy::unwrap_used)]

mod support;

use fullbench_check::{CardOptions, Section, State};
use support::{chance, examples, honest, options, scored};

/// A judge that errs at random, by as much whatever the answer is like.
fn poor_shares(width: f64, studies: usize) -> Vec<(Section, f64)> {
    let sections = [
        Section::Agreement,
        Section::Retest,
        Section::Verbosity,
        Section::SelfPreference,
        Section::Formatting,
        Section::Attacks,
        Section::Replies,
    ];
    let examples = examples();
    let mut poor = vec![0_usize; sections.len()];
    for study in 0..studies {
        let options = CardOptions { rounds: 100, ..options() };
        let card = scored(&examples, &options, |index, case| {
            // Away from the ends of the scale, so that errors are not cut off there.
            let error = width * (chance(index + 10_000 * study, 50) - 0.5);
            0.2 + 0.6 * honest(&examples, case) + error
        });
        for (count, section) in poor.iter_mut().zip(sections) {
            *count += usize::from(card.finding(section).unwrap().state == State::Poor);
        }
    }
    let share = |count: usize| count as f64 / studies as f64;
    sections.into_iter().zip(poor.into_iter().map(share)).collect()
}

#[test]
fn random_errors_are_not_called_a_bias() {
    let studies = std::env::var("FULLBENCH_SIMULATIONS").ok().and_then(|text| text.parse().ok());
    for width in [0.1, 0.3, 0.5] {
        let shares = poor_shares(width, studies.unwrap_or(60));
        if studies.is_some() {
            #[allow(clippy::print_stdout)]
            {
                println!("width {width}: {shares:?}");
            }
        }
        for (section, share) in shares {
            let allowed = match section {
                // Random errors are its business.
                Section::Retest => 1.0,
                Section::Attacks | Section::Replies => 0.0,
                _ => 0.1,
            };
            assert!(share <= allowed, "{section:?} at width {width}: {share}");
        }
    }
}
