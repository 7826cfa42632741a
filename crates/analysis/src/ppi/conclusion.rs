//! The report in sentences.

use fullbench_stats::validity::{LabelDesign, LabelsNeeded, PredictionPowered, labels_needed};
use fullbench_stats::{Interval, Undefined};

use super::data::Data;
use super::{Design, DifferenceReport, PpiReport, SystemReport, Wanted};
use crate::{Conclusion, number};

/// With fewer labels than this the intervals are rough.
const FEW_LABELS: usize = 50;
/// With a lambda below this the judge adds next to nothing.
const USELESS: f64 = 0.05;

pub(super) fn of(report: &PpiReport, data: &Data) -> Conclusion {
    let mut conclusion = Conclusion::default();
    let percent = format!("{}%", (report.confidence * 100.0 * 1e6).round() / 1e6);
    if let Some(difference) = &report.difference {
        about_difference(difference, &percent, &mut conclusion);
    }
    for system in &report.systems {
        about_system(system, &percent, &mut conclusion);
    }
    match &report.wanted {
        Some(wanted) => about_wanted(wanted, report.difference.is_some(), &mut conclusion),
        None => half_the_width(report, data, &mut conclusion),
    }
    conclusion.firmer.push(
        "All this assumes that the items to label were chosen at random from those the judge scored. If people labelled the hard, the \
         interesting or the first ones, the estimate is off by an amount no interval shows."
            .to_owned(),
    );
    let fewest = report.systems.iter().map(|system| system.labelled).min().unwrap_or(0);
    if fewest < FEW_LABELS {
        conclusion.firmer.push(format!(
            "{fewest} human labels are few: below {FEW_LABELS} the intervals tend to be too narrow."
        ));
    }
    if report.systems.len() > 2 {
        conclusion.firmer.push(
            "A difference is estimated for files of exactly two systems: give those two for it."
                .to_owned(),
        );
    }
    conclusion
}

fn between(interval: Interval) -> String {
    format!("{} to {}", number(interval.low), number(interval.high))
}

fn about_difference(difference: &DifferenceReport, percent: &str, conclusion: &mut Conclusion) {
    let (first, second) = (&difference.first, &difference.second);
    match &difference.result {
        Ok(found) => {
            let (estimate, interval) = (found.estimate(), found.interval());
            let by = number(estimate.abs());
            let shown = between(interval);
            conclusion.meaning.push(if interval.low > 0.0 || interval.high < 0.0 {
                let (higher, lower) = if estimate > 0.0 { (first, second) } else { (second, first) };
                format!(
                    "By the measure of people {higher} scores higher than {lower}, by {by} ({percent} interval of {first} − {second}: {shown})."
                )
            } else {
                format!(
                    "There is no evidence of a difference between {first} and {second}: {first} − {second} is {}, and the {percent} interval \
                     {shown} contains 0. That does not show that they are equal.",
                    number(estimate)
                )
            });
        }
        Err(reason) => conclusion
            .meaning
            .push(format!("The difference of {first} and {second} is undefined: {reason}.")),
    }
    if difference.design == Design::Paired && difference.result.is_ok() {
        conclusion.firmer.push(
            "The difference is estimated item by item, which is sharper, so that it need not be the difference of the two means.".to_owned(),
        );
    }
    if difference.design == Design::Overlapping {
        conclusion.firmer.push(format!(
            "{first} and {second} share some items but not all labels. Labelling the same items for both would make the difference sharper."
        ));
    }
}

fn about_system(system: &SystemReport, percent: &str, conclusion: &mut Conclusion) {
    let of = system.system.as_ref().map(|name| format!(" of {name}")).unwrap_or_default();
    let found = match &system.prediction_powered {
        Ok(found) => found,
        Err(reason) => {
            let interval = system.human_only_interval.as_ref().map_or_else(
                |_| String::new(),
                |interval| format!(" ({percent} interval {})", between(*interval)),
            );
            conclusion.meaning.push(format!(
                "The {} human labels{of} have a mean of {}{interval}. Judge and labels cannot be combined: {reason}.",
                system.labelled,
                number(system.human_only)
            ));
            return;
        }
    };
    conclusion.meaning.push(format!(
        "People would give a mean{of} of {} ({percent} interval {}), by {} human labels and the judge's scores of {} items. The judge alone \
         says {}, the labels alone {}{}.",
        number(found.estimate),
        between(found.student_interval),
        found.labelled,
        found.labelled + found.unlabelled,
        number(found.judge_only),
        number(found.human_only),
        system
            .human_only_interval
            .as_ref()
            .map_or_else(|_| String::new(), |interval| format!(" ({})", between(*interval)))
    ));
    conclusion.meaning.push(judge_sentence(found));
    if let Some(Ok(rate)) = &system.rogan_gladen
        && (rate.estimate_clipped || rate.interval_clipped)
    {
        conclusion.firmer.push(
            "The Rogan–Gladen correction left the range of a rate and was cut off at 0 or 1: sensitivity and specificity are too poorly known \
             for it."
                .to_owned(),
        );
    }
}

fn judge_sentence(found: &PredictionPowered) -> String {
    if found.lambda < USELESS {
        return format!(
            "The judge adds next to nothing (lambda {}): its scores hardly go along with the labels, and the estimate is that of the labels.",
            number(found.lambda)
        );
    }
    let saved = found.effective_labels - found.labelled as f64;
    if saved < 1.0 {
        return format!("The judge saves no labels (lambda {}).", number(found.lambda));
    }
    format!(
        "With the judge the {} labels are worth about {:.0}: it saves {:.0} (lambda {}).",
        found.labelled,
        found.effective_labels.floor(),
        saved.floor(),
        number(found.lambda)
    )
}

fn about_wanted(wanted: &Wanted, of_systems: bool, conclusion: &mut Conclusion) {
    let width = wanted.half_width;
    let each = if of_systems { " for each system" } else { "" };
    for answer in &wanted.answers {
        let of = if answer.of == "the mean" { String::new() } else { format!(" of {}", answer.of) };
        let alone = match &answer.human_only {
            Ok(LabelsNeeded::Reachable { more, .. }) => format!("{more} by human labels alone"),
            _ => "by human labels alone more than there are items".to_owned(),
        };
        conclusion.meaning.push(match &answer.with_judge {
            Ok(LabelsNeeded::Reachable { more: 0, .. }) => {
                format!("An interval{of} of ±{width} is reached with the labels there are.")
            }
            Ok(LabelsNeeded::Reachable { more, .. }) => format!(
                "An interval{of} of ±{width} takes about {more} more labels{each} ({alone}), if variances stay as they are."
            ),
            Ok(LabelsNeeded::OutOfReach { smallest }) => format!(
                "An interval{of} of ±{width} is out of reach: with every scored item labelled it would be ±{}. It takes more items.",
                number(*smallest)
            ),
            Err(reason) => {
                format!("How many labels an interval{of} of ±{width} takes cannot be said: {reason}.")
            }
        });
    }
}

/// What it takes to halve the interval, where no width was asked for.
fn half_the_width(report: &PpiReport, data: &Data, conclusion: &mut Conclusion) {
    let ([system], [sample]) = (&report.systems[..], &data.samples[..]) else { return };
    let Ok(found) = &system.prediction_powered else { return };
    let half_width = (found.student_interval.high - found.student_interval.low) / 4.0;
    let needed = || -> Result<LabelsNeeded, Undefined> {
        let (human, judge, rest) = sample.split();
        let design = LabelDesign::of(&human, &judge, &rest)?;
        labels_needed(&[design], half_width, report.confidence, true)
    };
    match needed() {
        Ok(LabelsNeeded::Reachable { more, .. }) => conclusion.firmer.push(format!(
            "About {more} more labels would halve the interval, to ±{}.",
            number(half_width)
        )),
        Ok(LabelsNeeded::OutOfReach { smallest }) => conclusion.firmer.push(format!(
            "Half the width is out of reach with these items: labelling all of them gives ±{}.",
            number(smallest)
        )),
        Err(_) => {}
    }
}
