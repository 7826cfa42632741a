//! Agreement in plain words.

use fullbench_stats::agreement::{Level, interpretation};

use super::{AgreementReport, AlphaReport};
use crate::{Conclusion, level, number, share};

/// An interval with ends this far from its middle is called narrow enough.
const FIRM: f64 = 0.05;
/// Annotators with fewer compared ratings are not singled out.
const ENOUGH_RATINGS: usize = 20;

pub(super) fn of(report: &AgreementReport) -> Conclusion {
    let mut conclusion = Conclusion::default();
    let meaning = &mut conclusion.meaning;
    let percent = report.percent_agreement.value().map_or(0.0, |percent| percent.agreement);
    match (report.alpha.value(), report.alpha.reason()) {
        (Some(alpha), _) => {
            meaning.push(coefficient(report, alpha));
            meaning.extend(reach(report));
            if percent >= 0.8 && alpha.estimate.alpha < 0.4 {
                meaning.push(format!(
                    "Two annotators give the same value in {} of cases, but one value is so frequent that chance alone would give nearly as much: alpha is low because there is little to agree on, not only because annotators err.",
                    share(percent)
                ));
            }
        }
        (None, reason) => meaning.push(format!(
            "Krippendorff's alpha is undefined: {}. Agreement can only be told where values differ; this is not perfect agreement, and not a lack of it.",
            reason.unwrap_or_default()
        )),
    }
    conclusion.firmer = firmer(report);
    conclusion
}

fn coefficient(report: &AgreementReport, alpha: &AlphaReport) -> String {
    let interval = report.alpha_interval().map_or_else(String::new, |interval| {
        format!(
            ", {} interval {} to {}",
            level(report.confidence),
            number(interval.low),
            number(interval.high)
        )
    });
    format!(
        "Krippendorff's alpha is {} ({} level{interval}): {}. Two ratings of one item differ {} as {} as two ratings of any items.",
        number(alpha.estimate.alpha),
        report.level.name(),
        alpha.interpretation,
        share(1.0 - alpha.estimate.alpha),
        if report.level == Level::Nominal { "often" } else { "much, in squared distance," }
    )
}

/// Whether the interval settles which words apply.
fn reach(report: &AgreementReport) -> Option<String> {
    let interval = report.alpha_interval()?;
    let (low, high) = (interpretation(interval.low), interpretation(interval.high));
    let word = |text: &'static str| text.split(' ').next().unwrap_or_default().to_lowercase();
    (low != high).then(|| {
        format!(
            "The interval reaches from {} to {} reliability: the items do not settle which.",
            word(low),
            word(high)
        )
    })
}

fn firmer(report: &AgreementReport) -> Vec<String> {
    let mut firmer = Vec::new();
    if let Some(interval) = report.alpha_interval() {
        let half = (interval.high - interval.low) / 2.0;
        if half > FIRM {
            let needed = (report.paired_items as f64 * (half / FIRM).powi(2)).ceil();
            firmer.push(format!(
                "About {needed:.0} items with two ratings, instead of {}, would bring the interval of alpha to ±{FIRM}.",
                report.paired_items
            ));
        }
    } else if let Some(reason) = report.alpha.value().and_then(|alpha| alpha.interval.reason()) {
        firmer.push(format!("Alpha has no interval: {reason}."));
    }
    let single = report.items - report.paired_items;
    if single > 0 {
        firmer.push(format!(
            "{single} of {} items have fewer than two ratings and say nothing about agreement; a second rating of them would.",
            report.items
        ));
    }
    if report.fleiss_kappa.value().is_some_and(|fleiss| !fleiss.balanced) {
        firmer.push(
            "Items have different numbers of ratings, for which Fleiss' kappa was not made; its generalization (Gwet 2014) is shown.".to_owned(),
        );
    }
    if let Some(reason) = report.pairs.reason() {
        firmer.push(format!("Pairs of annotators are not shown: {reason}."));
    }
    if report.missing > 0 {
        firmer.push(format!("{} rows without a value were left out.", report.missing));
    }
    firmer.extend(outlier(report));
    if let Some(text) = report.looks_missing() {
        firmer.push(format!(
            "`{text}` is counted as a value like any other. If it means that there is no rating, leave the cell empty."
        ));
    }
    if report.alpha_interval().is_some() {
        firmer.push("The interval is about other items of this kind rated by these annotators. Other annotators may agree more or less.".to_owned());
    }
    firmer
}

/// The annotator who differs most, if that is much more than the others do.
fn outlier(report: &AgreementReport) -> Option<String> {
    let compared = report.by_annotator.iter().filter(|who| who.compared >= ENOUGH_RATINGS);
    let mut distances: Vec<(f64, &str)> = compared
        .filter_map(|who| Some((who.relative_disagreement?, who.annotator.as_str())))
        .collect();
    if distances.len() < 3 {
        return None;
    }
    distances.sort_by(|a, b| a.0.total_cmp(&b.0));
    let middle = distances[(distances.len() - 1) / 2].0;
    let (most, who) = *distances.last()?;
    (most > 1.5 * middle).then(|| {
        format!(
            "`{who}` differs most from the others: {:.2} of what chance gives, where the middle annotator has {middle:.2}. Look at these ratings, or at the instructions, before collecting more.",
            most
        )
    })
}
