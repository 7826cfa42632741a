//! The report in sentences.

use fullbench_stats::validity::{Bias, BiasSlope, Coefficient};
use fullbench_stats::{Interval, normal_quantile};

use super::grids::name;
use super::{CorrelateReport, ItemCorrelation, LabelReport, ScoreReport};
use crate::{Conclusion, number, share};

/// With fewer systems than this the system level is hardly evidence.
const FEW_SYSTEMS: usize = 10;
/// With fewer groups than this intervals over groups are too narrow.
const FEW_GROUPS: usize = 20;
/// The half-width of a correlation that is worth asking more pairs for.
const WANTED_HALF_WIDTH: f64 = 0.1;

pub(super) fn of(report: &CorrelateReport) -> Conclusion {
    let mut conclusion = Conclusion::default();
    let percent = format!("{}%", (report.confidence * 100.0 * 1e6).round() / 1e6);
    if let Some(scores) = &report.scores {
        about_items(scores, &percent, &mut conclusion);
        about_groups(scores, &percent, &mut conclusion);
        about_systems(scores, &mut conclusion);
        about_bias(scores, &percent, report.confidence, &mut conclusion);
        about_size(report, scores, &mut conclusion);
    }
    if let Some(labels) = &report.labels {
        about_labels(labels, &percent, &mut conclusion);
        if report.scores.as_ref().is_some_and(|scores| scores.item_level.clusters.is_some()) {
            conclusion.firmer.push(
                "The intervals of labels take all pairs as independent; in groups they are somewhat too narrow.".to_owned(),
            );
        }
    }
    let missing = report.without_judge + report.without_human;
    if missing > 0 {
        conclusion.firmer.push(format!(
            "{missing} of {} rows are left out: {} without a judge's value, {} without a human one. If those are the hard \
             cases, the numbers flatter the judge.",
            report.pairs + missing,
            report.without_judge,
            report.without_human
        ));
    }
    conclusion.firmer.push(
        "People are taken as right. Where several rated the same items, `fullbench stats agreement` says how far that holds; no judge \
         can be expected to agree with them more than they do with each other."
            .to_owned(),
    );
    conclusion
}

fn between(interval: Interval) -> String {
    format!("{} to {}", number(interval.low), number(interval.high))
}

/// The coefficient that the sentences are about.
fn spoken(scores: &ScoreReport) -> Option<&ItemCorrelation> {
    scores.item_level.correlations.iter().find(|one| one.coefficient == Coefficient::Spearman)
}

fn shown_interval(one: &ItemCorrelation) -> Option<Interval> {
    match &one.clustered_interval {
        Some(clustered) => clustered.clone().ok(),
        None => one.independent.as_ref().ok()?.interval.clone().ok(),
    }
}

fn about_items(scores: &ScoreReport, percent: &str, conclusion: &mut Conclusion) {
    let Some(one) = spoken(scores) else { return };
    let found = match &one.independent {
        Ok(found) => found,
        Err(reason) => {
            conclusion.meaning.push(format!(
                "Whether judge and people order the items alike cannot be said: {reason}, where the first side is the judge."
            ));
            return;
        }
    };
    let value = number(found.value);
    let sentence = match shown_interval(one) {
        None => format!(
            "Spearman's correlation of judge and people is {value}; there is no interval, because there are too few pairs or groups, or no spread around it."
        ),
        Some(interval) if interval.low > 0.0 => format!(
            "What people score higher, the judge tends to score higher: Spearman's correlation over {} pairs is {value} ({percent} \
             interval {}; 1 is the same order, 0 no relation).",
            found.pairs,
            between(interval)
        ),
        Some(interval) if interval.high < 0.0 => format!(
            "The judge tends to score lower what people score higher: Spearman's correlation over {} pairs is {value} ({percent} \
             interval {}). Check that both columns run in the same direction.",
            found.pairs,
            between(interval)
        ),
        Some(interval) => format!(
            "There is no evidence that the judge orders items as people do: Spearman's correlation over {} pairs is {value}, and the \
             {percent} interval {} contains 0. That is not evidence that it does not.",
            found.pairs,
            between(interval)
        ),
    };
    conclusion.meaning.push(sentence);
    if let Some(clusters) = scores.item_level.clusters {
        conclusion.firmer.push(format!(
            "The {} pairs come in {clusters} groups, and pairs of a group are not independent: intervals at item level, of the bias and of \
             its slope allow for that, and no p-value is shown there.",
            found.pairs
        ));
    }
}

fn about_groups(scores: &ScoreReport, percent: &str, conclusion: &mut Conclusion) {
    let Some(level) = &scores.group_level else { return };
    let kendall = level.correlations.iter().find(|one| one.coefficient == Coefficient::Kendall);
    let Some(one) = kendall else { return };
    match &one.result {
        Ok(found) => {
            let left_out = found.single + found.without_variation;
            let interval = found.interval.as_ref().map_or_else(
                |_| String::new(),
                |interval| format!(" ({percent} interval {})", between(*interval)),
            );
            conclusion.meaning.push(format!(
                "Inside groups ({}) {} is {} on average over {} groups{interval}: this is how well the judge orders answers that compete.",
                level.groups_are,
                name(one.coefficient),
                number(found.value),
                found.groups
            ));
            if left_out > 0 {
                conclusion.firmer.push(format!(
                    "{left_out} of {} groups have no correlation and are left out, not counted as 0: {} because all values of one side are \
                     equal, {} because they have a single pair.",
                    found.groups + left_out,
                    found.without_variation,
                    found.single
                ));
            }
            if (2..FEW_GROUPS).contains(&found.groups) {
                conclusion.firmer.push(format!(
                    "Intervals from {} groups are rather too narrow; {FEW_GROUPS} or more are needed to trust them.",
                    found.groups
                ));
            }
        }
        Err(reason) => conclusion
            .meaning
            .push(format!("There is no correlation inside groups to speak of: {reason}.")),
    }
}

fn about_systems(scores: &ScoreReport, conclusion: &mut Conclusion) {
    let Some(level) = &scores.system_level else { return };
    let kendall = level.correlations.iter().find(|one| one.coefficient == Coefficient::Kendall);
    let Some(one) = kendall else { return };
    match &one.result {
        Ok(found) => conclusion.meaning.push(format!(
            "Between the means of {} systems {} is {}.",
            found.systems,
            name(one.coefficient),
            number(found.value)
        )),
        Err(reason) => {
            conclusion.meaning.push(format!("Systems cannot be compared as wholes: {reason}."));
        }
    }
    if level.systems < FEW_SYSTEMS {
        conclusion.firmer.push(format!(
            "{} systems are few: a high correlation of so few means is easily chance, and its interval is only rough. {FEW_SYSTEMS} or more \
             would say something about other systems.",
            level.systems
        ));
    }
}

fn about_bias(scores: &ScoreReport, percent: &str, confidence: f64, conclusion: &mut Conclusion) {
    let Ok(bias) = &scores.bias else { return };
    conclusion.meaning.push(bias_sentence(bias, percent));
    if let Ok(limits) = &bias.limits {
        conclusion.meaning.push(format!(
            "A single judge score lies {} to {} points from the human one in about {percent} of cases (limits of agreement).",
            signed(limits.low),
            signed(limits.high)
        ));
    }
    if let Ok(line) = &scores.slope_on_mean
        && line.p_value < 1.0 - confidence
    {
        conclusion.meaning.push(slope_sentence(line, percent));
    }
    if let Ok(line) = &scores.slope_on_human
        && line.p_value < 1.0 - confidence
        && line.slope < 0.0
    {
        conclusion.firmer.push(
            "The negative slope on the human score need not be the judge's fault: noise in human scores alone produces one (regression \
             dilution). The slope on the mean of both is the fairer number."
                .to_owned(),
        );
    }
    let (judge, human) = (scores.judge_range, scores.human_range);
    let widths = ((judge.high - judge.low), (human.high - human.low));
    let apart = judge.high < human.low || human.high < judge.low;
    if apart || widths.0 > 3.0 * widths.1 || widths.1 > 3.0 * widths.0 {
        conclusion.firmer.push(format!(
            "Bias and limits presuppose one scale. The judge's scores run from {} to {}, the human ones from {} to {}: if the scales differ, \
             read the correlations only.",
            judge.low, judge.high, human.low, human.high
        ));
    }
}

fn signed(value: f64) -> String {
    if value > 0.0 { format!("+{}", number(value)) } else { number(value) }
}

fn bias_sentence(bias: &Bias, percent: &str) -> String {
    let difference = number(bias.mean_difference.abs());
    let direction = if bias.mean_difference > 0.0 { "higher" } else { "lower" };
    match &bias.interval {
        _ if bias.mean_difference == 0.0 => {
            "On average the judge scores what people score.".to_owned()
        }
        Ok(interval) if interval.low > 0.0 || interval.high < 0.0 => format!(
            "On average the judge scores {difference} points {direction} than people ({percent} interval of the difference {}).",
            between(*interval)
        ),
        Ok(interval) => format!(
            "There is no evidence of an overall bias: the judge scores {difference} points {direction} than people on average, and the \
             {percent} interval {} contains 0.",
            between(*interval)
        ),
        Err(reason) => {
            format!(
                "The judge scores {difference} points {direction} than people; an interval is undefined ({reason})."
            )
        }
    }
}

fn slope_sentence(line: &BiasSlope, percent: &str) -> String {
    let what = if line.slope > 0.0 {
        "The judge spreads its scores more than people do: it is more generous to good answers, or harder on bad ones"
    } else {
        "The judge spreads its scores less than people do: it is harder on good answers, or more generous to bad ones"
    };
    format!(
        "{what} (the difference changes by {} for each point; {percent} interval {}).",
        signed(line.slope),
        between(line.interval)
    )
}

/// How many pairs would make the interval at item level about ±0.1.
fn about_size(report: &CorrelateReport, scores: &ScoreReport, conclusion: &mut Conclusion) {
    let Some(one) = spoken(scores) else { return };
    let (Ok(found), Some(interval)) = (&one.independent, shown_interval(one)) else { return };
    let half_width = (interval.high - interval.low) / 2.0;
    if half_width <= WANTED_HALF_WIDTH {
        return;
    }
    let Ok(z) = normal_quantile(f64::midpoint(1.0, report.confidence)) else { return };
    // The width falls with the square root of the number of pairs, on the scale of the correlation itself.
    let (square, plain) = (found.value * found.value, (found.pairs as f64 - 3.0).max(1.0));
    let independent = z * (1.0 - square) * ((1.0 + square / 2.0) / plain).sqrt();
    let factor = (half_width.max(independent) / WANTED_HALF_WIDTH).powi(2);
    let needed = (plain * factor).ceil() as u64 + 3;
    let of = if scores.item_level.clusters.is_some() {
        "pairs, in as many more groups,"
    } else {
        "pairs"
    };
    conclusion.firmer.push(format!(
        "About {needed} {of} would bring the interval of the correlation to ±{WANTED_HALF_WIDTH}; there are {}.",
        found.pairs
    ));
}

fn about_labels(labels: &LabelReport, percent: &str, conclusion: &mut Conclusion) {
    let table = &labels.confusion;
    let mut sentence = format!(
        "Judge and people give the same label in {} of {} cases ({percent} interval {} to {}); always saying what people say most would \
         reach {}.",
        share(table.accuracy),
        table.pairs,
        share(table.interval.low),
        share(table.interval.high),
        share(table.majority_share)
    );
    if table.interval.low <= table.majority_share {
        sentence.push_str(" The judge is not shown to beat that.");
    }
    conclusion.meaning.push(sentence);
    let rare: Vec<&str> = labels
        .labels
        .iter()
        .zip(&table.classes)
        .filter(|(_, class)| class.human < 20)
        .map(|(label, _)| label.as_str())
        .collect();
    if !rare.is_empty() {
        conclusion.firmer.push(format!(
            "Fewer than 20 human labels each for {}: precision and recall there are hardly known.",
            rare.join(", ")
        ));
    }
}
