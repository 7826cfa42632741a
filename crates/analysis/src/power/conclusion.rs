//! A plan in plain words.

use super::test::Test;
use super::{PowerDesign, PowerOptions, PowerReport, Solved};
use crate::{Conclusion, share};

/// A plan below this power misses what it looks for too often.
const LOW_POWER: f64 = 0.5;
/// The spread of a pilot larger than this is known well enough.
const LARGE_PILOT: usize = 200;

/// The sentences. `endless` is the standard error that endless repetitions of each case would leave.
pub(super) fn conclusion(
    report: &PowerReport,
    test: Test,
    options: &PowerOptions,
    endless: f64,
) -> Conclusion {
    let size = size(report);
    let (Some(effect_size), Some(power)) = (report.effect, report.power) else {
        return Conclusion {
            meaning: nothing(report, test),
            firmer: firmer(report, test, options, endless),
        };
    };
    let effect = difference(effect_size);
    let mut meaning = vec![match report.solved {
        Solved::Effect => format!(
            "With {size} you can see a difference of {effect} or more {}.",
            how_often(power)
        ),
        Solved::Units => {
            format!("To see a difference of {effect} {} you need {size}.", how_often(report.goal))
        }
        Solved::Power => {
            format!("With {size} a difference of {effect} is seen {}.", how_often(power))
        }
    }];
    if report.solved == Solved::Power && power < LOW_POWER {
        meaning.push(format!(
            "It is missed more often than not: finding no evidence would not mean that there is no difference of {effect}."
        ));
    } else {
        meaning.push(format!(
            "Seen means that a two-sided test at {} finds it; smaller differences are missed more often, which does not make them nothing.",
            share(report.alpha)
        ));
    }
    if let Some(rate) = options.rate.filter(|rate| effect_size > 1.0 - rate) {
        meaning.push(format!(
            "From a rate of {} a rise of {effect} is not possible, so that only a fall could be seen.",
            share(rate)
        ));
    }
    Conclusion { meaning, firmer: firmer(report, test, options, endless) }
}

/// What cases say of which too few change to show anything.
fn nothing(report: &PowerReport, test: Test) -> Vec<String> {
    let size = size(report);
    let mut meaning =
        vec![format!("{size} cannot show any difference this way {}.", how_often(report.goal))];
    let Test::Changes(changed) = test else { return meaning };
    if let Ok(most) = test.power(report.units, changed, report.alpha) {
        meaning.push(format!(
            "Even if all changes go one way, a difference of {}, McNemar's exact test at {} sees it in {} of such comparisons.",
            difference(changed),
            share(report.alpha),
            share(most)
        ));
    }
    if let Ok(units) = test.units_needed(changed, report.alpha, report.goal) {
        meaning.push(format!("For that it takes {units} {}.", report.unit()));
    }
    meaning
}

fn firmer(report: &PowerReport, test: Test, options: &PowerOptions, endless: f64) -> Vec<String> {
    let mut firmer = Vec::new();
    let half = report.effect.map(|effect| effect / 2.0);
    let needed = |half: f64| Some((half, test.units_needed(half, report.alpha, report.goal).ok()?));
    if let Some((half, units)) = half.and_then(needed) {
        firmer.push(format!(
            "Half that difference, {}, takes {units} {} ({}).",
            difference(half),
            report.unit(),
            how_often(report.goal),
        ));
    }
    if let Some(size) = report.cluster_size {
        firmer.push(format!(
            "Clustering multiplies the variance by {:.2}: the {} cases count for {:.0} independent ones. More clusters help; more cases in each help little.",
            report.design_effect,
            report.cases,
            report.units as f64 * size / report.design_effect,
        ));
    }
    if report.within_share.is_some_and(|share| share > 0.0) {
        firmer.push(format!(
            "More repetitions alone shrink the difference that can be seen to {} of this at most; beyond that only more {} help.",
            share(endless / report.standard_error),
            if report.design == PowerDesign::Clustered { "clusters" } else { "cases" },
        ));
    }
    if let Some(pilot) =
        report.pilot.filter(|pilot| pilot.cases < LARGE_PILOT && report.spread_from == "the pilot")
    {
        let off = (2.0 / (pilot.cases as f64 - 1.0)).sqrt();
        firmer.push(format!(
            "The spread comes from {} pilot cases: the number needed may be off by some {} either way. A larger pilot makes it firmer.",
            pilot.cases,
            share(off.min(1.0))
        ));
    }
    let one_sided_pilot = report.pilot.is_some_and(|pilot| !pilot.paired);
    if report.design == PowerDesign::Clustered
        && options.intra_cluster_correlation.is_none()
        && one_sided_pilot
    {
        firmer.push(
            "The correlation within clusters is that of scores; differences usually correlate less, and a pilot with columns `before` and `after` would tell.".to_owned(),
        );
    }
    if let Test::Changes(changed) = test {
        firmer.push(format!(
            "It rests on {} of the cases changing; comparing two earlier runs shows what share does.",
            share(changed)
        ));
    }
    if options.rate.is_some() {
        firmer.push(
            "The spread is that of the rate you gave; if rates lie nearer to 50%, it takes more cases.".to_owned(),
        );
    }
    firmer
}

/// How many, of what.
fn size(report: &PowerReport) -> String {
    let size = match (report.design, report.second_units) {
        (PowerDesign::Independent, Some(second)) if second != report.units => {
            format!("{} cases in the first and {second} in the second sample", report.units)
        }
        (PowerDesign::Clustered, _) => {
            let size = report.cluster_size.unwrap_or(1.0);
            format!("{} clusters of {} cases", report.units, (size * 10.0).round() / 10.0)
        }
        _ => format!("{} {}", report.units, report.unit()),
    };
    if report.repetitions > 1 {
        return format!("{size}, each run {} times on each side,", report.repetitions);
    }
    size
}

/// A difference with as many decimals as it takes to show two digits.
fn difference(value: f64) -> String {
    let magnitude = value.abs().log10().floor();
    let decimals = (1.0 - magnitude).clamp(0.0, 12.0) as usize;
    format!("{value:.decimals$}")
}

/// A probability as people say it.
fn how_often(power: f64) -> String {
    let words = [
        (0.5, "every second time"),
        (0.75, "three times out of four"),
        (0.8, "four times out of five"),
        (0.9, "nine times out of ten"),
        (0.95, "19 times out of 20"),
        (0.99, "99 times out of 100"),
    ];
    match words.iter().find(|(value, _)| (value - power).abs() < 1e-6) {
        Some((_, words)) => (*words).to_owned(),
        None => format!("{} of the time", share(power)),
    }
}
