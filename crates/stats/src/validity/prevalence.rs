//! The true rate of "yes" behind a judge that errs (Rogan and Gladen 1978).

use serde::Serialize;

use crate::{Interval, Undefined, normal_quantile};

/// Counts of a judge that says yes or no: on items with a human label, and on others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct JudgedRates {
    /// Items that people call yes.
    pub human_yes: u64,
    /// Of those, how many the judge calls yes.
    pub judge_yes_of_human_yes: u64,
    /// Items that people call no.
    pub human_no: u64,
    /// Of those, how many the judge calls no.
    pub judge_no_of_human_no: u64,
    /// Items without a human label.
    pub unlabelled: u64,
    /// Of those, how many the judge calls yes.
    pub judge_yes_of_unlabelled: u64,
}

/// A corrected rate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Prevalence {
    /// Share of yes among what people call yes that the judge finds.
    pub sensitivity: f64,
    /// Share of no among what people call no that the judge finds.
    pub specificity: f64,
    /// The judge's own rate of yes on unlabelled items.
    pub judged: f64,
    /// The corrected rate, within 0–1.
    pub estimate: f64,
    /// The interval of Lang and Reiczigel (2014), within 0–1.
    pub interval: Interval,
    /// Whether the estimate lay outside of 0–1 and was moved to its edge.
    pub estimate_clipped: bool,
    /// Whether an end of the interval did.
    pub interval_clipped: bool,
}

/// The rate of yes on unlabelled items, corrected for the judge's sensitivity and specificity as estimated on labelled ones
/// (Rogan and Gladen 1978), with an interval that allows for all three being estimates (Lang and Reiczigel 2014).
///
/// It assumes that the judge errs on unlabelled items as often as on labelled ones, given the true answer, and that the two
/// sets are independent. It holds also where yes is more frequent among the labelled, but not where items were chosen for
/// labelling by what the judge said of them (verification bias, Begg and Greenes 1983). Undefined unless each of the three
/// samples has an item, and unless the judge is better than chance (sensitivity + specificity above 1): below, its answers
/// do not identify the rate. With a weak judge and few labels the interval covers more than it says.
pub fn rogan_gladen(counts: &JudgedRates, confidence: f64) -> Result<Prevalence, Undefined> {
    Undefined::unless_share("confidence", confidence)?;
    let samples = [
        ("items that people call yes", counts.human_yes, counts.judge_yes_of_human_yes),
        ("items that people call no", counts.human_no, counts.judge_no_of_human_no),
        ("unlabelled items", counts.unlabelled, counts.judge_yes_of_unlabelled),
    ];
    for (what, count, found) in samples {
        Undefined::unless_enough(what, count as usize, 1)?;
        if found > count {
            let (value, allowed) = (found as f64, "at most the count of its sample");
            return Err(Undefined::OutOfRange { what: "a count", value, allowed });
        }
    }
    let [(_, yes, found_yes), (_, no, found_no), (_, rest, said_yes)] =
        samples.map(|(what, count, found)| (what, count as f64, found as f64));
    let (sensitivity, specificity, judged) = (found_yes / yes, found_no / no, said_yes / rest);
    let youden = better_than_chance(sensitivity + specificity - 1.0)?;
    let estimate = (judged + specificity - 1.0) / youden;

    let z = normal_quantile(f64::midpoint(1.0, confidence))?;
    let squared = z * z;
    let (yes, no, rest) = (yes + 2.0, no + 2.0, rest + squared);
    let (adjusted_sensitivity, adjusted_specificity) =
        ((found_yes + 1.0) / yes, (found_no + 1.0) / no);
    let adjusted = (said_yes + squared / 2.0) / rest;
    let youden = better_than_chance(adjusted_sensitivity + adjusted_specificity - 1.0)?;
    let center = (adjusted + adjusted_specificity - 1.0) / youden;
    let of_yes = adjusted_sensitivity * (1.0 - adjusted_sensitivity) / yes;
    let of_no = adjusted_specificity * (1.0 - adjusted_specificity) / no;
    let shift = 2.0 * squared * (center * of_yes - (1.0 - center) * of_no);
    let variance = adjusted * (1.0 - adjusted) / rest
        + center * center * of_yes
        + (1.0 - center) * (1.0 - center) * of_no;
    let half_width = z * variance.sqrt() / youden;
    let (low, high) = (center + shift - half_width, center + shift + half_width);
    let within = |value: f64| value.clamp(0.0, 1.0);
    Ok(Prevalence {
        sensitivity,
        specificity,
        judged,
        estimate: within(estimate),
        interval: Interval { low: within(low), high: within(high) },
        estimate_clipped: within(estimate) != estimate,
        interval_clipped: within(low) != low || within(high) != high,
    })
}

fn better_than_chance(youden: f64) -> Result<f64, Undefined> {
    if youden > 1e-12 {
        Ok(youden)
    } else {
        let allowed = "above 0: the judge is no better than chance";
        let what = "sensitivity + specificity − 1";
        Err(Undefined::OutOfRange { what, value: youden, allowed })
    }
}
