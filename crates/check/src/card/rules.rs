//! The rules by which a section is good, to be watched, or poor: all in one place.
//!
//! | what | good | poor |
//! |---|---|---|
//! | alpha of scores | at least 0.8, interval above 0.667 | below 0.667, interval below 0.8 |
//! | kappa of preferences | at least 0.75, interval above 0.4 | below 0.4, interval below 0.75 |
//! | effect on the score (0 to 1) | interval contains 0 and stays within ±0.05 | interval excludes 0, effect beyond ±0.05 |
//! | share of cases | at most 5%, interval below 20% | above 10%, interval above 5% |
//! | deviation of repeated scores (0 to 1) | at most 0.05, interval below 0.2 | above 0.1, interval above 0.05 |
//!
//! Everything else is to be watched: small effects that are there, and intervals too wide to tell. Where an effect has no interval
//! because nothing changed in ten cases or more, it is good: by the rule of three (Hanley and Lippman-Hand 1983) at most three in `n`
//! would change. The cuts of alpha are Krippendorff's (2004), those of kappa Fleiss's (1981). The sizes of effects and shares are
//! this project's: a twentieth of the scale is a fifth of a step from 1 to 5, the smallest difference that is often acted on; with
//! a deviation of a tenth, two scores of the same answer can be more than a step apart.

use fullbench_analysis::Measured;
use serde::Serialize;

use crate::Estimate;

/// Krippendorff (2004): what can be relied on, and what allows tentative conclusions.
const ALPHA: (f64, f64) = (0.8, 0.667);
/// Fleiss (1981): excellent, and no longer poor.
const KAPPA: (f64, f64) = (0.75, 0.4);
/// An effect beyond this matters.
pub(super) const EFFECT: f64 = 0.05;
/// A share up to this is small.
pub(super) const SMALL_SHARE: f64 = 0.05;
/// A share beyond this is large.
pub(super) const LARGE_SHARE: f64 = 0.10;
/// An interval of a small share that reaches this is too wide to tell.
const WIDE_SHARE: f64 = 0.20;
/// Nothing changing in fewer cases than this says little.
const ENOUGH: usize = 10;

/// How a section turned out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It was not measured; the finding says why.
    NotMeasured,
    /// The evidence is that there is no problem of a size that matters.
    Good,
    /// There is a small problem, or too little evidence to tell.
    Watch,
    /// The evidence is that there is a problem.
    Poor,
}

/// Which directions of an effect are a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// Both.
    Either,
    /// Only upwards: a fall may be deserved.
    Rise,
}

pub(super) fn alpha(estimate: &Measured<Estimate>) -> State {
    coefficient(estimate, ALPHA)
}

pub(super) fn kappa(estimate: &Measured<Estimate>) -> State {
    coefficient(estimate, KAPPA)
}

fn coefficient(estimate: &Measured<Estimate>, (high, low): (f64, f64)) -> State {
    let Some(estimate) = estimate.value() else { return State::NotMeasured };
    match estimate.bounds() {
        Some(bounds) if estimate.value >= high && bounds.low >= low => State::Good,
        Some(bounds) if estimate.value < low && bounds.high < high => State::Poor,
        None if estimate.value >= 1.0 - 1e-9 && estimate.n >= ENOUGH => State::Good,
        _ => State::Watch,
    }
}

/// A mean change of the score.
pub(super) fn effect(estimate: &Measured<Estimate>, fault: Fault) -> State {
    let Some(estimate) = estimate.value() else { return State::NotMeasured };
    let Some(bounds) = estimate.bounds() else {
        // All observations are equal.
        let counts =
            estimate.value > EFFECT || (fault == Fault::Either && estimate.value < -EFFECT);
        return match (estimate.n >= ENOUGH, counts) {
            (true, true) => State::Poor,
            (true, false) => State::Good,
            (false, _) => State::Watch,
        };
    };
    let rises = bounds.low > 0.0;
    let falls = bounds.high < 0.0 && fault == Fault::Either;
    if (rises && estimate.value > EFFECT) || (falls && estimate.value < -EFFECT) {
        return State::Poor;
    }
    let too_wide = bounds.high > EFFECT || (fault == Fault::Either && bounds.low < -EFFECT);
    if rises || falls || too_wide { State::Watch } else { State::Good }
}

/// A share of cases that went wrong.
pub(super) fn share(estimate: &Measured<Estimate>) -> State {
    let Some(estimate) = estimate.value() else { return State::NotMeasured };
    match estimate.bounds() {
        Some(bounds) if estimate.value > LARGE_SHARE && bounds.low > SMALL_SHARE => State::Poor,
        Some(bounds) if estimate.value <= SMALL_SHARE && bounds.high < WIDE_SHARE => State::Good,
        _ => State::Watch,
    }
}

/// The standard deviation of repeated scores of the same answer.
pub(super) fn deviation(estimate: &Measured<Estimate>) -> State {
    match estimate.value() {
        Some(found) if found.value == 0.0 && found.n >= ENOUGH => State::Good,
        _ => share(estimate),
    }
}

#[cfg(test)]
mod tests {
    use fullbench_stats::{Interval, Undefined};

    use super::*;

    fn estimate(value: f64, low: f64, high: f64) -> Measured<Estimate> {
        Measured::Value(Estimate::new(30, value, Ok(Interval { low, high })))
    }

    fn without_interval(n: usize, value: f64) -> Measured<Estimate> {
        Measured::Value(Estimate::new(n, value, Err(Undefined::NoVariation { what: "values" })))
    }

    #[test]
    fn an_effect_is_judged_by_evidence_and_size() {
        let either = |estimate| effect(&estimate, Fault::Either);
        assert_eq!(either(estimate(0.2, 0.1, 0.3)), State::Poor);
        assert_eq!(either(estimate(-0.2, -0.3, -0.1)), State::Poor);
        assert_eq!(either(estimate(0.02, 0.01, 0.03)), State::Watch);
        assert_eq!(either(estimate(0.1, -0.1, 0.3)), State::Watch);
        assert_eq!(either(estimate(0.01, -0.02, 0.04)), State::Good);
        assert_eq!(either(without_interval(30, 0.0)), State::Good);
        assert_eq!(either(without_interval(30, 0.2)), State::Poor);
        assert_eq!(either(without_interval(3, 0.0)), State::Watch);
        assert_eq!(effect(&estimate(-0.2, -0.3, -0.1), Fault::Rise), State::Good);
        assert_eq!(effect(&Measured::undefined("x"), Fault::Rise), State::NotMeasured);
    }

    #[test]
    fn shares_and_coefficients_are_judged_by_their_intervals() {
        assert_eq!(share(&estimate(0.0, 0.0, 0.11)), State::Good);
        assert_eq!(share(&estimate(0.0, 0.0, 0.4)), State::Watch);
        assert_eq!(share(&estimate(0.3, 0.17, 0.48)), State::Poor);
        assert_eq!(deviation(&without_interval(30, 0.0)), State::Good);
        assert_eq!(deviation(&estimate(0.12, 0.1, 0.15)), State::Poor);
        assert_eq!(alpha(&estimate(0.9, 0.8, 0.95)), State::Good);
        assert_eq!(alpha(&estimate(0.9, 0.5, 0.95)), State::Watch);
        assert_eq!(alpha(&estimate(0.3, 0.1, 0.5)), State::Poor);
        assert_eq!(alpha(&without_interval(30, 1.0)), State::Good);
        assert_eq!(kappa(&estimate(0.6, 0.45, 0.75)), State::Watch);
    }
}
