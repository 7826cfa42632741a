//! A comparison of arms in plain words.

use fullbench_stats::compare::minimum_detectable_effect;
use fullbench_stats::experiment::{Decision, FrequentistTest};

use super::data::Data;
use super::grids::{confidence, interval, probability, small};
use super::plan::taken_for_granted;
use super::sequential::{NEEDED, SequentialReport, TAU};
use super::{AbMethod, AbOptions, AbPrior, AbReport, AbResult, BayesianReport, SequentialKind};
use crate::{Conclusion, number, p_value, share};

/// A difference is said to be detectable when it is found this often.
const POWER: f64 = 0.8;
/// The prior weighs too much when more than this share of the spread is its own.
const PRIOR_SHARE: f64 = 0.05;

pub(super) fn conclusion(report: &AbReport, data: &Data, options: &AbOptions) -> Conclusion {
    let mut conclusion = match &report.result {
        AbResult::Frequentist(test) => by_welch(report, test),
        AbResult::Bayesian(bayesian) => by_bayes(report, bayesian, options),
        AbResult::Sequential(sequential) => by_looks(report, sequential, data, options),
        AbResult::Undefined(reason) => Conclusion {
            meaning: vec![if report.difference == 0.0 {
                format!(
                    "The means of the arms are equal, {}; whether that is chance cannot be tested: {reason}.",
                    number(report.control.mean)
                )
            } else {
                format!(
                    "The means differ by {}, but that cannot be tested: {reason}.",
                    small(report.difference)
                )
            }],
            firmer: vec!["Collect values that vary, at least two in each arm.".to_owned()],
        },
    };
    if report.sample_ratio.mismatch {
        conclusion.firmer.insert(0, format!(
            "Sample-ratio mismatch: {} of the units are in the treatment where {} were expected (p {}). Find out why before you trust any difference; if other shares were planned, give them as `--expected-share`.",
            share(report.sample_ratio.share),
            share(report.sample_ratio.expected_share),
            p_value(report.sample_ratio.p_value),
        ));
    }
    if let AbResult::Sequential(sequential) = &report.result
        && let Some(taken) = taken_for_granted(report, sequential, data, options)
    {
        conclusion.firmer.insert(0, taken);
    }
    if let Some(cuped) = &report.cuped {
        conclusion.meaning.push(format!(
            "The covariate took out {} of the variance (CUPED); the difference is that of the adjusted values, {} instead of {}.",
            share(cuped.variance_reduction),
            number(cuped.adjusted_difference),
            number(report.difference),
        ));
        conclusion.firmer.push(
            "The covariate must have been known before the experiment: one that the treatment can change hides the effect.".to_owned(),
        );
    } else if data.has_covariates() {
        conclusion.firmer.push(
            "The covariate was not used: it does not vary, or the values are yes and no."
                .to_owned(),
        );
    }
    if report.method != AbMethod::Sequential && data.looks.is_some() {
        conclusion.firmer.push(
            "The file has several looks. This test holds for one look only: with looks along the way, use `--method sequential`.".to_owned(),
        );
    }
    conclusion
}

fn by_welch(report: &AbReport, test: &FrequentistTest) -> Conclusion {
    let comparison = &test.comparison;
    let numbers = format!(
        "difference {}, {} interval {}, p {}",
        number(comparison.difference),
        confidence(report.alpha),
        interval(&comparison.interval),
        p_value(comparison.p_value),
    );
    let mut meaning = vec![format!("{} ({numbers}).", test.recommendation)];
    let mut firmer = Vec::new();
    let detectable = minimum_detectable_effect(
        comparison.standard_error,
        comparison.degrees_of_freedom,
        report.alpha,
        POWER,
    );
    if test.significant {
        meaning.push(format!(
            "In standard deviations the difference is {} (Cohen's d: {}).",
            number(test.effect_size.value),
            test.effect_interpretation.to_lowercase(),
        ));
    } else {
        meaning.push(format!(
            "That is no evidence that the arms are equal: the interval still allows differences from {} to {}.",
            number(comparison.interval.low),
            number(comparison.interval.high),
        ));
        if let Ok(detectable) = detectable {
            firmer.push(detectable_sentence(report, detectable, comparison.difference));
        }
    }
    firmer.push(
        "The p-value holds if the size was fixed before the start and this is the only look; to look along the way, use `--method sequential`.".to_owned(),
    );
    Conclusion { meaning, firmer }
}

/// What this size can show, and how many values the difference that was seen would take.
fn detectable_sentence(report: &AbReport, detectable: f64, difference: f64) -> String {
    let count = report.control.count + report.treatment.count;
    let mut sentence = format!(
        "With these {count} values a true difference of {} is found 8 times in 10.",
        number(detectable)
    );
    let needed = (detectable / difference).powi(2) * count as f64;
    if needed.is_finite() && needed < 1e9 {
        sentence.push_str(&format!(
            " A true difference as small as the one seen, {}, would take about {} values in all.",
            number(difference),
            rounded(needed),
        ));
    }
    sentence
}

/// A count with two digits that count.
fn rounded(count: f64) -> u64 {
    let unit = 10_f64.powf(count.log10().floor() - 1.0).max(1.0);
    ((count / unit).ceil() * unit) as u64
}

fn by_bayes(report: &AbReport, bayesian: &BayesianReport, options: &AbOptions) -> Conclusion {
    let test = &bayesian.test;
    let mut meaning = vec![
        format!(
            "{}: the treatment is better with probability {}; the difference lies within {} with probability {}.",
            test.recommendation,
            probability(test.probability_of_improvement),
            interval(&test.credible_interval),
            confidence(report.alpha),
        ),
        format!(
            "Choosing the treatment is expected to lose {}, choosing the control {}.",
            small(test.risk_of_choosing_treatment),
            small(test.risk_of_choosing_control),
        ),
    ];
    let mut firmer = Vec::new();
    if let Some(prior_share) = bayesian.prior_share_of_spread.filter(|share| *share > PRIOR_SHARE) {
        let advice = if options.prior == Some(AbPrior::Reference) {
            String::new()
        } else {
            " Its units do not fit these values: use `--prior reference`.".to_owned()
        };
        meaning.insert(0, format!(
            "Do not rely on these probabilities: {} of the spread of an arm comes from the prior and not from the values.{advice}",
            share(prior_share),
        ));
    }
    if options.prior.is_some() && bayesian.prior_share_of_spread.is_none() {
        firmer.push(
            "The values are yes and no, so that `--prior`, which is about means, was not used: every rate was equally likely at first.".to_owned(),
        );
    }
    if !test.significant {
        firmer.push("More values narrow the interval: four times as many halve it.".to_owned());
    }
    firmer.push(format!(
        "Significant means here that the probability is above {} or below {}. Stopping as soon as it is raises false alarms as it does for any test of a fixed size; stopping when an expected loss is small enough is a decision about cost, not a claim of significance.",
        share(1.0 - report.alpha / 2.0),
        share(report.alpha / 2.0),
    ));
    Conclusion { meaning, firmer }
}

fn by_looks(
    report: &AbReport,
    sequential: &SequentialReport,
    data: &Data,
    options: &AbOptions,
) -> Conclusion {
    let (last, count) = match (sequential.looks.last(), sequential.planned.last()) {
        (Some(last), _) => (last.look.interval, sequential.looks.len()),
        (None, Some(last)) => (last.look.interval, sequential.planned.len()),
        (None, None) => (None, 0),
    };
    let now = last.map_or("no interval yet".to_owned(), |last| {
        format!("{} interval {}", confidence(report.alpha), interval(&last))
    });
    let decided = sequential.decided_at.clone().unwrap_or_default();
    let mut firmer = Vec::new();
    let meaning = match sequential.decision {
        Decision::TreatmentBetter | Decision::TreatmentWorse => vec![
            format!(
                "{}: decided at look {decided} (now {now}).",
                sequential.recommendation
            ),
            format!(
                "Looking more than once does not weaken this: over all looks together the chance of such a decision without a difference stays at about {} or below.",
                share(report.alpha),
            ),
        ],
        Decision::Continue => vec![
            format!("{} (after {} {now}).", sequential.recommendation, times(count)),
            "This is not evidence that the arms are equal.".to_owned(),
        ],
        Decision::NoDifferenceShown => vec![
            format!("{} at the last of {} ({now}).", sequential.recommendation, times(count)),
            "This is not evidence that the arms are equal; the experiment is over by its plan, and looking on would spend more than alpha.".to_owned(),
        ],
    };
    match sequential.kind {
        SequentialKind::ConfidenceSequence => {
            let tuned = sequential.confidence_sequence.map_or(0, |tuned| tuned.tuned_for);
            firmer.push(format!(
                "The sequence is narrowest around {tuned} values in all and valid at any number from {NEEDED} in each arm; if you plan for another number, give it as `--planned-units` before the first look."
            ));
        }
        SequentialKind::Msprt => firmer.push(format!(
            "The test is quickest for differences of about {} standard deviations; `--tau` must be chosen before the first look.",
            number(options.tau.unwrap_or(TAU))
        )),
        SequentialKind::OBrienFleming | SequentialKind::Pocock => {
            if data.looks.is_some() && uneven(sequential, options.planned_units) {
                firmer.push(
                    "The looks are not at equal steps of the data, which these bounds assume: use `--sequential spending` with `--planned-units`.".to_owned(),
                );
            }
            firmer.push(
                "The number of looks, `--planned-looks`, must have been planned before the first.".to_owned(),
            );
        }
        SequentialKind::Spending => firmer.push(
            "The times of the looks may be chosen freely, but not by what was seen before.".to_owned(),
        ),
    }
    if matches!(sequential.decision, Decision::TreatmentBetter | Decision::TreatmentWorse) {
        firmer.push(
            "The difference at the moment of a decision tends to be larger than the true one: quote the interval, and let the experiment run on if its size matters.".to_owned(),
        );
    }
    if matches!(sequential.decision, Decision::Continue | Decision::NoDifferenceShown)
        && let Some(last) = last
    {
        firmer.push(format!(
            "The interval is {} wide; four times as many values about halve it.",
            number(last.high - last.low)
        ));
    }
    Conclusion { meaning, firmer }
}

fn times(looks: usize) -> String {
    if looks == 1 { "1 look".to_owned() } else { format!("{looks} looks") }
}

/// Looks that are off their equal steps by more than a quarter: of the planned units where they are known, or else of each other.
fn uneven(sequential: &SequentialReport, units: Option<u64>) -> bool {
    let mut before = 0;
    let mut steps = Vec::new();
    for look in &sequential.planned {
        let count = look.look.control_count + look.look.treatment_count;
        steps.push((count - before) as f64);
        before = count;
    }
    if let (Some(units), Some(design)) = (units, &sequential.design) {
        steps.push(units as f64 / design.critical.len() as f64);
    }
    let (least, most) = steps
        .iter()
        .fold((f64::INFINITY, 0.0_f64), |(least, most), step| (least.min(*step), most.max(*step)));
    most > 1.25 * least
}
