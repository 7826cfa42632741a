//! A ranking in words.

use fullbench_stats::ranking::{BradleyTerry, RankAdjustment};

use super::data::{Duels, listed};
use super::grids::points;
use super::{RankOptions, RankReport};
use crate::{Conclusion, share};

/// The chance with which the battles that are said to be missing would do.
const POWER: f64 = 0.8;
/// Beyond this nobody will collect them.
const TOO_MANY: f64 = 1e7;
/// Fewer groups than this make intervals rough.
const FEW_GROUPS: usize = 20;

pub(super) fn of(
    report: &RankReport,
    fit: &BradleyTerry,
    duels: &Duels,
    options: &RankOptions,
) -> Conclusion {
    let mut conclusion = Conclusion { meaning: leader(report), firmer: Vec::new() };
    conclusion.meaning.extend(effects(report));
    conclusion.meaning.extend(report.notes.iter().cloned());
    conclusion.firmer.extend(separation(report, fit, duels, options));
    conclusion.firmer.extend(cautions(report));
    conclusion
}

fn leader(report: &RankReport) -> Vec<String> {
    let (Some(first), Some(second)) = (report.ranking.first(), report.ranking.get(1)) else {
        return Vec::new();
    };
    let scale = report.method.scale;
    let rated = match first.interval {
        Some(interval) => format!(
            "{} ({} to {} at {} confidence)",
            points(scale, first.rating),
            points(scale, interval.low),
            points(scale, interval.high),
            percent(report.confidence),
        ),
        None => points(scale, first.rating),
    };
    let others = report.ranking.len() - 1;
    let close: Vec<&str> = report
        .differences
        .iter()
        .take(others)
        .filter(|pair| !pair.told_apart)
        .map(|pair| pair.weaker.as_str())
        .collect();
    let mut meaning = Vec::new();
    if close.is_empty() {
        let whom = if others == 1 {
            "the other".to_owned()
        } else {
            format!("each of the other {others}")
        };
        meaning.push(format!(
            "`{}` leads with a rating of {rated}, and is better than {whom}.",
            first.model
        ));
    } else if report.ranking.iter().all(|entry| entry.rating == first.rating) {
        meaning
            .push(format!("All models have the same rating, {rated}: nothing tells them apart."));
    } else {
        meaning.push(format!(
            "`{}` has the highest rating, {rated}, but the duels do not tell it apart from {}.",
            first.model,
            listed(close.into_iter())
        ));
    }
    let top = report.differences.first();
    if let Some((chance, interval)) =
        top.and_then(|pair| Some((pair.win_probability?, pair.win_interval?)))
    {
        meaning.push(format!(
            "Against `{}`, the next, it should win {} of duels ({} to {}), ties being half a win.",
            second.model,
            share(chance),
            share(interval.low),
            share(interval.high),
        ));
    }
    if report.ranking.len() > 2 {
        let apart = report.differences.iter().filter(|pair| pair.told_apart).count();
        let how = match report.method.rank_adjustment {
            RankAdjustment::Holm => "all of them at once (Holm)",
            RankAdjustment::None => "each for itself",
        };
        meaning.push(format!(
            "Of {} pairs of models, {apart} are told apart, at {} confidence for {how}.",
            report.differences.len(),
            percent(report.confidence),
        ));
    }
    meaning
}

fn effects(report: &RankReport) -> Option<String> {
    let order = report.effects.iter().find(|effect| effect.name == "order")?;
    let interval = order.interval?;
    let chance = |log_odds: f64| share(1.0 / (1.0 + (-log_odds).exp()));
    Some(format!(
        "Between equals, the answer shown first wins {} ({} to {}); the ratings are freed of that.",
        chance(order.log_odds),
        chance(interval.low),
        chance(interval.high),
    ))
}

/// How many more duels would separate the two at the top.
fn separation(
    report: &RankReport,
    fit: &BradleyTerry,
    duels: &Duels,
    options: &RankOptions,
) -> Option<String> {
    let pair = report.differences.first().filter(|pair| !pair.told_apart)?;
    let player = |name: &str| duels.models.iter().position(|model| model == name);
    let (first, second) = (player(&pair.stronger)?, player(&pair.weaker)?);
    let level = match options.rank_adjustment {
        RankAdjustment::None => 1.0 - options.confidence,
        RankAdjustment::Holm => (1.0 - options.confidence) / report.differences.len() as f64,
    };
    let between = format!("`{}` and `{}`", pair.stronger, pair.weaker);
    Some(match fit.battles_to_separate(first, second, level, POWER) {
        Ok(battles) if battles > TOO_MANY => format!(
            "{between} are so close that more than ten million duels between them would be needed: treat them as equals for all purposes that such a difference does not matter to."
        ),
        Ok(battles) => format!(
            "About {} more duels between {between} would tell them apart in 8 of 10 cases, if the difference is as large as it looks now.",
            thousands(battles.ceil() as u64)
        ),
        Err(_) => format!(
            "{between} are exactly even so far, so that nothing says how many duels would tell them apart."
        ),
    })
}

fn cautions(report: &RankReport) -> Vec<String> {
    let mut cautions = Vec::new();
    match report.groups {
        None => cautions.push(
            "Duels are taken as independent. If a judge or a question gave several, name it in a column `group`, or the intervals are too narrow."
                .to_owned(),
        ),
        Some(groups) if groups < FEW_GROUPS => cautions.push(format!(
            "There are only {groups} groups: with {FEW_GROUPS} or more, intervals are firmer."
        )),
        Some(_) => {}
    }
    if report.effects.iter().all(|effect| effect.name != "order") {
        cautions.push(
            "Whether judges favour what is shown first is not accounted for: show both orders, or estimate the order effect."
                .to_owned(),
        );
    }
    cautions
}

/// A confidence as people write it: 95%, 99.9%.
fn percent(confidence: f64) -> String {
    format!("{}%", (confidence * 1e6).round() / 1e4)
}

fn thousands(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
